"""Contexts, errors and resources of live polling, as `/health` tells them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.core.health.contexts import MEBIBYTE, ScraperContext, age_of, health_status
from tidemill.core.health.grades import FAILING_FROM, Freshness, HealthGrade
from tidemill.operations.live_health import LiveHealthBoard

SCRAPERS_SHOWN = 100


class ScraperState(msgspec.Struct, frozen=True, kw_only=True):
    """A context: one page of one thing as one process polls it.

    `match_id` is the key of the thing, of whatever vertical; `last_update` the last reading that went well.
    """

    scraper_id: str
    match_id: str
    url: str
    source: str
    start_time: datetime
    last_update: datetime | None
    last_update_age_seconds: float
    uptime_seconds: float
    error_count: int
    total_errors: int
    total_updates: int
    health_status: str
    memory_mb: float
    cpu_percent: float
    polling_interval: float
    browser_pid: int | None
    restarts: int


class LiveFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Live polling at one moment: the worst contexts, how many fare how, the grade, failed tries, and resources."""

    scrapers: Sequence[ScraperState] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    things: int = 0
    grade: HealthGrade = HealthGrade.HEALTHY
    freshness: Freshness = Freshness()
    errors_last_minute: int = 0
    errors_last_hour: int = 0
    browser_memory_mb: float = 0.0
    browser_cpu_percent: float = 0.0

    @property
    def active(self) -> int:
        """How many contexts there are."""
        return sum(self.counts.values())


def live_facts(board: LiveHealthBoard, now: datetime) -> LiveFacts:
    """Return live polling as it stands in memory."""
    contexts = board.contexts()
    browsers = {each.usage.browser_pid: each.usage for each in contexts if each.usage.browser_pid is not None}
    return LiveFacts(
        scrapers=[scraper_state(each, now) for each in board.worst(SCRAPERS_SHOWN)],
        counts={kind.value: count for kind, count in board.counts().items()},
        things=len({(each.vertical, each.thing_key) for each in contexts if each.thing_key}),
        grade=board.grading.grade,
        freshness=board.freshness(),
        errors_last_minute=board.errors.last_minute,
        errors_last_hour=board.errors.last_hour,
        browser_memory_mb=round(sum(each.memory_bytes for each in browsers.values()) / MEBIBYTE, 1),
        browser_cpu_percent=round(sum(each.cpu_percent for each in browsers.values()), 1),
    )


def scraper_state(context: ScraperContext, now: datetime) -> ScraperState:
    """Return a context as people and machines are shown it; its health is computed here and now."""
    return ScraperState(
        scraper_id=context.scraper_id,
        match_id=context.thing_key,
        url=context.url,
        source=context.source,
        start_time=context.start_time,
        last_update=context.last_update_time,
        last_update_age_seconds=round(age_of(context, now).total_seconds(), 1),
        uptime_seconds=round((now - context.start_time).total_seconds(), 1),
        error_count=context.error_count,
        total_errors=context.total_errors,
        total_updates=context.total_updates,
        health_status=health_status(context, now).value,
        memory_mb=round(context.usage.memory_bytes / MEBIBYTE, 1),
        cpu_percent=context.usage.cpu_percent,
        polling_interval=context.polling_interval.total_seconds(),
        browser_pid=context.usage.browser_pid,
        restarts=context.restarts,
    )


def live_problems(facts: LiveFacts) -> list[str]:
    """Return in words what is the matter with live polling."""
    problems = []
    stats = facts.freshness.stats
    if facts.grade is not HealthGrade.HEALTHY:
        age = f"median age {stats.median:.0f} s, oldest {stats.max:.0f} s"
        problems.append(f"live polling is {facts.grade.value}: {stats.count} things, {age}")
    if failing := facts.counts.get("failing", 0):
        problems.append(f"{failing} of {facts.active} scrapers are failing")
    return problems


def live_outage(facts: LiveFacts) -> list[str]:
    """Return the reason for which a system with live things counts as down, if there is one."""
    if facts.freshness.stall >= FAILING_FROM:
        return [f"nothing live has been checked for {facts.freshness.stall.total_seconds():.0f} s"]
    return []
