"""Which alert each happening leads to, or why to none."""

from collections.abc import Mapping

import msgspec

from tidemill.core.alerts.table import AlertName
from tidemill.pipeline import happenings as has


class AlertOf(msgspec.Struct, frozen=True):
    """The alerts that a happening leads to; without any, the reason."""

    alerts: tuple[AlertName, ...] = ()
    reason: str = ""


def _to(*alerts: AlertName) -> AlertOf:
    return AlertOf(alerts)


def _none(reason: str) -> AlertOf:
    return AlertOf((), reason)


_USUAL = "usual work"
_ITSELF = "it tells of an alert itself"

HAPPENING_ALERTS: Mapping[type, AlertOf] = {
    has.StageDone: _none(_USUAL),
    has.PageGot: _none(_USUAL),
    has.JobWaits: _none("waiting is usual; what waits for a day becomes stale"),
    has.JobRefused: _none("we chose so; a source that brings nothing is told of"),
    has.JobDead: _to(AlertName.DEAD_LETTERS),
    has.PersonNeeded: _to(AlertName.DNS_OR_TLS),
    has.LeaseLost: _none("the fence did its work and nothing was written twice"),
    has.BreakerMoved: _to(AlertName.BREAKER_OPEN, AlertName.BREAKERS_OPEN),
    has.RecordsJudged: _none(_USUAL),
    has.RecordsKept: _none(_USUAL),
    has.RunOpened: _none(_USUAL),
    has.RunExtended: _none(_USUAL),
    has.RunClosed: _to(AlertName.NO_RECORDS),
    has.DriftNoticed: _to(
        AlertName.FAILURE_RATE, AlertName.NO_RECORDS, AlertName.ZERO_PRICE, AlertName.WORSE_THAN_USUAL,
        AlertName.FIELD_SHARE, AlertName.SHORT_LIST, AlertName.SELECTOR_FAILING,
    ),
    has.AdapterDisabled: _to(AlertName.ADAPTER_DISABLED),
    has.EnqueueRejected: _to(AlertName.QUEUE_REJECTIONS, AlertName.LONG_BACKOFF),
    has.TickRan: _to(AlertName.TICK_SILENT),
    has.JobsRescued: _none("the rescue did its work; a worker that dies again and again leaves ticks silent"),
    has.JobsStale: _to(AlertName.TARGETS_STALE),
    has.StoreTrouble: _none("the database cannot keep an incident about itself; the dead-man ping stops"),
    has.ClockJumped: _to(AlertName.CLOCK_SKEW),
    has.PartCrashed: _none("the part was started again; work that stays undone leaves a tick silent"),
    has.Overdue: _to(AlertName.TICK_SILENT, AlertName.SCOPE_OVERDUE, AlertName.LONG_BACKOFF),
    has.ServiceDegraded: _to(AlertName.LLM_BUDGET, AlertName.SCRAPINGBEE_BUDGET),
    has.ServiceRestored: _none("good news; the incident of its budget ends"),
    has.PlaceSearched: _none(_USUAL),
    has.DiscoverySpilled: _to(AlertName.DISCOVERY_SPILLED),
    has.GradeMoved: _to(AlertName.GRADE_FAILING, AlertName.GRADE_DEGRADED),
    has.RecoveryBegun: _none("the watchdog does its work; the grade is told of"),
    has.RecoveryJudged: _none("the grade is told of"),
    has.RecoveryExhausted: _to(AlertName.RECOVERY_LOOP),
    has.PagePolled: _none(_USUAL),
    has.ChangeLogged: _none(_USUAL),
    has.LifeMoved: _none(_USUAL),
    has.WatchLost: _none("another process took it over, or the grade falls"),
    has.BrowserRecycled: _none("browsers are replaced by plan"),
    has.ChangesCaughtUp: _none("the database is back, which its own alert tells"),
    has.WatchPaused: _none("it is tried again by itself; the grade is told of"),
    has.ConflictFound: _none("a rule decides whom to believe"),
    has.TokenRefused: _none("strangers try doors; lockouts answer them"),
    has.ExportDone: _none(_USUAL),
    has.DiskLow: _to(AlertName.DISK_LOW, AlertName.DISK_FULL),
    has.ClockSkewed: _to(AlertName.CLOCK_SKEW),
    has.IncidentOpened: _none(_ITSELF),
    has.IncidentEnded: _none(_ITSELF),
    has.RoundEnded: _none("its summary is sent"),
    has.NoticeSent: _none("a channel that fails is a degraded service; its messages wait"),
}  # fmt: skip
"""Each happening, with the alerts that it leads to."""


def reference_rows(log_names: Mapping[type, str]) -> list[str]:
    """Return the rows of the reference: each happening with its line in the log and its alert."""
    rows = []
    for kind, led in HAPPENING_ALERTS.items():
        named = ", ".join(f"`{each.value}`" for each in led.alerts) or f"none: {led.reason}"
        rows.append(f"| `{kind.__name__}` | {log_names[kind]} | {named} |")
    return rows
