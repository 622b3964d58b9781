"""A scraper context: one page of one watched thing as one process polls it, how it fares, and when it starts anew.

All ages count from the last *check*, a reading that went well whether or not anything had changed.
"""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.live.rules import Phase
from tidemill.core.live.status import PageStatus

MEBIBYTE = 1024 * 1024
DEGRADED_ERRORS, FAILING_ERRORS = 2, 5
DEGRADED_AGE, FAILING_AGE = timedelta(seconds=120), timedelta(seconds=300)
"""More errors in a row, or an age beyond these, and a context is degraded or failing."""
FREES_MEMORY_WITHIN = timedelta(seconds=60)
"""How long after its start a context may still be counted the memory that the one before it held."""
LIVE_PHASES = frozenset({Phase.IN_PLAY, Phase.BREAK, Phase.UNKNOWN})


class ContextHealth(StrEnum):
    """How a context fares."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    FAILING = "failing"


class RestartReason(StrEnum):
    """Why a context is started anew; the value stands in the audit log."""

    AGE = "age"
    UNCHECKED = "unchecked"
    ERRORS = "errors"
    MEMORY = "memory"


class ContextLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a context may reach before it starts anew; above `hard_memory_limit` its browser is killed."""

    max_lifetime: timedelta = timedelta(hours=6)
    stale_after: timedelta = timedelta(seconds=300)
    most_errors: int = 10
    soft_memory_limit: int = 1536 * MEBIBYTE
    hard_memory_limit: int = 2048 * MEBIBYTE


class ContextUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What a context takes of the machine: its browser's process tree, or nothing of its own without a browser."""

    memory_bytes: int = 0
    cpu_percent: float = 0.0
    browser_pid: int | None = None


NO_USAGE = ContextUsage()
USUAL_LIMITS = ContextLimits()


class ScraperContext(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One page of one watched thing, as one process polls it.

    `thing_key` is '' for a list page. `last_update_time` is the last check and survives restarts, None before the
    first; `changed_at` is the last check that moved the thing. `error_count` is in a row, of which `errors_at_start`
    were there when the context last started; the totals are of its whole life, and `total_updates` counts checks.
    `debt` is how much longer the page waits than it should, because its host's pace allows no more.
    `trouble` is what readers are told of why it is not checked (`breaker`), '' where the rest says it.
    """

    scraper_id: str
    vertical: str
    thing_key: str
    url: str
    start_time: datetime
    source: str = ""
    source_id: int = 0
    target_id: int = 0
    last_update_time: datetime | None = None
    changed_at: datetime | None = None
    phase: Phase = Phase.UNKNOWN
    lifecycle: Lifecycle = Lifecycle.ACTIVE
    error_count: int = 0
    errors_at_start: int = 0
    total_errors: int = 0
    total_updates: int = 0
    restarts: int = 0
    usage: ContextUsage = NO_USAGE
    latency: timedelta | None = None
    polling_interval: timedelta = timedelta(seconds=2.5)
    paused_until: datetime | None = None
    debt: timedelta = timedelta(0)
    needs_browser: bool = False
    limits: ContextLimits = USUAL_LIMITS
    trouble: str = ""

    @property
    def is_live(self) -> bool:
        """Whether this is a thing that should be checked every few seconds; a list page is none."""
        return bool(self.thing_key) and self.phase in LIVE_PHASES and self.lifecycle in _WATCHED_CLOSELY

    @property
    def is_paused(self) -> bool:
        """Whether the thing is left alone for a while because nobody could read it."""
        return self.lifecycle is Lifecycle.PAUSED


_WATCHED_CLOSELY = frozenset({Lifecycle.DISCOVERED, Lifecycle.ACTIVE, Lifecycle.PAUSED})


def context_of(
    page: PageStatus,
    usage: ContextUsage = NO_USAGE,
    limits: ContextLimits = USUAL_LIMITS,
    *,
    errors_at_start: int = 0,
    restarts: int = 0,
) -> ScraperContext:
    """Return the context of a page that the live lane polls."""
    return ScraperContext(
        scraper_id=page.scraper_id,
        vertical=page.thing.vertical if page.thing else "",
        thing_key=page.thing.key if page.thing else "",
        url=page.url,
        start_time=page.started_at,
        source=page.source,
        source_id=page.source_id,
        target_id=page.target_id,
        last_update_time=page.checked_at,
        changed_at=page.changed_at,
        phase=page.phase,
        lifecycle=page.lifecycle,
        error_count=page.failures,
        errors_at_start=errors_at_start,
        total_errors=page.total_failures,
        total_updates=page.polls - page.total_failures,
        restarts=restarts,
        usage=usage,
        latency=page.latency,
        polling_interval=page.interval,
        paused_until=page.paused_until,
        debt=page.debt,
        needs_browser=page.needs_browser,
        limits=limits,
    )


def age_of(context: ScraperContext, now: datetime) -> timedelta:
    """Return the time since the last check, or since the start of a context that never had one; never negative."""
    return max(timedelta(0), now - (context.last_update_time or context.start_time))


def health_status(context: ScraperContext, now: datetime) -> ContextHealth:
    """Return how a context fares: by its errors in a row and by its age.

    A page that is asked less often than the limits (a thing that has ended, a list) is late only after two intervals.
    """
    age = age_of(context, now)
    patience = timedelta(0) if context.is_live else 2 * context.polling_interval
    if context.error_count > FAILING_ERRORS or age > max(FAILING_AGE, patience + FAILING_AGE / 2):
        return ContextHealth.FAILING
    if context.error_count > DEGRADED_ERRORS or age > max(DEGRADED_AGE, patience):
        return ContextHealth.DEGRADED
    return ContextHealth.HEALTHY


def restart_reason(context: ScraperContext, now: datetime) -> RestartReason | None:
    """Return why a context must start anew; None while it may go on.

    Errors and silence count from the last start, or a page that stays dead would be started anew at each look.
    """
    limits = context.limits
    since = max(context.start_time, context.last_update_time or context.start_time)
    silence = now - since - (timedelta(0) if context.is_live else 2 * context.polling_interval)
    if now - context.start_time > limits.max_lifetime:
        return RestartReason.AGE
    if context.usage.memory_bytes > limits.soft_memory_limit and now - context.start_time >= FREES_MEMORY_WITHIN:
        return RestartReason.MEMORY
    if context.error_count - context.errors_at_start > limits.most_errors:
        return RestartReason.ERRORS
    if silence > limits.stale_after and not context.is_paused:
        return RestartReason.UNCHECKED
    return None


def restarted(context: ScraperContext, now: datetime) -> ScraperContext:
    """Return the context after it started anew; when it was last checked stays as it is."""
    return msgspec.structs.replace(
        context, start_time=now, errors_at_start=context.error_count, restarts=context.restarts + 1, usage=NO_USAGE
    )
