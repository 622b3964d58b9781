"""Build the web app, and serve it in the engine's process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import cache, partial
from typing import Any

from tidemill import __version__
from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.live.health import build_streams
from tidemill.bootstrap.migrations import require_current
from tidemill.bootstrap.store import Store
from tidemill.bootstrap.system import System
from tidemill.bootstrap.verticals import LOADED_PLUGINS, VERTICALS
from tidemill.bootstrap.watching.gauges import watching_gauges
from tidemill.core.audit import AuditEntry
from tidemill.core.health.recovery import RecoveryAction
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.source import FetcherKind
from tidemill.core.urls import registrable_domain
from tidemill.core.views.browsers import PoolView
from tidemill.engine.chores import DISPATCH_GRACE
from tidemill.engine.clock import RealClock
from tidemill.operations.mending.address_trial import AddressTrials
from tidemill.operations.mending.selectors import SelectorActions
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.pipeline.happenings import Announce, PageGot, StageDone
from tidemill.pipeline.ports import FetchRequest, FetchResult
from tidemill.settings import Settings, describe_settings
from tidemill.store.database.migrate import newest
from tidemill.store.database.ping import replica_age
from tidemill.store.quality.proposals import Proposals
from tidemill.telemetry.metrics import DEFAULT_SOURCES, Metrics
from tidemill.telemetry.rates import RateCounter
from tidemill.telemetry.recent_happenings import RecentHappenings
from tidemill.telemetry.safe_listener import never_raising
from tidemill.web.app import create_app
from tidemill.web.deps import LOOPBACK_NAMES, WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.limits import ServerLimits, exposure_problem
from tidemill.web.listening import CannotListen
from tidemill.web.serve import serve


class Telemetry:
    """The listeners whose data the web app shows (metrics, rates, latest happenings), and any others."""

    def __init__(
        self,
        report_bug: Callable[[str, Exception], None],
        *others: Announce,
        metrics_sources: int = DEFAULT_SOURCES,
        identity: Mapping[str, str] | None = None,
    ) -> None:
        """`report_bug` is called when a listener fails; the engine does not notice.

        So many sources as `metrics_sources` have series of their own. `identity` says in the metrics which process
        this is.
        """
        self.report_bug = report_bug
        self.metrics = Metrics(__version__, most_sources=metrics_sources, identity=identity)
        self.rate_counter = RateCounter()
        self.recent = RecentHappenings(leave_out=(StageDone, PageGot))
        listeners = (self.metrics.count, self.rate_counter.count, self.recent.add, *others)
        self.listeners = Listeners(*(never_raising(listener, report_bug) for listener in listeners))


HEALTH_PATIENCE = timedelta(seconds=0.1)
"""How long `/health` waits for new facts; who watches us gives up on one that takes long."""


def web_deps(system: System, telemetry: Telemetry, host: str) -> WebDeps:
    """Return the dependencies of the web app, from the running system."""
    store, clock, actions = system.store, system.clock, system.actions

    async def missed() -> list[tuple[str, int]]:
        return await store.sweeps.undispatched(DISPATCH_GRACE, clock.now())

    async def recycle(by: str) -> list[PoolView]:
        concerned = await actions.browsers.recycle(by)
        await system.live_health.tick.begin(RecoveryAction.MANUAL_TRIGGER, by, f"asked for by {by}", clock.now())
        return concerned

    system.live_health.board.on_navigation_failure.append(telemetry.metrics.navigation_failed)
    access = actions.access_deps(system.settings)
    return WebDeps(
        views=store.views,
        clock=clock,
        overdue=system.ticks.overdue,
        missed=missed,
        pending=store.agenda.pending,
        ready=store.agenda.ready_by_lane,
        replica_age=partial(replica_age, store.database),
        disabled_adapters=store.agenda.disabled_adapters,
        require_current=partial(require_current, store.database, needs=cache(newest)),
        metrics=telemetry.metrics,
        rate_counter=telemetry.rate_counter,
        recent=telemetry.recent,
        version=__version__,
        started_at=clock.now(),
        why=actions.why.explain,
        why_forms=actions.why.forms,
        report_bug=telemetry.report_bug,
        services=system.services.statuses,
        access=access,
        adapters=actions.adapters,
        audit=store.audit,
        breakers=actions.breakers,
        browsers=actions.browsers,
        bundles=actions.bundles,
        dead_letters=actions.dead_letters,
        discovery=system.discovery,
        exporter=actions.exporter,
        importer=actions.importer,
        incidents=actions.incidents,
        objectives=actions.objectives,
        rounds=system.alerts.rounds.latest,
        gauge_rows=watching_gauges(system.alerts.incidents.open_counts, actions.objectives.every),
        proposals=actions.proposals,
        replays=actions.replays,
        quarantine=actions.quarantine,
        read_page=partial(read_stored_page, store),
        readers=system.function_readers,
        run_chore=partial(run_chore_now, system),
        runs=actions.runs,
        selectors=SelectorActions(
            VERTICALS,
            store.sources,
            store.views,
            Proposals(store.database, store.ids, store.bodies),
            clock,
            read_page=partial(read_stored_page, store),
            readers=system.function_readers,
        ),
        settings=partial(describe_settings, system.settings),
        sources=actions.sources,
        targets=actions.targets,
        try_address=AddressTrials(system.function_readers, clock, partial(fetch_once, system)).try_address,
        upgrades=actions.upgrades,
        webhooks=actions.webhooks,
        streams=build_streams(
            store, clock, system.live_health.board, access, system.shared.snapshots if system.shared else None
        ),
        live=system.live_health.board,
        recycle=recycle,
        verticals=tuple(VERTICALS),
        lease=store.workers.heartbeat * 3,
        health_patience=HEALTH_PATIENCE if isinstance(clock, RealClock) else None,
        allowed_hosts=allowed_hosts(system.settings.web_allowed_hosts, host),
        allowed_origins=tuple(system.settings.web_allowed_origins),
        limits=server_limits(system.settings),
    )


async def fetch_once(system: System, url: str, kind: FetcherKind) -> FetchResult:
    """Fetch an address by hand: guard, robots.txt and the host's pace hold as for any job."""
    host = registrable_domain(url)
    pace = await system.store.rate_limits.pace_of(host)
    return await system.fetchers[kind].fetch(FetchRequest(url=url, host=host, pace=pace or Pace()))


def allowed_hosts(named: Collection[str], host: str) -> Collection[str] | None:
    """Return the names that the web app may be called by; None if the operator allows any."""
    return None if "*" in named else LOOPBACK_NAMES.union(named) | {host}


def server_limits(settings: Settings) -> ServerLimits:
    """Return the limits on callers that the settings name."""
    return ServerLimits(
        body_bytes=settings.web_body_bytes,
        request_seconds=settings.web_request_seconds,
        connections_per_address=settings.web_connections_per_address,
        trusted_proxies=tuple(settings.web_trusted_proxies),
    )


def web_extensions(system: System, deps: WebDeps) -> list[WebExtension]:
    """Return what each vertical adds to the web app."""
    extensions = (plugin.web(deps, system.parts[name]) for name, plugin in LOADED_PLUGINS.items())
    return [extension for extension in extensions if extension is not None]


async def has_credentials(deps: WebDeps) -> bool:
    """Return whether callers can show who they are: a token is set, or somebody can sign in."""
    return deps.access.api_token is not None or not await deps.access.people.is_empty()


@asynccontextmanager
async def serve_web(system: System, telemetry: Telemetry, host: str, port: int) -> AsyncIterator[str]:
    """Serve the web app while entered; yield the address at which a browser finds it."""
    deps = web_deps(system, telemetry, host)
    if problem := exposure_problem(host, deps.limits, has_credentials=await has_credentials(deps)):
        raise Mistake(problem)
    app = create_app(deps, web_extensions(system, deps))
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    web = asyncio.create_task(
        serve(app, host, port, ready=address.set_result, stopping=deps.streams.hub.close_soon, limits=deps.limits),
        name="web app",
    )
    try:
        waiting: list[asyncio.Future[Any]] = [web, address]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            web.result()
        yield address.result()
    finally:
        web.cancel()
        with suppress(asyncio.CancelledError, CannotListen):
            await web
        await deps.streams.hub.close()


async def read_stored_page(store: Store, page_id: int) -> Page | None:
    """Return a stored page with its body."""
    return await store.ledger.materials.page(page_id)


async def run_chore_now(system: System, name: str, actor: str) -> str:
    """Do a piece of periodic work now, in this process, and audit who asked for it."""
    if name not in system.ticks.chores:
        raise NotFound(unknown_name("tick", name, system.ticks.chores))
    answer = await system.ticks.run_now(name)
    note = AuditEntry(actor, "tick.run", f"tick {name}", {"answer": answer})
    await system.store.audit.note([note], system.clock.now())
    return answer
