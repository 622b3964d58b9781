"""Doctor: checks everything that the system needs, and says how to fix what is wrong."""

import importlib.util
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from tidemill.core.dead_letter import ALERT_ABOVE
from tidemill.core.health.overdue import missed_targets, silence_sentence
from tidemill.core.health.system import (
    NamedStanding,
    Waiting,
    letter_problems,
    lost_workers,
    service_sentence,
    source_problems,
    waiting_lines,
    working_takers,
)
from tidemill.core.schedules import format_duration
from tidemill.core.services.degradation import ServiceStatus
from tidemill.core.views import SourceView, Totals, WorkerView
from tidemill.operations.why.explanation import format_moment
from tidemill.pipeline.ports import Clock, StoreError
from tidemill.store.database.migrate import ChainStatus
from tidemill.store.database.ping import DatabaseHealth, DatabasePing
from tidemill.store.views.views import Views

LITTLE_SPACE = 1_000_000_000
"""Bytes of free disk space under which a person is warned."""
NO_SPACE = 100_000_000
"""Bytes of free disk space under which writes will soon fail."""
MAX_CLOCK_SKEW = timedelta(seconds=30)
"""The largest difference between two clocks that is tolerated."""
EARLIEST_TIME = datetime(2026, 1, 1, tzinfo=UTC)
"""An earlier time means that the clock is wrong: this program did not exist then."""
FULL_QUEUE = 0.8

EXTRAS = {
    "uvloop": "a faster event loop",
    "asyncpg": "PostgreSQL",
    "aiodns": "faster name lookups",
    "brotli": "pages packed with Brotli",
}
"""Optional packages, and what each is for."""

Level = Literal["ok", "warning", "failure"]


class DoctorCheck(msgspec.Struct, frozen=True):
    """One check; `remedy` says how to fix a warning or failure."""

    name: str
    level: Level
    detail: str
    remedy: str = ""


class Doctor:
    """Runs checks and changes nothing."""

    def __init__(
        self,
        ping: DatabasePing,
        views: Views,
        overdue: Callable[[], Awaitable[list[tuple[str, str]]]],
        folders: Sequence[Path],
        max_pending: int,
        clock: Clock,
        *,
        overbooked: Callable[[], Awaitable[list[tuple[str, str]]]],
        not_installed: Callable[[], Awaitable[list[tuple[str, int]]]],
        services: Callable[[], Awaitable[Sequence[ServiceStatus]]],
        missed: Callable[[], Awaitable[Sequence[tuple[str, int]]]],
        lease: timedelta,
    ) -> None:
        """`overdue` lists silent periodic work, `overbooked` hosts with too many targets; `folders` are written to.

        `not_installed` lists verticals that sources belong to and that no installed package brings, `services` how
        those outside of us stand, `missed` sources whose due targets got no job. A worker unseen for `lease` is dead.
        """
        self._ping = ping
        self._views = views
        self._overdue = overdue
        self._folders = folders
        self._max_pending = max_pending
        self._clock = clock
        self._overbooked = overbooked
        self._not_installed = not_installed
        self._services = services
        self._missed = missed
        self._lease = lease

    async def examine(self) -> list[DoctorCheck]:
        """Run every check; those that need tables are left out when there are none."""
        checks = [*map(disk_check, self._folders), python_check(), *extra_checks()]
        try:
            health = await self._ping.check()
        except StoreError as trouble:
            return [DoctorCheck("database", "failure", str(trouble), "check --database or TIDEMILL_DATABASE"), *checks]
        checks = [database_check(health), clock_check(self._clock.now(), health.time, []), *checks]
        checks[1:1] = map(plugin_check, health.plugins)
        if not health.is_current:
            return checks
        return [*checks, *await self._check_work()]

    async def _check_work(self) -> list[DoctorCheck]:
        totals, workers = await self._views.counts(), await self._views.workers()
        seen = [worker.seen_at for worker in workers]
        late = clock_check(self._clock.now(), None, seen)
        overdue = await self._overdue()
        silence = silence_sentence(len(overdue), workers, self._clock.now(), self._lease)
        return [
            *([late] if late.level != "ok" else []),
            *tick_checks(overdue, silence),
            *(overbooked_host(*each) for each in await self._overbooked()),
            *(not_installed(*each) for each in await self._not_installed()),
            *work_checks(totals, self._max_pending),
            workers_check(workers, self._clock.now(), self._lease),
            *map(missed_check, await self._missed()),
            *service_checks(await self._services()),
            *sources_checks(await self._views.sources(self._clock.now())),
            *waiting_checks(await self._views.waiting()),
        ]


def database_check(health: DatabaseHealth) -> DoctorCheck:
    """Check that the tables are those of this version."""
    if health.stands_at == health.needs:
        return DoctorCheck("database", "ok", f"{health.kind} answers, tables at step {health.needs}")
    words = f"tables at step {health.stands_at or 'none'}, this version needs {health.needs}"
    return DoctorCheck("database", "failure", words, "run `tidemill migrate`")


def plugin_check(status: ChainStatus) -> DoctorCheck:
    """Check that the tables of an installed vertical are those of its version."""
    name, stands_at = f"tables of {status.vertical}", f"at step {status.stands_at or 'none'}"
    if status.needs is None:
        words = f"{stands_at}, and no installed package brings this vertical; they stay as they are"
        return DoctorCheck(name, "warning", words, "install its package again, or leave them")
    if status.stands_at == status.needs:
        return DoctorCheck(name, "ok", stands_at)
    return DoctorCheck(name, "failure", f"{stands_at}, its package needs {status.needs}", "run `tidemill migrate`")


def not_installed(vertical: str, count: int) -> DoctorCheck:
    """Return the check of sources whose vertical is not installed."""
    words = f"{count} sources are of this vertical, and no installed package brings it; they and their jobs wait"
    return DoctorCheck(f"vertical {vertical}", "warning", words, "install its package, or remove the sources")


def disk_check(folder: Path) -> DoctorCheck:
    """Check that a folder is writable and has free space."""
    name = f"disk {folder}"
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return DoctorCheck(name, "failure", f"cannot be written: {error.strerror}", "check the rights on the folder")
    words = f"{free / 1e9:.1f} GB free"
    if free < NO_SPACE:
        return DoctorCheck(name, "failure", words, "make room now: the next writes will fail")
    if free < LITTLE_SPACE:
        return DoctorCheck(name, "warning", words, "make room, or lower retention_days")
    return DoctorCheck(name, "ok", words)


def clock_check(now: datetime, database_time: datetime | None, seen: Iterable[datetime]) -> DoctorCheck:
    """Check that the clock is plausible: after this program's release, and not behind stored times."""
    if now < EARLIEST_TIME:
        return DoctorCheck("clock", "failure", f"this machine believes it is {format_moment(now)}", "set the clock")
    ahead = max((moment - now for moment in seen), default=timedelta(0))
    if ahead > MAX_CLOCK_SKEW:
        words = f"a worker was seen {format_duration(ahead)} in the future"
        return DoctorCheck("clock", "warning", words, "set the clocks of all machines, best by NTP")
    if database_time is not None and abs(database_time - now) > MAX_CLOCK_SKEW:
        words = f"differs from the database's by {format_duration(abs(database_time - now))}"
        return DoctorCheck("clock", "warning", words, "set the clocks of all machines, best by NTP")
    return DoctorCheck("clock", "ok", format_moment(now))


def python_check() -> DoctorCheck:
    """Check the Python version."""
    return DoctorCheck("python", "ok", sys.version.split()[0])


def extra_checks() -> list[DoctorCheck]:
    """Check for optional packages that are missing."""
    missing = [name for name in EXTRAS if importlib.util.find_spec(name) is None]
    if not missing:
        return [DoctorCheck("extras", "ok", ", ".join(EXTRAS))]
    return [
        DoctorCheck("extras", "warning", f"{name} is missing: {EXTRAS[name]}", f"pip install {name}")
        for name in missing
    ]


def overbooked_host(host: str, words: str) -> DoctorCheck:
    """Return the check of a host whose pace is too slow for its targets."""
    return DoctorCheck(f"host {host}", "warning", words, "scrape it less often, or drop some of its targets")


def tick_checks(overdue: Sequence[tuple[str, str]], silence: str = "") -> list[DoctorCheck]:
    """Return a check for each overdue chore; one for all of them if no process runs, as `silence` then says."""
    if not overdue:
        return [DoctorCheck("ticks", "ok", "no periodic work is overdue")]
    if silence:
        return [DoctorCheck("ticks", "warning", silence, "start one with `tidemill up`")]
    return [
        DoctorCheck(f"tick {name}", "warning", detail, f"see `tidemill tick`, do it by `tidemill tick {name}`")
        for name, detail in overdue
    ]


def work_checks(totals: Totals, max_pending: int) -> list[DoctorCheck]:
    """Check the queue, the dead letters and the breakers."""
    waiting = totals.jobs.get("ready", 0) + totals.jobs.get("waiting", 0)
    full = waiting >= FULL_QUEUE * max_pending
    queue = DoctorCheck("queue", "warning" if full else "ok", f"{waiting} of at most {max_pending} jobs wait",
                  "start more workers, or raise max_pending" if full else "")  # fmt: skip
    pending = totals.dead_letters.get("pending", 0)
    dead_letters = DoctorCheck("dead letters", "ok", f"{pending} pending")
    opened = totals.breakers.get("OPEN", 0)
    breakers = DoctorCheck("breakers", "warning" if opened else "ok", f"{opened} of {totals.sources} sources barred",
                     "see `tidemill breaker list`" if opened else "")  # fmt: skip
    return [queue, *([dead_letters] if pending <= ALERT_ABOVE else []), breakers]


def workers_check(workers: Sequence[WorkerView], now: datetime, lease: timedelta) -> DoctorCheck:
    """Check that workers are alive."""
    alive = working_takers(workers, now, lease)
    words = f"{len(alive)} at work, {sum(worker.jobs for worker in alive)} jobs in hand"
    if not alive:
        return DoctorCheck("workers", "warning", "no worker is alive", "start one with `tidemill up`")
    if lost := lost_workers(workers, now, lease):
        return DoctorCheck("workers", "warning", f"{words}; {lost[0]}", "see the log of that machine")
    return DoctorCheck("workers", "ok", words)


def missed_check(missed: tuple[str, int]) -> DoctorCheck:
    """Return the check of a source whose due targets got no job."""
    name, count = missed
    return DoctorCheck(f"source {name}", "warning", missed_targets(count), f"see `tidemill why source:{name}`")


def service_checks(services: Sequence[ServiceStatus]) -> list[DoctorCheck]:
    """Return a check for each outside service that is degraded."""
    found = [(each, words) for each in services if (words := service_sentence(each))]
    return [
        DoctorCheck(f"service {each.service}", "warning", words, "see `/health`; it is tried again by itself")
        for each, words in found
    ]


def sources_checks(sources: Sequence[SourceView]) -> list[DoctorCheck]:
    """Check that sources are asked and give what they should."""
    named = [NamedStanding(each.name, each.standing, each.standing_reason) for each in sources]
    remedy = "see `tidemill sources list`, then `tidemill why source:NAME`"
    if problems := source_problems(named):
        return [DoctorCheck("sources", "warning", words, remedy) for words in problems]
    if not sources:
        return [DoctorCheck("sources", "ok", "none yet", "add one with `tidemill sources add` or `sources import`")]
    counts = Counter(each.standing.value for each in sources)
    return [DoctorCheck("sources", "ok", ", ".join(f"{count} {standing}" for standing, count in counts.items()))]


def waiting_checks(waiting: Waiting) -> list[DoctorCheck]:
    """Say what waits for a person; only what cannot wait is a warning."""
    called = [
        DoctorCheck("dead letters", "warning", words, "see `tidemill dlq list`") for words in letter_problems(waiting)
    ]
    if not waiting.total:
        return called
    return [*called, DoctorCheck("waiting for a person", "ok", "; ".join(waiting_lines(waiting)))]
