"""The grade of an installation that watches things live: from the ages of its checks, every 15 seconds."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from tidemill.core.health.contexts import ScraperContext, age_of

EVALUATED_EVERY = timedelta(seconds=15)
DEGRADED_FROM = timedelta(seconds=60)
STALLED_FROM = timedelta(seconds=90)
FAILING_FROM = timedelta(seconds=120)
RECOVERY_LIMIT = timedelta(seconds=120)
"""So long a recovery may take to bring the first check; it is judged then, too."""
GOOD_INTERVALS = 2
"""So many good evaluations in a row make a degraded system healthy."""


class HealthGrade(StrEnum):
    """How fresh the data is kept, as a whole."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    FAILING = "failing"
    RECOVERING = "recovering"


class FreshnessStats(msgspec.Struct, frozen=True, kw_only=True):
    """How old the checks of live things are, in seconds; all 0 without any."""

    median: float = 0.0
    p50: float = 0.0
    p95: float = 0.0
    max: float = 0.0
    count: int = 0
    samples: tuple[float, ...] = ()


class Freshness(msgspec.Struct, frozen=True, kw_only=True):
    """What the grade depends on: ages of live things, the time since any of them was checked, and that moment.

    `stall` is zero when nothing is live: an idle system does not stall. `is_pace` says that whatever is late waits
    for its host's pace and nothing else, so that no restart would help.
    """

    stats: FreshnessStats = FreshnessStats()
    stall: timedelta = timedelta(0)
    last_success: datetime | None = None
    is_pace: bool = False


class Grading(msgspec.Struct, frozen=True, kw_only=True):
    """The present grade, since when, and what its next move depends on."""

    grade: HealthGrade = HealthGrade.HEALTHY
    since: datetime
    good_intervals: int = 0
    recycled_at: datetime | None = None


class GradeMove(msgspec.Struct, frozen=True):
    """One move between grades, and why."""

    before: HealthGrade
    after: HealthGrade
    at: datetime
    reason: str


def freshness_of(contexts: Iterable[ScraperContext], now: datetime) -> Freshness:
    """Return how fresh live things are.

    A thing is as fresh as its freshest page: a second site that is away makes nothing stale. A thing that is paused
    has no age that a restart could mend and is left out, but where everything is paused nothing is checked any more,
    and that is a stall.
    """
    freshest: dict[tuple[str, str], ScraperContext] = {}
    for context in contexts:
        if context.is_live:
            thing = (context.vertical, context.thing_key)
            held = freshest.get(thing)
            if held is None or age_of(context, now) < age_of(held, now):
                freshest[thing] = context
    if not freshest:
        return Freshness()
    graded = [each for each in freshest.values() if not each.is_paused]
    late = [each for each in graded if age_of(each, now) >= DEGRADED_FROM]
    checks = [each.last_update_time for each in freshest.values() if each.last_update_time is not None]
    return Freshness(
        stats=freshness_stats([age_of(each, now).total_seconds() for each in graded]),
        stall=min(age_of(each, now) for each in freshest.values()),
        last_success=max(checks, default=None),
        is_pace=bool(late) and all(each.debt and not each.error_count for each in late),
    )


def freshness_stats(ages: Sequence[float]) -> FreshnessStats:
    """Return the usual figures of ages in seconds; a percentile is the age of a thing, never between two."""
    if not ages:
        return FreshnessStats()
    ordered = tuple(sorted(ages))
    median = percentile(ordered, 0.5)
    return FreshnessStats(
        median=median, p50=median, p95=percentile(ordered, 0.95), max=ordered[-1], count=len(ordered), samples=ordered
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest of the ordered values that at least so large a share does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def evaluate(grading: Grading, freshness: Freshness, now: datetime) -> tuple[Grading, GradeMove | None]:
    """Return the grading after an evaluation, and the move if there was one."""
    is_recovering = grading.grade is HealthGrade.RECOVERING
    if is_recovering and _may_still_recover(grading, freshness, now):
        return grading, None
    if is_recovering and not _has_success(grading, freshness):
        return _moved(grading, HealthGrade.FAILING, now, "nothing was checked after the recycle")
    if failing := failing_reason(freshness):
        return _moved(grading, HealthGrade.FAILING, now, failing)
    return _without_failure(grading, degraded_reason(freshness), now)


def _without_failure(grading: Grading, degraded: str, now: datetime) -> tuple[Grading, GradeMove | None]:
    """Return the grading when nothing fails; `degraded` says what is late, if anything."""
    match grading.grade:
        case HealthGrade.FAILING:
            return _moved(grading, HealthGrade.DEGRADED, now, degraded or "checks come again")
        case HealthGrade.DEGRADED:
            return _after_degraded(grading, now, is_good=not degraded)
        case HealthGrade.HEALTHY | HealthGrade.RECOVERING if degraded:
            return _moved(grading, HealthGrade.DEGRADED, now, degraded)
        case _:
            return _moved(grading, HealthGrade.HEALTHY, now, "checked again after the recycle")


def recovering(grading: Grading, now: datetime, reason: str) -> tuple[Grading, GradeMove | None]:
    """Return the grading once a recycle was begun."""
    after, move = _moved(grading, HealthGrade.RECOVERING, now, reason)
    return msgspec.structs.replace(after, recycled_at=now), move


def failing_reason(freshness: Freshness) -> str:
    """Return in words why the freshness is that of a failing system; '' if it is not."""
    if freshness.stats.max >= FAILING_FROM.total_seconds():
        return f"something live has not been checked for {freshness.stats.max:.0f} s"
    if freshness.stall >= STALLED_FROM:
        return f"nothing live has been checked for {freshness.stall.total_seconds():.0f} s"
    return ""


def degraded_reason(freshness: Freshness) -> str:
    """Return in words why the freshness is that of a degraded system; '' if it is not."""
    limit = DEGRADED_FROM.total_seconds()
    if freshness.stats.median >= limit:
        return f"half of what is live has not been checked for {freshness.stats.median:.0f} s"
    if freshness.stats.p95 >= limit:
        return f"one in twenty live things has not been checked for {freshness.stats.p95:.0f} s"
    return ""


def _has_success(grading: Grading, freshness: Freshness) -> bool:
    """Return whether anything was checked since the recycle; where nothing is live there is nothing to check."""
    if not freshness.stats.count and not freshness.stall:
        return True
    since = grading.recycled_at or grading.since
    return freshness.last_success is not None and freshness.last_success > since


def _may_still_recover(grading: Grading, freshness: Freshness, now: datetime) -> bool:
    """Return whether the recycle gets more time: the first check is not all there is to come."""
    is_early = now - (grading.recycled_at or grading.since) < RECOVERY_LIMIT
    return is_early and (not _has_success(grading, freshness) or bool(failing_reason(freshness)))


def _after_degraded(grading: Grading, now: datetime, *, is_good: bool) -> tuple[Grading, GradeMove | None]:
    good = grading.good_intervals + 1 if is_good else 0
    if good >= GOOD_INTERVALS:
        return _moved(grading, HealthGrade.HEALTHY, now, f"fresh for {good} evaluations in a row")
    return msgspec.structs.replace(grading, good_intervals=good), None


def _moved(grading: Grading, to: HealthGrade, now: datetime, reason: str) -> tuple[Grading, GradeMove | None]:
    if grading.grade is to:
        return grading, None
    after = Grading(grade=to, since=now, recycled_at=grading.recycled_at)
    return after, GradeMove(grading.grade, to, now, reason)
