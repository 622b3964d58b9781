"""Drift: whether an adapter still fits its site, judged batch by batch when a run ends."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from statistics import median

import msgspec

from tidemill.core.run import Counts

BATCH = 20
"""URLs from which a run says something about its adapter."""
FAILING = 0.5
"""Over this share of failures a batch is bad, whatever is usual."""
STRIKES = 2
"""Bad batches in a row that switch an adapter off."""
WINDOW = timedelta(days=7)
LEAST_RUNS = 3
"""The baseline: medians over this time, of at least so many runs."""
WORSE = 0.25
"""How much more than usual may fail before a person is told, once it is known what is usual."""
POORER = 0.5
"""Under this share of the usual yield a person is told."""
OFF_BY = 0.05
"""How far the share of records that have a field may be from the blessed one: five points."""
ALARM = "alarming values were read and set aside"
"""How what a vertical finds alarming is told, unless it has words of its own."""
_ROUNDING = 1e-9


class DriftRule(StrEnum):
    """What was noticed; an incident is open once per rule, source and field, and keeps the name it is stored under."""

    FAILURES = "failures"
    NO_RECORDS = "no_records"
    ALARMING = "zero_price"
    WORSE_THAN_USUAL = "worse_than_usual"
    FIELD_SHARE = "field_share"
    WATCHED = "watched"
    SHORT_LIST = "short_list"


class DriftStrikes(msgspec.Struct, frozen=True, kw_only=True):
    """What is held against an adapter on one source; `watched` until its first run after a person's word.

    `zero_price_runs` is named as its column is: runs in a row that met what their vertical finds alarming.
    """

    failed_batches: int = 0
    empty_runs: int = 0
    zero_price_runs: int = 0
    watched: bool = False


class Baseline(msgspec.Struct, frozen=True):
    """What is usual: medians over the last week's batches."""

    failure_rate: float = 0.0
    yield_rate: float = 0.0
    runs: int = 0

    @property
    def is_established(self) -> bool:
        """Whether enough is known to compare with; until then only the absolute bounds hold."""
        return self.runs >= LEAST_RUNS


class DriftFinding(msgspec.Struct, frozen=True):
    """Something that a person should know; `disables` when it is reason enough to switch the adapter off."""

    rule: DriftRule
    detail: str
    field: str = ""
    disables: bool = False


class Judgement(msgspec.Struct, frozen=True):
    """What a run says about its adapter: the standing after it, and what was noticed.

    `well` names the rules against which it found nothing, although it could have: their incidents are over.
    """

    standing: DriftStrikes
    findings: tuple[DriftFinding, ...] = ()
    well: frozenset[DriftRule] = frozenset()


def batch_size(counts: Counts) -> int:
    """The URLs that count: asked for, not refused, and not excused by their vertical."""
    return counts.urls_succeeded + counts.urls_failed - counts.excused


def failure_rate(counts: Counts) -> float:
    """The share of failures among the URLs that count."""
    size = batch_size(counts)
    return counts.urls_failed / size if size > 0 else 0.0


def drift_rate(counts: Counts) -> float:
    """The share of pages that the adapter no longer fits; a site that is down is the breaker's matter."""
    size = batch_size(counts)
    return counts.urls_drifted / size if size > 0 else 0.0


def yield_rate(counts: Counts) -> float:
    """Records per URL that counts; an unchanged page yields what it did, be it a record that was excused."""
    size = batch_size(counts)
    again = max(counts.records_seen_again, counts.pages_unchanged)
    return (counts.records_accepted + again) / size if size > 0 else 0.0


def baseline_of(batches: Sequence[Counts]) -> Baseline:
    """The medians of runs that were batches and went well enough to be an example."""
    fit = [counts for counts in batches if batch_size(counts) >= BATCH and failure_rate(counts) <= FAILING]
    if not fit:
        return Baseline()
    return Baseline(median(map(failure_rate, fit)), median(map(yield_rate, fit)), len(fit))


def judge_run(counts: Counts, standing: DriftStrikes, baseline: Baseline, alarm: str = ALARM) -> Judgement:
    """Judge a run that has ended. Small runs say little, but what its vertical finds alarming is told of at once.

    `alarm` is how that is told, after the number of records.
    """
    if standing.watched and batch_size(counts) > 0:
        return _judge_watched(counts)
    if batch_size(counts) < BATCH:
        found = (_alarming(counts, alarm, disables=False),) if counts.alarming else ()
        return Judgement(standing, found)
    after = DriftStrikes(
        failed_batches=standing.failed_batches + 1 if drift_rate(counts) > FAILING else 0,
        empty_runs=standing.empty_runs + 1 if _is_empty(counts) else 0,
        zero_price_runs=standing.zero_price_runs + 1 if counts.alarming else 0,
    )
    findings = _failures(counts, after) or _emptiness(after)  # pages that failed are why there are no records
    findings += _alarms(counts, after, alarm)
    findings += _unusual(counts, baseline)
    return Judgement(
        after, tuple(findings), frozenset(DriftRule) - {each.rule for each in findings} - {DriftRule.FIELD_SHARE}
    )


def _judge_watched(counts: Counts) -> Judgement:
    """The first run after a person switched the adapter on: one bad run is enough, whatever its size."""
    if drift_rate(counts) > FAILING:
        detail = f"the first run after it was switched on failed too: {_share(counts.urls_drifted, counts)}"
        return Judgement(DriftStrikes(), (DriftFinding(DriftRule.WATCHED, detail, disables=True),))
    return Judgement(DriftStrikes(), (), frozenset(DriftRule) - {DriftRule.FIELD_SHARE})


def _failures(counts: Counts, after: DriftStrikes) -> list[DriftFinding]:
    if failure_rate(counts) <= FAILING:
        return []
    disables = after.failed_batches >= STRIKES
    again = f", {after.failed_batches} times in a row" if disables else ""
    return [DriftFinding(DriftRule.FAILURES, f"{_share(counts.urls_failed, counts)} failed{again}", disables=disables)]


def _emptiness(after: DriftStrikes) -> list[DriftFinding]:
    if after.empty_runs < STRIKES:
        return []
    return [DriftFinding(DriftRule.NO_RECORDS, f"no record in {after.empty_runs} runs in a row", disables=True)]


def _alarms(counts: Counts, after: DriftStrikes, alarm: str) -> list[DriftFinding]:
    return [_alarming(counts, alarm, disables=after.zero_price_runs >= STRIKES)] if counts.alarming else []


def _alarming(counts: Counts, alarm: str, *, disables: bool) -> DriftFinding:
    again = ", for the second run in a row" if disables else ""
    return DriftFinding(DriftRule.ALARMING, f"{counts.alarming} {alarm}{again}", disables=disables)


def _unusual(counts: Counts, baseline: Baseline) -> list[DriftFinding]:
    """What is bad by this adapter's own measure, although not by the absolute one."""
    if not baseline.is_established or failure_rate(counts) > FAILING:
        return []
    worse = failure_rate(counts) - baseline.failure_rate > WORSE
    poorer = yield_rate(counts) < baseline.yield_rate * POORER
    if not (worse or poorer):
        return []
    detail = (
        f"{failure_rate(counts):.0%} failed and {yield_rate(counts):.2f} records came per URL, where"
        f" {baseline.failure_rate:.0%} and {baseline.yield_rate:.2f} are usual"
    )
    return [DriftFinding(DriftRule.WORSE_THAN_USUAL, detail)]


def _is_empty(counts: Counts) -> bool:
    """Whether nothing was read; a page that did not change was read well when it came."""
    return counts.records_read + counts.pages_unchanged == 0


def _share(part: int, counts: Counts) -> str:
    return f"{part} of {batch_size(counts)} URLs"


ALL = "*"
"""The name under which field counts hold the number of all records."""


def shares_of(counts: Mapping[str, int]) -> dict[str, float]:
    """The share of records that have each field."""
    total = counts.get(ALL, 0)
    return {field: count / total for field, count in counts.items() if field != ALL} if total else {}


def judge_fields(counts: Mapping[str, int], blessed: Mapping[str, float]) -> tuple[DriftFinding, ...]:
    """Which fields are five points or more off what a person has blessed; few records say nothing."""
    if counts.get(ALL, 0) < BATCH:
        return ()
    shares = shares_of(counts)
    return tuple(
        DriftFinding(
            DriftRule.FIELD_SHARE, f"{shares.get(field, 0.0):.0%} of records have it, {share:.0%} were blessed", field
        )
        for field, share in sorted(blessed.items())
        if abs(shares.get(field, 0.0) - share) >= OFF_BY - _ROUNDING
    )
