"""How the system stands as a whole: healthy, degraded or down, why, and what waits for a person."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

import msgspec

from tidemill.core.dead_letter import ALERT_ABOVE
from tidemill.core.health.sources import TROUBLED, SourceStanding
from tidemill.core.services.degradation import ServiceState, ServiceStatus

ERRORS_A_MINUTE = 5
ERROR_SHARE = 0.1
"""So many errors in a minute count as degraded, if they are also over a tenth of all attempts."""
MAX_NAMES_LISTED = 5
"""How many sources a reason names; the rest is counted."""


_VERBS = {SourceStanding.FAILING: ("fails", "fail"), SourceStanding.BARREN: ("yields nothing", "yield nothing")}


class Grade(StrEnum):
    """What an operator is told first."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DOWN = "down"


def is_working(seen_at: datetime, ended_at: datetime | None, now: datetime, lease: timedelta) -> bool:
    """Return whether a worker still holds its leases."""
    return ended_at is None and now - seen_at <= lease


LOST_TOLD = timedelta(minutes=5)
"""So long a worker that vanished is told of, unless one takes its place."""


class SeenWorker(Protocol):
    """As much of a worker as tells whether it was lost."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def place(self) -> str:
        """What whoever takes its place is called."""
        ...

    @property
    def seen_at(self) -> datetime:
        """When its last heartbeat came."""
        ...

    @property
    def ended_at(self) -> datetime | None:
        """When it signed off or was given up."""
        ...

    @property
    def lanes(self) -> str | None:
        """Whose jobs it takes; '' for a process that takes none, such as one for the schedule alone."""
        ...


Worker = TypeVar("Worker", bound=SeenWorker)


def working_takers(workers: Sequence[Worker], now: datetime, lease: timedelta) -> list[Worker]:
    """Return the workers that take jobs and still hold their leases."""
    return [each for each in workers if each.lanes != "" and is_working(each.seen_at, each.ended_at, now, lease)]


def lost_workers(workers: Sequence[SeenWorker], now: datetime, lease: timedelta) -> list[str]:
    """Return a line for each worker that stopped being seen without a word, and that none has replaced."""
    latest = {each.place: each for each in sorted(workers, key=lambda each: each.seen_at)}
    return [
        f"worker {each.name} has not been seen since {each.seen_at:%Y-%m-%d %H:%M:%S} UTC; others take on what it held"
        for each in latest.values()
        if now - each.seen_at <= LOST_TOLD and (each.ended_at or now) - each.seen_at > lease
    ]


class NamedStanding(msgspec.Struct, frozen=True):
    """A source's name with how it stands."""

    name: str
    standing: SourceStanding
    reason: str = ""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """What waits for a person, counted; `calls` are letters that no retry will mend, such as DNS and TLS trouble."""

    dead_letters: int = 0
    calls: int = 0
    quarantined: int = 0
    candidates: int = 0
    proposals: int = 0
    fetcher_suggestions: int = 0
    incidents: int = 0
    stale_jobs: int = 0

    @property
    def total(self) -> int:
        """Return how many things wait; a call is one of the dead letters."""
        counts = (int(getattr(self, name)) for name in WAITING_WORDS)
        return sum(counts) - self.calls


WAITING_WORDS: Mapping[str, tuple[str, str, str]] = {
    "dead_letters": ("dead letter", "dead letters", "tidemill dlq list"),
    "calls": ("letter that no retry will mend", "letters that no retry will mend", "tidemill dlq list"),
    "quarantined": ("record set aside", "records set aside", "tidemill quarantine list"),
    "candidates": ("discovered site to review", "discovered sites to review", "tidemill candidates list"),
    "proposals": ("proposed selector change", "proposed selector changes", "tidemill proposals list"),
    "fetcher_suggestions": ("suggested fetcher", "suggested fetchers", "tidemill sources upgrades"),
    "incidents": ("open incident", "open incidents", "tidemill incidents list"),
    "stale_jobs": ("job that waited too long", "jobs that waited too long", "tidemill runs requeue-stale"),
}
"""What each count of `Waiting` is called, one and many, and the command that shows them."""


class SystemFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that the system is graded by; `workers_lost`, `overdue` and `services` are sentences."""

    database_error: str = ""
    replica: str = ""
    workers_alive: int = 0
    workers_lost: Sequence[str] = ()
    sources: Sequence[NamedStanding] = ()
    open_breakers: Sequence[str] = ()
    overdue: Sequence[str] = ()
    services: Sequence[str] = ()
    errors_last_minute: int = 0
    pages_last_minute: int = 0
    waiting: Waiting = Waiting()


def system_grade(facts: SystemFacts) -> tuple[Grade, list[str]]:
    """Return the grade, and every reason for it in words."""
    if facts.database_error:
        return Grade.DOWN, [facts.database_error]
    fatal = [] if facts.workers_alive else ["no worker is alive"]
    problems = [
        *source_problems(facts.sources),
        *_breaker_problems(facts.open_breakers),
        *([facts.replica] if facts.replica else []),
        *facts.workers_lost,
        *facts.overdue,
        *_error_problems(facts),
        *facts.services,
        *letter_problems(facts.waiting),
    ]
    if fatal:
        return Grade.DOWN, fatal + problems
    return (Grade.DEGRADED if problems else Grade.HEALTHY), problems


def service_sentence(status: ServiceStatus) -> str:
    """Return a line about a degraded service: since when, why, and its fallback; '' for one that is not."""
    if status.state is not ServiceState.DEGRADED or status.since is None:
        return ""
    because = f" ({status.reason})" if status.reason else ""
    return f"{status.service} is degraded since {status.since:%Y-%m-%d %H:%M} UTC{because}; {status.fallback}"


def source_problems(sources: Sequence[NamedStanding]) -> list[str]:
    """Return what is wrong with the sources: nothing is asked at all, or some do not give what they should."""
    off = [each.name for each in sources if each.standing is SourceStanding.OFF]
    held = [each for each in sources if each.standing is SourceStanding.HELD_BACK]
    found = []
    if sources and len(off) == len(sources):
        found.append("every source is switched off: nothing is scraped")
    elif sources and len(off) + len(held) == len(sources):
        found.append(f"every source that is on is held back: nothing is scraped ({held[0].name}: {held[0].reason})")
    for standing in sorted(TROUBLED):
        if names := [each.name for each in sources if each.standing is standing]:
            one, many = _VERBS[standing]
            count = f"{len(names)} source{'s' if len(names) > 1 else ''}"
            found.append(f"{count} {many if len(names) > 1 else one}: {listed(names)}")
    return found


def letter_problems(waiting: Waiting) -> list[str]:
    """Return what is wrong with the dead letters: too many, or some that no retry will mend."""
    found = []
    if waiting.dead_letters > ALERT_ABOVE:
        found.append(f"{waiting.dead_letters} dead letters wait, more than {ALERT_ABOVE}: see `tidemill dlq list`")
    if waiting.calls:
        verb = "s need" if waiting.calls > 1 else " needs"
        found.append(f"{waiting.calls} dead letter{verb} a person: no retry will mend them, see `tidemill dlq list`")
    return found


def waiting_lines(waiting: Waiting) -> list[str]:
    """Return a line for everything that waits for a person, with the command that shows it."""
    return [
        f"{count} {one if count == 1 else many}: `{command}`"
        for name, (one, many, command) in WAITING_WORDS.items()
        if (count := getattr(waiting, name))
    ]


def listed(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(names) - MAX_NAMES_LISTED
    return ", ".join(names[:MAX_NAMES_LISTED]) + (f" and {more} more" if more > 0 else "")


def _breaker_problems(names: Sequence[str]) -> list[str]:
    return [f"{len(names)} breaker{'s are' if len(names) > 1 else ' is'} open: {listed(names)}"] if names else []


def _error_problems(facts: SystemFacts) -> Iterable[str]:
    errors, tried = facts.errors_last_minute, facts.pages_last_minute + facts.errors_last_minute
    if errors < ERRORS_A_MINUTE or errors <= ERROR_SHARE * tried:
        return []
    return [f"{errors} errors in the last minute"]
