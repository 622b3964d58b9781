"""The composition root: settings in, running system out."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from tidemill.core.policy import checked
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Vertical
from tidemill.engine.chores import RHYTHMS, Hands, periodic_work, with_proof
from tidemill.engine.clock import RealClock, real_dice
from tidemill.engine.drain import Drain
from tidemill.engine.narrator import Narrator
from tidemill.engine.ports import Waker
from tidemill.engine.supervisor import Supervisor, Worker
from tidemill.engine.ticks import Ticks
from tidemill.fetching.http import http_fetcher
from tidemill.operations.adapters import AdapterDesk
from tidemill.operations.breakers import BreakerDesk
from tidemill.operations.dead_letters import LetterDesk
from tidemill.operations.doctor import Doctor
from tidemill.operations.export import Exporter
from tidemill.operations.importing import Importer
from tidemill.operations.plans import Known
from tidemill.operations.runs import RunDesk
from tidemill.operations.sources import SourceDesk
from tidemill.operations.targets import TargetDesk
from tidemill.operations.why import WhyDesk
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import Announce, Happening
from tidemill.pipeline.ports import Clock, Dice, Fetcher, Transport
from tidemill.pipeline.tools import Tools
from tidemill.settings import Settings
from tidemill.store.adapters import AdapterShelf
from tidemill.store.agenda import Agendas
from tidemill.store.audit import AuditLog
from tidemill.store.bodies import Bodies, bodies_for
from tidemill.store.breakers import Breakers
from tidemill.store.compaction import compact
from tidemill.store.crowding import Crowding
from tidemill.store.database import Database, open_database
from tidemill.store.events import EventShelf
from tidemill.store.health import Pulse
from tidemill.store.ids import Ids
from tidemill.store.ledger import Ledger
from tidemill.store.retention import DEFAULT_RULES, prune
from tidemill.store.retries import Letters
from tidemill.store.sources import SourceShelf
from tidemill.store.stale_jobs import StaleJobs
from tidemill.store.sweeps import Sweeps
from tidemill.store.targets import TargetShelf
from tidemill.store.ticks import Slots
from tidemill.store.views import Views
from tidemill.store.workers import Workers
from tidemill.verticals.events import VERTICAL as EVENTS

LANES = (FetcherKind.HTTP.value,)
VERTICALS: dict[str, Vertical] = {EVENTS.name: EVENTS}
COMPACTED_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Store:
    """Everything that is kept, each concern by its own name."""

    database: Database
    ids: Ids
    bodies: Bodies
    ledger: Ledger
    agenda: Agendas
    workers: Workers
    slots: Slots
    letters: Letters
    breakers: Breakers
    sweeps: Sweeps
    crowding: Crowding
    sources: SourceShelf
    targets: TargetShelf
    audit: AuditLog
    views: Views

    async def close(self) -> None:
        """Let go of files and connections."""
        await self.bodies.close()
        await self.database.close()


@dataclass(frozen=True, slots=True)
class Desks:
    """What a person can do, once, for the command line, the API and the portal alike."""

    importer: Importer
    sources: SourceDesk
    targets: TargetDesk
    runs: RunDesk
    letters: LetterDesk
    breakers: BreakerDesk
    adapters: AdapterDesk
    why: WhyDesk
    doctor: Doctor
    exporter: Exporter


@dataclass(frozen=True, slots=True)
class System:
    """Everything, wired: what the command line, the web app and the lab work with."""

    settings: Settings
    clock: Clock
    announce: "Listeners"
    verticals: Mapping[str, Vertical]
    store: Store
    fetchers: Mapping[FetcherKind, Fetcher]
    tools: Tools
    dispatcher: Dispatcher
    worker: Worker
    ticks: Ticks
    supervisor: Supervisor
    make_drain: Callable[[], Drain]
    desks: Desks

    async def close(self) -> None:
        """Let go of sockets, files and connections."""
        for fetcher in self.fetchers.values():
            await fetcher.close()
        await self.store.close()


class Listeners:
    """Hands every happening to each listener, in order."""

    def __init__(self, *listeners: Announce) -> None:
        """Start with these."""
        self._listeners = list(listeners)

    def add(self, listener: Announce) -> None:
        """One more to be told."""
        self._listeners.append(listener)

    def __call__(self, happening: Happening) -> None:
        """Tell everyone."""
        for listener in self._listeners:
            listener(happening)


def build(
    settings: Settings,
    *,
    announce: Listeners | None = None,
    clock: Clock | None = None,
    dice: Dice | None = None,
    database: Database | None = None,
    transport: Transport | None = None,
) -> System:
    """Wire a system; only the lab passes a clock, dice, a database or a transport of its own."""
    clock, dice, announce = clock or RealClock(), dice or real_dice(), announce or Listeners()
    store = build_store(settings, database or open_database(settings.database.get_secret_value()))
    fetchers = build_fetchers(settings, clock, transport)
    worker = Worker(store.workers, clock)
    tools = Tools(clock, store.ids, store.breakers, fetchers, VERTICALS, worker.holds)
    make_drain = drain_maker(settings, store, tools, dice, Narrator(announce, clock), worker)
    dispatcher = Dispatcher(store.agenda, VERTICALS, clock, dice, announce, limits=settings.queue_limits)
    ticks = Ticks([], store.slots, clock, announce, worker.key)
    look_again = timedelta(seconds=settings.look_again_seconds)
    supervisor = Supervisor(worker, ticks, make_drain, LANES, clock, announce, look_again=look_again)
    hands = build_hands(settings, store, clock, announce, dispatcher, supervisor)
    rhythms = settings.rhythms(RHYTHMS)
    ticks.all.update({tick.name: tick for tick in periodic_work(hands, rhythms)})
    with_proof(ticks, hands, rhythms["proof"])
    return System(
        settings=settings,
        clock=clock,
        announce=announce,
        verticals=VERTICALS,
        store=store,
        fetchers=fetchers,
        tools=tools,
        dispatcher=dispatcher,
        worker=worker,
        ticks=ticks,
        supervisor=supervisor,
        make_drain=make_drain,
        desks=build_desks(settings, store, clock, dispatcher, ticks, supervisor.wake),
    )


def build_store(settings: Settings, database: Database) -> Store:
    """The database and every concern on it; policies that contradict themselves are refused here."""
    for vertical in VERTICALS.values():
        checked(vertical.policy)
    ids = Ids(database)
    bodies = bodies_for(database, settings.pages_folder)
    lease, limit = timedelta(seconds=settings.lease_seconds), timedelta(minutes=settings.job_limit_minutes)
    breaker_policies = {name: vertical.policy.breaker for name, vertical in VERTICALS.items()}
    return Store(
        database=database,
        ids=ids,
        bodies=bodies,
        ledger=Ledger(database, ids, bodies, {EVENTS.name: EventShelf(ids)}, VERTICALS),
        agenda=Agendas(database, ids),
        workers=Workers(database, ids, lease=lease, job_limit=limit),
        slots=Slots(database),
        letters=Letters(database, ids),
        breakers=Breakers(database, breaker_policies),
        sweeps=Sweeps(database),
        crowding=Crowding(database, {name: vertical.policy for name, vertical in VERTICALS.items()}),
        sources=SourceShelf(database, ids),
        targets=TargetShelf(database, ids),
        audit=AuditLog(database, ids),
        views=Views(database),
    )


def build_fetchers(settings: Settings, clock: Clock, transport: Transport | None) -> dict[FetcherKind, Fetcher]:
    """Every way to get a page, by kind."""
    http = http_fetcher(
        clock,
        transport=transport,
        user_agent=settings.user_agent,
        allow=settings.allow_networks,
        resolve=settings.host_addresses,
        max_connections=settings.max_connections,
    )
    return {FetcherKind.HTTP: http}


def drain_maker(
    settings: Settings, store: Store, tools: Tools, dice: Dice, narrator: Narrator, worker: Worker
) -> Callable[[], Drain]:
    """How a fresh drain is made."""

    def make() -> Drain:
        return Drain(
            store.ledger, tools, dice, narrator, worker_id=worker.key, capacity=settings.jobs_in_hand
        )  # fmt: skip

    return make


def build_hands(
    settings: Settings,
    store: Store,
    clock: Clock,
    announce: Announce,
    dispatcher: Dispatcher,
    waker: Waker,
) -> Hands:
    """What the periodic work does its work with."""
    return Hands(
        clock=clock,
        announce=announce,
        dispatcher=dispatcher,
        workers=store.workers,
        runs=store.ledger.runs,
        letters=store.letters,
        sweeps=store.sweeps,
        compact=compactor(store),
        prune=pruner(settings, store),
        debts=store.crowding.debts,
        waker=waker,
        stale_after=timedelta(hours=settings.stale_after_hours),
    )


def build_desks(
    settings: Settings,
    store: Store,
    clock: Clock,
    dispatcher: Dispatcher,
    ticks: Ticks,
    wake: Callable[[int], None],
) -> Desks:
    """What a person can do."""
    known = Known({name: tuple(vertical.adapters) for name, vertical in VERTICALS.items()})
    sources = SourceDesk(store.sources, clock, known)
    targets = TargetDesk(store.sources, store.targets, clock, known)
    stale = StaleJobs(store.database, store.ids)
    adapters = AdapterShelf(store.database, store.ids)
    return Desks(
        importer=Importer(store.sources, store.targets, clock, known),
        sources=sources,
        targets=targets,
        runs=RunDesk(sources, targets, store.agenda, dispatcher, store.views, stale, store.audit, clock, wake=wake),
        letters=LetterDesk(store.letters, store.views, store.audit, clock, wake),
        breakers=BreakerDesk(sources, store.breakers, store.views, store.audit, clock, wake),
        adapters=AdapterDesk(VERTICALS, adapters, store.views, clock),
        why=WhyDesk(store.views, sources, targets, VERTICALS, clock),
        doctor=Doctor(
            Pulse(store.database),
            store.views,
            ticks.overdue,
            folders_of(settings, store.database),
            settings.max_pending,
            clock,
            store.crowding.debts,
        ),
        exporter=Exporter(store.views),
    )


def folders_of(settings: Settings, database: Database) -> list[Path]:
    """The folders that are written to: the database's, and that of the pages."""
    file = database.engine.url.database if database.is_sqlite else None
    beside = [Path(file).absolute().parent] if file and file != ":memory:" else []
    own = [settings.pages_folder.absolute()] if settings.pages_folder else []
    return list(dict.fromkeys(beside + own))


def compactor(store: Store) -> Callable[[datetime], Awaitable[str]]:
    """The chore that packs old pages."""

    async def work(now: datetime) -> str:
        done = await compact(store.database, store.bodies, now, COMPACTED_AT_ONCE)
        return f"{done.pages} pages, {done.before_bytes} to {done.after_bytes} bytes"

    return work


def pruner(settings: Settings, store: Store) -> Callable[[datetime], Awaitable[str]]:
    """The chore that forgets what retention lets go."""
    rules = {**DEFAULT_RULES, **{table: timedelta(days=days) for table, days in settings.retention_days.items()}}

    async def work(now: datetime) -> str:
        gone = await prune(store.database, store.bodies, rules, now)
        return ", ".join(f"{count} {table}" for table, count in gone.items() if count) or "nothing to prune"

    return work
