"""Build what takes jobs: fetchers, readers, drains, the live lane, and the supervisor that keeps them turning."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from tidemill.bootstrap.cluster.beats import build_beat_watch
from tidemill.bootstrap.cluster.broker import WorkerWaker, build_wakeups, wakeups_heard
from tidemill.bootstrap.cluster.clocks import skew_measure
from tidemill.bootstrap.engine.foundation import Foundation
from tidemill.bootstrap.enrichment import build_enrichment_hints
from tidemill.bootstrap.fetchers import LANES, PAID_LANES, build_fetchers
from tidemill.bootstrap.fetching.browsers import build_browser
from tidemill.bootstrap.fetching.paid_fetchers import PaidFetchers, build_paid_fetchers
from tidemill.bootstrap.live.health import LiveHealthParts, build_live_health
from tidemill.bootstrap.live.lane import build_live_lane
from tidemill.bootstrap.live.shared_snapshots import SharedSnapshots, build_shared_snapshots
from tidemill.bootstrap.page_readers.pool import build_readers
from tidemill.core.source import FetcherKind
from tidemill.engine.announcer import CommitAnnouncer
from tidemill.engine.beat_watch import BeatWatch
from tidemill.engine.by_hand import DrainFactory, OneStageLedger
from tidemill.engine.clock import RealClock
from tidemill.engine.drain import Drain
from tidemill.engine.live.lane import LiveLane
from tidemill.engine.periodic import ChoreRunner
from tidemill.engine.ports import PageReaders
from tidemill.engine.supervisor import Supervisor, Worker
from tidemill.fetching.bulk_rate_limits import BulkRateLimits
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.live_ports import LIVE_LANE
from tidemill.pipeline.ports import Fetcher, HostRateLimits, Transport
from tidemill.pipeline.reader_functions.function import FunctionReaders, InlineReaders
from tidemill.settings import Settings
from tidemill.store.services.robots_answers import RobotsAnswers


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """What takes jobs in this process, and what wakes it."""

    fetchers: Mapping[FetcherKind, Fetcher]
    paid_fetchers: PaidFetchers
    tools: StageDependencies
    worker: Worker
    readers: PageReaders | None
    function_readers: FunctionReaders
    make_drain: DrainFactory
    dispatcher: Dispatcher
    ticks: ChoreRunner
    live_health: LiveHealthParts
    shared: SharedSnapshots | None
    live: LiveLane | None
    beat: BeatWatch | None
    supervisor: Supervisor
    waker: WorkerWaker


def build_workers(
    base: Foundation,
    transport: Transport | None = None,
    *,
    chores_after: timedelta = timedelta(0),
    has_chores: bool = True,
) -> WorkerParts:
    """Build what takes jobs in this process, and what wakes it.

    Where beat starts the chores, a slot that is still free after `chores_after` is done here.
    """
    settings, store, clock, announce = base.settings, base.store, base.clock, base.announce
    slots = BulkRateLimits(store.rate_limits, clock)
    fetchers, paid_fetchers = build_every_fetcher(base, transport, slots)
    lanes = taken_lanes(settings)
    worker = Worker(store.workers, clock, settings.worker_name, prepare=store.host_assignment.settle, lanes=lanes)
    tools = StageDependencies(
        clock, store.ids, store.breakers, fetchers, base.verticals, base.services, store.current_state,
        worker.is_current, paid_fetchers.fallback, build_enrichment_hints(settings, store), settings.reader_max_records,
    )  # fmt: skip
    readers = build_readers(settings, clock, announce)
    function_readers: FunctionReaders = readers or InlineReaders(base.verticals)
    live_health = build_live_health(store, clock, announce)
    shared = build_shared_snapshots(settings, store, clock, base.services, live_health.board)
    live = None
    if LIVE_LANE in lanes:
        live = build_live_lane(
            settings, store, tools, base.dice, announce, worker, slots=slots, readers=function_readers,
            health=live_health.sink, mirror=None if shared is None else shared.mirror(),
        )  # fmt: skip
    if live is not None:
        live_health.board.follow(live.contexts)
    make_drain = drain_factory(base, tools, worker, readers)
    ticks = ChoreRunner(store.slots, clock, announce, worker.key)
    beat = build_beat_watch(base.services, clock, look_again(settings)) if chores_after else None
    supervisor = build_supervisor(
        base, worker, ticks, make_drain, live, beat, lanes, chores_after=chores_after, has_chores=has_chores
    )
    return WorkerParts(
        fetchers=fetchers,
        paid_fetchers=paid_fetchers,
        tools=tools,
        worker=worker,
        readers=readers,
        function_readers=function_readers,
        make_drain=make_drain,
        dispatcher=Dispatcher(
            store.agenda, base.verticals, clock, base.dice, announce, limits=settings.queue_limits
        ),
        ticks=ticks,
        live_health=live_health,
        shared=shared,
        live=live,
        beat=beat,
        supervisor=supervisor,
        waker=WorkerWaker(supervisor, build_wakeups(settings, store, base.services)),
    )  # fmt: skip


def build_supervisor(
    base: Foundation,
    worker: Worker,
    ticks: ChoreRunner,
    make_drain: Callable[[], Drain],
    live: LiveLane | None,
    beat: BeatWatch | None,
    lanes: tuple[str, ...],
    *,
    chores_after: timedelta,
    has_chores: bool,
) -> Supervisor:
    """Build what keeps this process turning; in the lab's time there is no machine whose clock could be wrong."""
    machine = base.clock if isinstance(base.clock, RealClock) else None
    database = base.store.database
    return Supervisor(
        worker, ticks, make_drain, [lane for lane in LANES if lane in lanes], base.clock, base.announce,
        poll_interval=look_again(base.settings), machine=machine, live=live,
        chores_after=chores_after, has_chores=has_chores,
        measure_skew=None if machine is None else skew_measure(database, base.clock),
        hear_wakeups=None if machine is None or beat is not None else wakeups_heard(database),
        on_unsent_chore=None if beat is None else beat.did_unasked,
    )  # fmt: skip


def look_again(settings: Settings) -> timedelta:
    """Return how long a lane that nobody wakes waits until it looks for work by itself."""
    return timedelta(seconds=settings.look_again_seconds)


def taken_lanes(settings: Settings) -> tuple[str, ...]:
    """Return the lanes whose jobs this process takes; services that bring pages are asked over HTTP, in its lane."""
    if "worker" not in settings.roles:
        return ()
    named = [*settings.lanes, *(PAID_LANES if FetcherKind.HTTP.value in settings.lanes else ())]
    return tuple(lane for lane in (*LANES, LIVE_LANE) if lane in named)


def build_every_fetcher(
    base: Foundation, transport: Transport | None, rate_limits: HostRateLimits
) -> tuple[dict[FetcherKind, Fetcher], PaidFetchers]:
    """Return the fetchers by kind, and the paid ones with their fallback; all use the http fetcher's gates."""
    settings, store, clock, services = base.settings, base.store, base.clock, base.services
    memory = RobotsAnswers(store.database)
    fetchers = build_fetchers(
        settings, clock, transport, rate_limits=rate_limits, services=services, robots_memory=memory
    )
    plain = fetchers[FetcherKind.HTTP]
    paid_fetchers = build_paid_fetchers(settings, store, clock, services, plain, transport)
    browser = build_browser(settings, store, clock, services, plain)
    return {**fetchers, **paid_fetchers.fetchers, FetcherKind.BROWSER: browser}, paid_fetchers


def drain_factory(
    base: Foundation, tools: StageDependencies, worker: Worker, readers: PageReaders | None
) -> DrainFactory:
    """Return the function that makes a new drain."""
    settings, store = base.settings, base.store
    narrator = CommitAnnouncer(base.announce, base.clock)
    silent = CommitAnnouncer(lambda _happening: None, base.clock)

    def make_drain(by_hand: OneStageLedger | None = None) -> Drain:
        is_dry = by_hand is not None and by_hand.is_dry
        return Drain(
            by_hand or store.ledger,
            tools,
            base.dice,
            silent if is_dry else narrator,
            worker_id=(lambda: 0) if is_dry else worker.key,
            capacity=settings.jobs_in_hand,
            commits=1 if store.database.is_sqlite else 2,
            readers=readers,
            lane_capacity={FetcherKind.BROWSER.value: 2 * settings.browser_contexts},
            one_stage=by_hand is not None,
        )

    return make_drain
