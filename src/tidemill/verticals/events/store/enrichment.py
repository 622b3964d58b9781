"""Events with what enrichment knows put in: when they are shelved, and again when an answer comes later."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.services.degradation import Service
from tidemill.core.services.enrichment import Answers, EnrichmentRequest, EnrichmentRules, RequestKind
from tidemill.core.source import Source
from tidemill.core.views.past import field_changes
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import engine_state, enrichment_wants, record_history, sources
from tidemill.store.schema.rows import source_of
from tidemill.store.services.answers import known_answers
from tidemill.store.services.enrichment_requests import note_wants
from tidemill.store.upkeep.audit import take_keys
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.tables import events

AT_ONCE = 500
"""Records that one transaction repairs."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Event).decode

Bare = tuple[int, Job, Event]
"""An event's key, the job that brought it, and the event as rules made it."""

STATE = "enrichment_backlog"


class Earlier(msgspec.Struct, frozen=True):
    """Who brings an event that was shelved before anybody was set up to be asked about it: no run of today."""

    source_id: int
    run_id: int = 0
    vertical: str = "events"


class Backlog(msgspec.Struct, frozen=True):
    """How far the events have been looked through for those who are asked now; `after` is None when to the end."""

    asks: tuple[str, ...] = ()
    after: int | None = 0


class EventEnrichment:
    """Puts answers into events. `asks` are the services that this installation means to use, working or not."""

    def __init__(self, database: Database, ids: Ids, enriching: EnrichmentRules, asks: Collection[Service]) -> None:
        """`enriching` is the events' own side."""
        self._database = database
        self._ids = ids
        self._enriching = enriching
        self._asks = frozenset(asks)

    async def enriched(self, connection: AsyncConnection, bare: Sequence[Bare], now: datetime) -> list[Event]:
        """The events with what is known put in, inside the transaction that repositories them; the rest is noted."""
        owners = await _sources(connection, {job.source_id for _, job, _ in bare})
        wanted = [self._wants(event, owners.get(job.source_id)) for _, job, event in bare]
        answers = await known_answers(connection, {(want.kind, want.key) for each in wanted for want in each})
        noted = [
            (job, key, want)
            for (key, job, _), each in zip(bare, wanted, strict=True)
            for want in each
            if (want.kind, want.key) not in answers
        ]
        await note_wants(connection, self._database, noted, now)
        return [self._dressed(event, answers, owners.get(job.source_id)) for _, job, event in bare]

    async def request_missing(self, now: datetime) -> int:
        """Look through events that were shelved before these services were set up; answers how many lack something.

        A service that comes later is so asked about everything that is still to come, a few hundred at a time.
        """
        backlog = await self._backlog()
        if backlog.after is None:
            return 0
        async with self._database.write() as connection:
            rows = (await connection.execute(_STILL_TO_COME, {"b_after": backlog.after, "b_now": now})).mappings().all()
            owners = await _sources(connection, {row["source_id"] for row in rows})
            noted = [
                (Earlier(row["source_id"]), row["id"], want)
                for row in rows
                for want in self._wants(_decode(row["record"]), owners.get(row["source_id"]))
            ]
            await note_wants(connection, self._database, noted, now)
            reached = rows[-1]["id"] if len(rows) == AT_ONCE else None
            await self._remember(connection, Backlog(backlog.asks, reached), now)
        return len(noted)

    async def _backlog(self) -> Backlog:
        """Where to go on; from the beginning when others are asked than were."""
        asks = tuple(sorted(self._asks))
        async with self._database.glance() as connection:
            kept = (await connection.execute(_BACKLOG)).scalar()
        known = Backlog() if kept is None else msgspec.convert(kept, Backlog)
        return known if known.asks == asks else Backlog(asks)

    async def _remember(self, connection: AsyncConnection, backlog: Backlog, now: datetime) -> None:
        statement = self._database.insert(engine_state)
        fresh = {name: statement.excluded[name] for name in ("value", "updated_at")}
        row = {"name": STATE, "value": msgspec.to_builtins(backlog), "updated_at": now}
        await connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=fresh), [row])

    async def repair(self, kind: RequestKind, keys: Sequence[str], now: datetime) -> int:
        """Put new answers into the events that waited for them; answers how many changed."""
        repaired = 0
        while some := await self._waiting(kind, keys):
            repaired += await self._repair(kind, keys, some, now)
        return repaired

    async def _waiting(self, kind: RequestKind, keys: Sequence[str]) -> list[int]:
        async with self._database.glance() as connection:
            found = await connection.execute(_WAITING, {"b_kind": kind, "b_keys": list(keys)})
            return list(found.scalars())

    async def _repair(self, kind: RequestKind, asked: Sequence[str], subjects: Sequence[int], now: datetime) -> int:
        marks = await take_keys(self._ids, len(subjects))
        async with self._database.write() as connection:
            rows = (await connection.execute(_EVENTS, {"b_ids": list(subjects)})).mappings().all()
            owners = await _sources(connection, {row["source_id"] for row in rows})
            before = {row["id"]: _decode(row["record"]) for row in rows}
            wanted = {(want.kind, want.key) for row in rows
                      for want in self._wants(before[row["id"]], owners.get(row["source_id"]))}  # fmt: skip
            answers = await known_answers(connection, wanted)
            after = {row["id"]: self._dressed(before[row["id"]], answers, owners.get(row["source_id"])) for row in rows}
            changed = [key for key in before if after[key] != before[key]]
            if changed:
                await connection.execute(_PUT_IN, [_columns(key, after[key], now) for key in changed])
                history = [_history(mark, key, before[key], after[key], now)
                           for mark, key in zip(marks, changed, strict=False)]  # fmt: skip
                await connection.execute(record_history.insert(), history)
            await connection.execute(_SERVED, {"b_kind": kind, "b_keys": list(asked), "b_ids": list(subjects)})
        return len(changed)

    def _wants(self, event: Event, source: Source | None) -> Sequence[EnrichmentRequest]:
        if source is None:
            return ()
        return [want for want in self._enriching.requests_for(event, source) if want.kind.service in self._asks]

    def _dressed(self, event: Event, answers: Answers, source: Source | None) -> Event:
        if source is None or not answers:
            return event
        dressed: Event = self._enriching.enriched(event, answers, source)
        return dressed


async def _sources(connection: AsyncConnection, keys: Collection[int]) -> dict[int, Source]:
    rows = (await connection.execute(_OWNERS, {"b_ids": sorted(keys)})).mappings()
    return {row["id"]: source_of(row) for row in rows}


def _columns(key: int, event: Event, now: datetime) -> dict[str, Any]:
    return {
        "b_id": key,
        "b_category": event.category,
        "b_latitude": event.latitude,
        "b_longitude": event.longitude,
        "b_record": _encode(event),
        "b_now": now,
    }


def _history(mark: int, key: int, before: Event, after: Event, now: datetime) -> dict[str, Any]:
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    changes = field_changes(old, new)
    return {"id": mark, "vertical": "events", "record_id": key, "run_id": 0, "page_id": None, "kind": "enriched",
            "changes": changes, "created_at": now}  # fmt: skip


_IDS: Any = bindparam("b_ids", expanding=True)
_OWNERS = select(sources).where(sources.c.id.in_(_IDS))
_EVENTS = select(events.c.id, events.c.source_id, events.c.record).where(events.c.id.in_(_IDS)).with_for_update()
_BACKLOG = select(engine_state.c.value).where(engine_state.c.name == STATE)
_STILL_TO_COME = (
    select(events.c.id, events.c.source_id, events.c.record)
    .where(events.c.id > bindparam("b_after"), events.c.gone_at.is_(None), events.c.event_date > bindparam("b_now"))
    .order_by(events.c.id)
    .limit(AT_ONCE)
)
_ANSWERED = and_(
    enrichment_wants.c.kind == bindparam("b_kind"), enrichment_wants.c.key.in_(bindparam("b_keys", expanding=True))
)
_WAITING = (
    select(enrichment_wants.c.subject_id)
    .where(_ANSWERED)
    .distinct()
    .order_by(enrichment_wants.c.subject_id)
    .limit(AT_ONCE)
)  # fmt: skip
_SERVED = enrichment_wants.delete().where(_ANSWERED, enrichment_wants.c.subject_id.in_(_IDS))
_PUT_IN = (
    update(events)
    .where(events.c.id == bindparam("b_id"))
    .values(
        category=bindparam("b_category"),
        latitude=bindparam("b_latitude"),
        longitude=bindparam("b_longitude"),
        record=bindparam("b_record"),
        updated_at=bindparam("b_now"),
    )
)
