"""The dependencies of the web app; `bootstrap` fills them in."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from tidemill.core.alerts.rounds import RoundSummary
from tidemill.core.page import Page
from tidemill.core.services.degradation import ServiceStatus
from tidemill.core.views.browsers import PoolView
from tidemill.operations.adapters import AdapterActions
from tidemill.operations.breakers import BreakerActions
from tidemill.operations.browsers import BrowserActions
from tidemill.operations.bundles.actions import BundleActions
from tidemill.operations.dead_letters import DeadLetterActions
from tidemill.operations.discovery import DiscoveryActions
from tidemill.operations.exporting.exporter import Exporter
from tidemill.operations.importing import Importer
from tidemill.operations.incidents import IncidentActions
from tidemill.operations.live_health import LiveHealthBoard
from tidemill.operations.mending.selectors import SelectorActions
from tidemill.operations.proposals import ProposalActions
from tidemill.operations.quarantine import QuarantineActions
from tidemill.operations.replay.actions import ReplayActions
from tidemill.operations.runs import RunActions
from tidemill.operations.sources import SourceActions
from tidemill.operations.targets import TargetActions
from tidemill.operations.upgrades import UpgradeActions
from tidemill.operations.watching.objectives import ObjectiveActions
from tidemill.operations.webhooks.actions import WebhookActions
from tidemill.operations.why.explanation import Explanation
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.pipeline.reader_functions.tried_addresses import AddressTrial
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.views.views import Views
from tidemill.telemetry.gauge_rows import GaugeRows
from tidemill.telemetry.metrics import Metrics
from tidemill.telemetry.rates import RateCounter
from tidemill.telemetry.recent_happenings import RecentHappenings
from tidemill.web.auth.callers import AccessDeps
from tidemill.web.limits import ServerLimits
from tidemill.web.stream.access import StreamAccess

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Host names that are accepted by default; DNS rebinding from other sites is refused."""

ReadPage = Callable[[int], Awaitable[Page | None]]


class TryAddress(Protocol):
    """Fetches an address once and reads it in every way; with `browser` by one."""

    async def __call__(self, url: str, *, browser: bool = False, city: str = "") -> AddressTrial:
        """Return what was read; raise `Mistake` when it cannot be had."""
        ...


RunChore = Callable[[str, str], Awaitable[str]]
Why = Callable[[str], Awaitable[Explanation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebDeps:
    """What every vertical's part of the web app reads from, and the actions that a person can take.

    `overdue` tells of periodic work that is late, `missed` of sources whose due targets got no job, `pending` how
    many jobs wait per adapter, `ready` how many could be taken now per lane, `disabled_adapters` which adapters are
    off, `replica_age` how far the replica is behind, and `require_current` raises when the tables are missing or old.
    A worker unseen for `lease` counts as dead. `/health` waits `health_patience` for new facts before it tells those it
    has; None waits as long as it takes.
    `why` explains a subject such as `source:NAME`, `why_forms` says how subjects are written, `services` tells how
    those outside of us stand, `streams` serves things that change within seconds, `live` knows how they are polled,
    `recycle` has browsers replaced and audited, and `report_bug` is told of our own bugs.
    `incidents` are what people are told of, `objectives` how fresh data is to be, `rounds` brings the last summaries
    of runs, `gauge_rows` what `/metrics` shows of these.
    `allowed_hosts` are the names under which we may be called besides any address; None allows
    any. `allowed_origins` are sites whose scripts may call the API. `limits` hold for every caller. `access` tells who
    callers are.
    `read_page` brings a stored page with its body, `run_chore` does a piece of periodic work now, and `settings` are
    those in force, secrets masked. `selectors` tries and keeps selectors that people choose, and `try_address` looks
    at a page that may become a source. `readers` read stored pages for people. `verticals` are the kinds
    of data by name.
    """

    views: Views
    clock: Clock
    overdue: Callable[[], Awaitable[Sequence[tuple[str, str]]]]
    missed: Callable[[], Awaitable[Sequence[tuple[str, int]]]]
    pending: Callable[[], Awaitable[tuple[Mapping[str, int], int]]]
    replica_age: Callable[[], Awaitable[float | None]]
    ready: Callable[[], Awaitable[Mapping[str, int]]]
    disabled_adapters: Callable[[], Awaitable[Collection[str]]]
    require_current: Callable[[], Awaitable[None]]
    metrics: Metrics
    rate_counter: RateCounter
    recent: RecentHappenings
    version: str
    started_at: datetime
    why: Why
    why_forms: str
    report_bug: Callable[[str, Exception], None]
    services: Callable[[], Awaitable[Sequence[ServiceStatus]]]
    access: AccessDeps
    adapters: AdapterActions
    audit: AuditLog
    breakers: BreakerActions
    browsers: BrowserActions
    bundles: BundleActions
    dead_letters: DeadLetterActions
    discovery: DiscoveryActions
    exporter: Exporter
    importer: Importer
    incidents: IncidentActions
    objectives: ObjectiveActions
    rounds: Callable[[int], Awaitable[Sequence[RoundSummary]]]
    proposals: ProposalActions
    replays: ReplayActions
    quarantine: QuarantineActions
    read_page: ReadPage
    readers: FunctionReaders
    run_chore: RunChore
    runs: RunActions
    selectors: SelectorActions
    settings: Callable[[], Sequence[Any]]
    sources: SourceActions
    targets: TargetActions
    try_address: TryAddress
    upgrades: UpgradeActions
    webhooks: WebhookActions
    streams: StreamAccess
    live: LiveHealthBoard
    recycle: Callable[[str], Awaitable[Sequence[PoolView]]]
    verticals: Collection[str]
    lease: timedelta = timedelta(seconds=60)
    health_patience: timedelta | None = None
    gauge_rows: Callable[[], Awaitable[Sequence[GaugeRows]]] | None = None
    allowed_hosts: Collection[str] | None = LOOPBACK_NAMES
    allowed_origins: Sequence[str] = ()
    limits: ServerLimits = ServerLimits()  # noqa: RUF009 - frozen
