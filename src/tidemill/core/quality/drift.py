"""Drift: whether an adapter still fits its site, judged at the end of each run."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from statistics import median

import msgspec

from tidemill.core.run import Counts

MIN_BATCH = 20
"""URLs that a run needs before its adapter is judged."""
MAX_FAILURE_RATE = 0.5
"""Above this share of failures a run is bad, whatever the baseline."""
STRIKES_TO_DISABLE = 2
"""Bad runs in a row that switch an adapter off."""
BASELINE_WINDOW = timedelta(days=7)
MIN_BASELINE_RUNS = 3
"""The baseline is the median over `BASELINE_WINDOW`, of at least so many runs."""
FAILURE_RATE_MARGIN = 0.25
"""How far the failure rate may rise above the baseline before a person is alerted."""
MIN_YIELD_SHARE = 0.5
"""Below this share of the baseline yield a person is alerted."""
FIELD_SHARE_TOLERANCE = 0.05
"""How far the share of records that have a field may be from the expected one."""
DEFAULT_ALARM = "alarming values were read and set aside"
"""The alarm text of a vertical without its own."""
_ROUNDING = 1e-9


class DriftRule(StrEnum):
    """The drift rules; an incident is open once per rule, source and field, and the value is how it is stored."""

    FAILURES = "failures"
    NO_RECORDS = "no_records"
    ALARMING = "zero_price"
    WORSE_THAN_USUAL = "worse_than_usual"
    FIELD_SHARE = "field_share"
    WATCHED = "watched"
    SHORT_LIST = "short_list"
    SELECTORS = "selectors"
    POORER_READING = "poorer_reading"


JUDGED_APART = frozenset({DriftRule.FIELD_SHARE, DriftRule.SELECTORS, DriftRule.POORER_READING})
"""Rules that a run's counts say nothing about: fields have a baseline of their own, selectors a proposal, and pages
that are read worse than before stay so until each is read well again."""


class DriftStrikes(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter's strikes on one source; `watched` until its first run after a person switched it on.

    `zero_price_runs` is named as its column is: runs in a row that met an alarming reason of their vertical.
    """

    failed_batches: int = 0
    empty_runs: int = 0
    zero_price_runs: int = 0
    watched: bool = False


class Baseline(msgspec.Struct, frozen=True):
    """Medians over the last week's runs."""

    failure_rate: float = 0.0
    yield_rate: float = 0.0
    runs: int = 0

    @property
    def is_established(self) -> bool:
        """Whether there are enough runs to compare with; until then only the absolute limits apply."""
        return self.runs >= MIN_BASELINE_RUNS


class DriftFinding(msgspec.Struct, frozen=True):
    """A drift rule that a run broke; `disables` when the adapter is switched off for it."""

    rule: DriftRule
    detail: str
    field: str = ""
    disables: bool = False


class DriftJudgement(msgspec.Struct, frozen=True):
    """The result of judging a run: the strikes after it, and the findings.

    `cleared` names the rules that were checked and kept: their incidents are over.
    """

    strikes: DriftStrikes
    findings: tuple[DriftFinding, ...] = ()
    cleared: frozenset[DriftRule] = frozenset()


def batch_size(counts: Counts) -> int:
    """Return how many URLs count: tried, not refused, and not excused by their vertical."""
    return counts.urls_succeeded + counts.urls_failed - counts.excused


def failure_rate(counts: Counts) -> float:
    """Return the share of URLs that failed or yielded nothing usable, among those that count."""
    size = batch_size(counts)
    return _fruitless(counts) / size if size > 0 else 0.0


def _fruitless(counts: Counts) -> int:
    return counts.urls_failed + counts.urls_unusable


def drift_rate(counts: Counts) -> float:
    """Return the share of pages that the adapter no longer fits; a site that is down is left to the breaker."""
    size = batch_size(counts)
    return counts.urls_drifted / size if size > 0 else 0.0


def yield_rate(counts: Counts) -> float:
    """Return records per URL that counts; an unchanged page counts what it yielded before."""
    size = batch_size(counts)
    again = max(counts.records_seen_again, counts.pages_unchanged)
    return (counts.records_accepted + again) / size if size > 0 else 0.0


def baseline_of(batches: Sequence[Counts]) -> Baseline:
    """Return the baseline over the runs that were large enough and did not fail."""
    fit = [counts for counts in batches if batch_size(counts) >= MIN_BATCH and failure_rate(counts) <= MAX_FAILURE_RATE]
    if not fit:
        return Baseline()
    return Baseline(median(map(failure_rate, fit)), median(map(yield_rate, fit)), len(fit))


def judge_run(counts: Counts, strikes: DriftStrikes, baseline: Baseline, alarm: str = DEFAULT_ALARM) -> DriftJudgement:
    """Judge a run that has ended. Small runs are not judged, but alarming reasons are reported at once.

    `alarm` is the text of that report, after the number of records.
    """
    if strikes.watched and batch_size(counts) > 0:
        return _judge_watched(counts)
    if batch_size(counts) < MIN_BATCH:
        found = (_alarming(counts, alarm, disables=False),) if counts.alarming else ()
        return DriftJudgement(strikes, found)
    after = DriftStrikes(
        failed_batches=strikes.failed_batches + 1 if drift_rate(counts) > MAX_FAILURE_RATE else 0,
        empty_runs=strikes.empty_runs + 1 if _is_empty(counts) else 0,
        zero_price_runs=strikes.zero_price_runs + 1 if counts.alarming else 0,
    )
    findings = _failures(counts, after) or _emptiness(after)  # pages that failed are why there are no records
    findings += _alarms(counts, after, alarm)
    findings += _unusual(counts, baseline)
    return DriftJudgement(
        after, tuple(findings), frozenset(DriftRule) - {each.rule for each in findings} - JUDGED_APART
    )


def _judge_watched(counts: Counts) -> DriftJudgement:
    """Judge the first run after a person switched the adapter on: one bad run of any size disables it."""
    if drift_rate(counts) > MAX_FAILURE_RATE:
        detail = f"the first run after it was switched on failed too: {_share(counts.urls_drifted, counts)}"
        return DriftJudgement(DriftStrikes(), (DriftFinding(DriftRule.WATCHED, detail, disables=True),))
    return DriftJudgement(DriftStrikes(), (), frozenset(DriftRule) - JUDGED_APART)


def _failures(counts: Counts, after: DriftStrikes) -> list[DriftFinding]:
    if failure_rate(counts) <= MAX_FAILURE_RATE:
        return []
    disables = after.failed_batches >= STRIKES_TO_DISABLE
    again = f", {after.failed_batches} times in a row" if disables else ""
    detail = f"{_share(_fruitless(counts), counts)} {_came_to_nothing(counts)}{again}"
    return [DriftFinding(DriftRule.FAILURES, detail, disables=disables)]


def _came_to_nothing(counts: Counts) -> str:
    if not counts.urls_unusable:
        return "failed"
    return "failed or yielded nothing usable" if counts.urls_failed else "yielded nothing usable"


def _emptiness(after: DriftStrikes) -> list[DriftFinding]:
    if after.empty_runs < STRIKES_TO_DISABLE:
        return []
    return [DriftFinding(DriftRule.NO_RECORDS, f"no record in {after.empty_runs} runs in a row", disables=True)]


def _alarms(counts: Counts, after: DriftStrikes, alarm: str) -> list[DriftFinding]:
    return [_alarming(counts, alarm, disables=after.zero_price_runs >= STRIKES_TO_DISABLE)] if counts.alarming else []


def _alarming(counts: Counts, alarm: str, *, disables: bool) -> DriftFinding:
    again = ", for the second run in a row" if disables else ""
    return DriftFinding(DriftRule.ALARMING, f"{counts.alarming} {alarm}{again}", disables=disables)


def _unusual(counts: Counts, baseline: Baseline) -> list[DriftFinding]:
    """Return a finding if the run is worse than this adapter's baseline, though not by the absolute limits."""
    if not baseline.is_established or failure_rate(counts) > MAX_FAILURE_RATE:
        return []
    worse = failure_rate(counts) - baseline.failure_rate > FAILURE_RATE_MARGIN
    poorer = yield_rate(counts) < baseline.yield_rate * MIN_YIELD_SHARE
    if not (worse or poorer):
        return []
    detail = (
        f"{failure_rate(counts):.0%} failed and {yield_rate(counts):.2f} records came per URL, where"
        f" {baseline.failure_rate:.0%} and {baseline.yield_rate:.2f} are usual"
    )
    return [DriftFinding(DriftRule.WORSE_THAN_USUAL, detail)]


def _is_empty(counts: Counts) -> bool:
    """Return whether nothing was read; an unchanged page counts as read."""
    return counts.records_read + counts.pages_unchanged == 0


def _share(part: int, counts: Counts) -> str:
    return f"{part} of {batch_size(counts)} URLs"


ALL_RECORDS = "*"
"""The key of field counts that holds the number of all records."""


def shares_of(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the share of records that have each field."""
    total = counts.get(ALL_RECORDS, 0)
    return {field: count / total for field, count in counts.items() if field != ALL_RECORDS} if total else {}


def judge_fields(counts: Mapping[str, int], expected: Mapping[str, float]) -> tuple[DriftFinding, ...]:
    """Return the fields whose share is off what a person approved; nothing for too few records."""
    if counts.get(ALL_RECORDS, 0) < MIN_BATCH:
        return ()
    shares = shares_of(counts)
    return tuple(
        DriftFinding(
            DriftRule.FIELD_SHARE, f"{shares.get(field, 0.0):.0%} of records have it, {share:.0%} were blessed", field
        )
        for field, share in sorted(expected.items())
        if abs(shares.get(field, 0.0) - share) >= FIELD_SHARE_TOLERANCE - _ROUNDING
    )
