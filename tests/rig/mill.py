"""A ledger with sources and targets in it, and checkpoints made by hand: what the conformance tests turn."""

from datetime import timedelta

import msgspec
from sqlalchemy import select, text

from rig.clock import NOON, seeded_dice
from tidemill.core.admission import QueueLimits
from tidemill.core.job import transition_for
from tidemill.core.outcome import Advance, Stage
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.record import Found, RawRecord, Strategy
from tidemill.core.run import Trigger
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.core.verdict import Accepted, Dropped
from tidemill.pipeline.checkpoints import AcceptedRecords, Checkpoint, Fetched, Judged, Parsed, Rejected, Unchanged
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import Happening
from tidemill.pipeline.kept_readings import keep
from tidemill.pipeline.ports import FetchResult, FetchStatus
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.breakers import Breakers
from tidemill.store.ledger.ledger import Ledger
from tidemill.store.ledger.retries import DeadLetterRetries
from tidemill.store.ledger.scheduling import DispatchRepository
from tidemill.store.ledger.sweeps import Sweeps
from tidemill.store.ledger.workers import Workers
from tidemill.store.pages.bodies import bodies_for
from tidemill.store.schema import targets
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository
from tidemill.verticals.events.definition import EVENTS
from tidemill.verticals.events.record import Category, Event, Method, Precision, StructuredDate, StructuredLocation
from tidemill.verticals.events.store.repository import EventRepository

VERTICALS = {"events": EVENTS}
FREE = Pace(timedelta(0), 1, 100)
LEASE = timedelta(seconds=60)


class Mill:
    """The store's parts on one database, at a clock that the test sets."""

    def __init__(self, database, clock):
        self.database = database
        self.clock = clock
        self.ids = Ids(database)
        self.bodies = bodies_for(database)
        self.ledger = Ledger(database, self.ids, self.bodies, {"events": EventRepository(self.ids)}, VERTICALS)
        self.agenda = DispatchRepository(database, self.ids)
        self.workers = Workers(database, self.ids, lease=LEASE, job_limit=timedelta(minutes=30))
        self.letters = DeadLetterRetries(database, self.ids)
        self.sweeps = Sweeps(database)
        self.breakers = Breakers(database, {"events": EVENTS.policy.breaker})
        self.announced: list[Happening] = []
        limits = QueueLimits(per_adapter=1_000, total=10_000)
        self.dispatcher = Dispatcher(
            self.agenda, VERTICALS, clock, seeded_dice(), self.announced.append, limits=limits
        )  # fmt: skip

    async def source(self, name="arnhem", *, pages=1, pace=FREE, host=None, **fields):
        """A source with so many targets; answers its key."""
        host = host or f"{name}.test"
        wanted = Source(
            id=0, name=name, vertical="events", base_url=f"https://{host}", adapter_id="events.generic", pace=pace,
            **fields,
        )  # fmt: skip
        every = [field for field in Source.__struct_fields__ if field != "id"]
        done = await SourceRepository(self.database, self.ids).upsert([(wanted, every)], self.clock.now())
        key = done[name][0]
        repository = TargetRepository(self.database, self.ids)
        urls = [f"https://{host}/agenda/{number}" for number in range(pages)]
        rows = [
            Target(id=0, source_id=key, url=url, canonical_url=url, host=host, adapter_id="events.generic")
            for url in urls
        ]
        await repository.upsert([(row, ["url", "host", "adapter_id"]) for row in rows], self.clock.now())
        return key

    async def enqueue(self, source_id, trigger=Trigger.MANUAL):
        """A run over all targets of a source."""
        return await self.dispatcher.enqueue(await self.agenda.of_source(source_id), trigger)

    async def worker(self, name="worker"):
        """A signed-in worker's key."""
        return await self.workers.register(name, 1, self.clock.now())

    async def claim(self, worker, limit=100):
        """Claim and make keys ready."""
        await self.ids.reserve(1_000)
        return await self.ledger.claim("http", limit, worker, self.clock.now())

    async def commit(self, *pairs):
        """Commit stage answers, each a pair of a claimed job and an outcome."""
        batch = [self.checkpoint(claimed, outcome) for claimed, outcome in pairs]
        return batch, await self.ledger.commit(batch, self.clock.now())

    def checkpoint(self, claimed, outcome):
        """The checkpoint of a stage's answer, with dice that always fall on 1."""
        step = transition_for(claimed.job, outcome, EVENTS.policy, self.clock.now(), 1.0)
        return Checkpoint(claimed, outcome, step)

    async def carry(self, claimed, titles=("Kermis", "Markt"), body=b"<p>agenda</p>"):
        """Carry a job all the way; answers the last commit."""
        outcome = self.fetched(claimed, body)
        await self.commit((claimed, outcome))
        claimed = at_stage(claimed, Stage.PARSE, outcome.produced.page.id)
        parsed = self.parsed(outcome.produced.page, titles)
        await self.commit((claimed, parsed))
        claimed = at_stage(claimed, Stage.NORMALIZE, claimed.job.page_id)
        judged = self.judged(outcome.produced.page, titles, claimed.source)
        await self.commit((claimed, judged))
        claimed = at_stage(claimed, Stage.PERSIST, claimed.job.page_id)
        return (await self.commit((claimed, harvest(judged.produced))))[1]

    def page(self, body=b"<p>agenda</p>", url="https://arnhem.test/agenda/0"):
        """A page as a fetch would bring it."""
        return Page(
            id=self.ids.take(), url=url, final_url=url, status_code=200, body=body, charset="utf-8",
            content_type="text/html", digest=hash_of(body), fetched_at=self.clock.now(),
        )  # fmt: skip

    def fetched(self, claimed, body=b"<p>agenda</p>"):
        """A fetch that went well."""
        page = self.page(body, claimed.job.url)
        return Advance(Stage.PARSE, Fetched(page, result(page, self.clock.now())))

    def unchanged(self, claimed, body=b"<p>agenda</p>"):
        """A fetch that brought the same as last time."""
        page = self.page(body, claimed.job.url)
        return Advance(Stage.COMPLETED, Unchanged(page, result(page, self.clock.now())))

    def parsed(self, page, titles):
        """A reading of so many records."""
        raw = [raw_record(title) for title in titles]
        return Advance(Stage.NORMALIZE, Parsed(page, "events.generic", "1.0.0", keep(Found(records=raw))))

    def judged(self, page, titles, source, dropped=()):
        """Verdicts: the titles accepted, the others dropped."""
        accepted = [accept(title, event(title, source.id)) for title in titles]
        rejected = [Rejected(raw_record("?"), Dropped("NO_DATE", name)) for name in dropped]
        return Advance(Stage.PERSIST, Judged(page, "events.generic@1.0.0", accepted, rejected))

    async def rows(self, table, **equal):
        """Rows of a table as plain mappings, in key order."""
        query = select(table)
        for name, value in equal.items():
            query = query.where(table.c[name] == value)
        async with self.database.read() as connection:
            return list((await connection.execute(query.order_by(*table.primary_key.columns))).mappings())

    async def scalar(self, sql):
        """One figure."""
        async with self.database.read() as connection:
            return (await connection.execute(text(sql))).scalar()

    async def make_due(self, moment):
        """Let every target be due at a moment."""
        async with self.database.write() as connection:
            await connection.execute(targets.update().values(next_due_at=moment))


def raw_record(title):
    """A raw record that has nothing but a title."""
    return RawRecord(fields={"title": title}, strategy=Strategy.JSONLD, confidence=1, origin="json-ld/0")


def accept(identity, record):
    """An accepted record as the stage hands it on."""
    return Accepted(identity, record, msgspec.json.encode(record))


def harvest(judged):
    """Persist's answer to verdicts."""
    return Advance(Stage.COMPLETED, AcceptedRecords(judged, judged.accepted, 0))


def at_stage(claimed, stage, page_id):
    """The claim, its job moved on as a worker's memory would have it."""
    return msgspec.structs.replace(claimed, job=msgspec.structs.replace(claimed.job, stage=stage, page_id=page_id))


def hash_of(body):
    """Any change of the body changes it."""
    return int.from_bytes(body[-7:], "big")


def result(page, now):
    """How the page was got."""
    return FetchResult(
        status=FetchStatus.OK, url=page.url, final_url=page.url, status_code=200, wire_body=page.body,
        body=page.body, digest=page.digest, requested_at=now, requests=1,
    )  # fmt: skip


def event(title, source_id, starts=NOON + timedelta(days=30), venue="Korenmarkt"):
    """An event as the rules would accept it."""
    day = starts.date()
    return Event(
        title=title, description="", event_date=starts, event_time="20:00", ends_at=None, venue_name=venue,
        category=Category.COMMUNITY, image_url=None, detail_url=None, latitude=52.0, longitude=5.9,
        location_precision=Precision.CITY, source_id=source_id, source_name="arnhem", confidence=1.0,
        normalization_method=Method.RULES, fingerprint=f"{title}|{day}",
        structured_date=StructuredDate(
            start=day, end=day, start_time="20:00", end_time=None, all_day=False, time_zone="Europe/Amsterdam",
            source_text="",
        ),
        structured_location=StructuredLocation(name=venue),
    )  # fmt: skip
