"""A run: one orchestration pass for a source, with its trigger, its counts and how it ended."""

from datetime import datetime
from enum import StrEnum

import msgspec


class Trigger(StrEnum):
    """Why a run was started."""

    SCHEDULED = "SCHEDULED"
    MANUAL = "MANUAL"
    RETRY = "RETRY"
    RECHECK = "RECHECK"


class RunStatus(StrEnum):
    """A run's state or result."""

    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    PARTIAL = "PARTIAL"
    FAILED = "FAILED"
    QUARANTINED = "QUARANTINED"
    REFUSED = "REFUSED"


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's jobs did, in numbers; every raw record ends in exactly one of the record counts.

    `records_repeated` stood twice on their page; `records_seen_again` are those of pages that had not changed.
    `urls_unusable` came to their end with records of which none could be accepted, for what they are. `urls_drifted`
    are those, and the failed ones whose page the adapter no longer fits. The last two are named as the database
    names them, and hold what their vertical excuses and what it finds alarming, whatever that is.
    """

    urls_attempted: int = 0
    urls_succeeded: int = 0
    urls_failed: int = 0
    urls_refused: int = 0
    pages_unchanged: int = 0
    records_read: int = 0
    records_accepted: int = 0
    records_dropped: int = 0
    records_quarantined: int = 0
    records_inserted: int = 0
    records_updated: int = 0
    records_unchanged: int = 0
    records_repeated: int = 0
    records_seen_again: int = 0
    urls_drifted: int = 0
    urls_unusable: int = 0
    oos_no_price_count: int = 0
    zero_price_count: int = 0

    @property
    def excused(self) -> int:
        """Records dropped for a reason that is not a fault."""
        return self.oos_no_price_count

    @property
    def alarming(self) -> int:
        """Records quarantined for a reason that alerts a person at once."""
        return self.zero_price_count

    @property
    def failure_rate(self) -> float:
        """The share of URLs that failed; refusals are drops, not failures."""
        tried = self.urls_succeeded + self.urls_failed
        return self.urls_failed / tried if tried else 0.0

    @property
    def yield_rate(self) -> float:
        """Accepted records per URL that was asked for."""
        tried = self.urls_succeeded + self.urls_failed
        return self.records_accepted / tried if tried else 0.0

    @property
    def drop_rate(self) -> float:
        """The share of raw records that were dropped."""
        return self.records_dropped / self.records_read if self.records_read else 0.0


class DriftNotice(msgspec.Struct, frozen=True):
    """A change in an adapter's drift found at the end of a run: drift that began, ended, or switched something off.

    `disabled` is 'adapter' or 'source' when drift detection switched that off.
    """

    rule: str
    field: str
    detail: str
    is_over: bool = False
    disabled: str = ""


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A closed run as it is announced, stored and shown; `degraded` names the services it had to do without."""

    run_id: int
    source_id: int
    source_name: str
    vertical: str
    trigger: str
    status: RunStatus
    started_at: datetime
    completed_at: datetime
    counts: Counts
    complete: bool
    doubts: tuple[str, ...] = ()
    removed: int = 0
    degraded: tuple[str, ...] = ()
    adapter_id: str = ""
    noticed: tuple[DriftNotice, ...] = ()


def final_status(counts: Counts) -> RunStatus:
    """Return a run's final status from its counts.

    QUARANTINED when every record waits for a person, REFUSED when nothing was asked for.
    """
    if counts.urls_refused and not counts.urls_succeeded and not counts.urls_failed:
        return RunStatus.REFUSED
    if counts.records_quarantined and not counts.records_accepted and not counts.records_seen_again:
        return RunStatus.QUARANTINED
    if counts.urls_failed == 0:
        return RunStatus.SUCCESS
    return RunStatus.PARTIAL if counts.urls_succeeded else RunStatus.FAILED
