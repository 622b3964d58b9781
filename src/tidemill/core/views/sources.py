"""Sources, targets, hosts, breakers and adapters, as they stand."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.core.health.sources import SourceStanding
from tidemill.core.source import Source
from tidemill.core.target import Target, TargetStatus
from tidemill.core.views.work import JobView, RunView


class SourceView(msgspec.Struct, frozen=True, kw_only=True):
    """A source in a list. `reason` says why it is not available; it is empty when it is.

    `standing` is the one rule's word for how it is, and `standing_reason` why. `targets_read` are the targets that are
    on and whose adapter is on too, `targets_barred` those that are on and that a person marked as not allowed by
    robots.txt.
    """

    id: int
    name: str
    vertical: str
    base_url: str
    adapter_id: str
    fetcher: str
    tier: str
    city: str
    enabled: bool
    auto_disabled: bool
    circuit_state: str
    cooldown_until: datetime | None
    targets: int
    targets_on: int
    last_scraped_at: datetime | None
    last_success_at: datetime | None
    reliability: float
    failures: int
    records: int
    is_available: bool
    reason: str
    standing: SourceStanding
    standing_reason: str
    targets_read: int
    targets_broken: int = 0
    targets_barred: int = 0
    tags: tuple[str, ...] = ()


class BreakerView(msgspec.Struct, frozen=True, kw_only=True):
    """A source's circuit breaker with its counts."""

    source_id: int
    source_name: str
    state: str
    failure_count: int
    success_count: int
    last_failure_at: datetime | None
    cooldown_until: datetime | None
    consecutive_opens: int
    total_calls: int
    total_successes: int
    total_failures: int
    total_rejections: int
    changed_at: datetime


class HostView(msgspec.Struct, frozen=True, kw_only=True):
    """A registrable domain with its pace; it may be asked again at `opens_at`."""

    host: str
    interval_ms: int
    burst: int
    parallel: int
    crawl_delay_ms: int | None
    opens_at: datetime
    served_at: datetime | None
    has_work: bool


class AdapterView(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter that somebody or drift detection has dealt with; one without a row has always been on."""

    adapter_id: str
    enabled: bool = True
    disabled_at: datetime | None = None
    disabled_reason: str | None = None
    disabled_by: str | None = None
    updated_at: datetime | None = None


class TargetView(msgspec.Struct, frozen=True, kw_only=True):
    """A target in a list."""

    id: int
    source_id: int
    source_name: str
    url: str
    host: str
    adapter_id: str
    schedule: str | None
    priority: int
    status: str
    enabled: bool
    robots_path_blocked: bool
    last_scraped_at: datetime | None
    last_status: str | None
    consecutive_failures: int
    next_due_at: datetime | None
    good_page_id: int | None
    created_by: str | None
    notes: str | None


class TargetFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which targets to list; None means any."""

    source_id: int | None = None
    status: TargetStatus | None = None
    enabled: bool | None = None
    host: str | None = None
    text: str | None = None


class UpgradeView(msgspec.Struct, frozen=True, kw_only=True):
    """A fetcher that served a source better than its own, suggested to a person `times` over."""

    source_id: int
    source_name: str
    fetcher: str
    reason: str
    times: int
    status: str
    suggested_at: datetime
    last_at: datetime
    decided_at: datetime | None
    decided_by: str | None


class SourceDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A source with everything around it: what `why` walks through and a page about it shows.

    `jobs` and `letters` count by state; `runs` are the latest, newest first; `due_at` is when the first of its
    targets is due, `waits_until` when the first of its waiting jobs may go on.
    """

    view: SourceView
    source: Source
    breaker: BreakerView | None
    adapters: Sequence[AdapterView]
    hosts: Sequence[HostView]
    jobs: Mapping[str, int]
    letters: Mapping[str, int]
    runs: Sequence[RunView]
    due_at: datetime | None
    upgrade: UpgradeView | None = None
    waits_until: datetime | None = None


class TargetDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A target with its source, its host and its latest jobs, newest first."""

    view: TargetView
    target: Target
    source: SourceDetail
    host: HostView | None
    adapter: AdapterView | None
    jobs: Sequence[JobView]
