"""The engine's own chores, with their default schedules in UTC."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from tidemill.core.health.overdue import missed_targets
from tidemill.core.run import RunSummary
from tidemill.core.schedules import Cron, Every, format_duration
from tidemill.engine.periodic import Chore, ChoreRunner
from tidemill.engine.ports import Waker
from tidemill.pipeline.dispatch import Dispatcher, OpenedRun
from tidemill.pipeline.happenings import Announce, JobDead, JobsRescued, JobsStale, Overdue, happenings_at_run_end
from tidemill.pipeline.ports import Clock, StoreLost
from tidemill.pipeline.reader_functions.function import FunctionReaders

DISPATCH_GRACE = timedelta(minutes=30)
"""How long a due target may go without a job before that is reported."""


class RunCloser(Protocol):
    """Closes runs that a crash left open."""

    async def finished(self) -> list[int]:
        """Return runs whose jobs have ended but which are not closed."""
        ...

    async def close(self, run_id: int, now: datetime) -> RunSummary | None:
        """Close a run and return its summary; None if it was closed already."""
        ...


class DeadLetterQueue(Protocol):
    """Dead letters that are due for another try."""

    async def due(self, now: datetime) -> list[int]:
        """Return the keys of dead letters that are due."""
        ...

    async def retry(self, dead_letter_ids: list[int], now: datetime) -> list[OpenedRun]:
        """Enqueue their jobs again and return their new runs."""
        ...


class Sweeper(Protocol):
    """Finds work that was left behind, and maintains the database."""

    async def stale(self, older_than: timedelta, now: datetime) -> Mapping[tuple[int, str], int]:
        """Mark jobs that waited too long and return how many, by source and adapter."""
        ...

    async def undispatched(self, grace: timedelta, now: datetime) -> list[tuple[str, int]]:
        """Return sources whose due targets got no job, and how many targets."""
        ...

    async def vacuum(self) -> None:
        """Vacuum the database."""
        ...


@dataclass(frozen=True, slots=True)
class ChoreDependencies:
    """The dependencies of the engine's chores."""

    clock: Clock
    announce: Announce
    dispatcher: Dispatcher
    may_rescue: Callable[[], bool]
    rescue: Callable[[datetime], Awaitable[Sequence[JobsRescued | JobDead]]]
    runs: RunCloser
    dead_letters: DeadLetterQueue
    sweeps: Sweeper
    readers: FunctionReaders
    compact: Callable[[datetime], Awaitable[str]]
    prune: Callable[[datetime], Awaitable[str]]
    overbooked: Callable[[], Awaitable[list[tuple[str, str]]]]
    probe_degraded: Callable[[], Awaitable[Sequence[str]]]
    stop_orphans: Callable[[], Awaitable[int]]
    waker: Waker
    stale_after: timedelta
    alert_backoff: timedelta = timedelta(minutes=30)


def every(**interval: float) -> Every:
    """Return a schedule with an interval: `every(minutes=5)`."""
    return Every(timedelta(**interval))


def engine_chores(deps: ChoreDependencies) -> list[Chore]:
    """Return the engine's own chores, without `proof`, which needs the list of all chores."""
    return [
        Chore("dispatch", every(minutes=1), lambda: dispatch(deps)),
        Chore("rescue", every(seconds=15), lambda: rescue(deps)),
        Chore("close_runs", every(minutes=1), lambda: close_runs(deps)),
        Chore("services", every(minutes=1), lambda: check_services(deps)),
        Chore("retry_letters", every(minutes=5), lambda: retry_dead_letters(deps)),
        Chore("stale_jobs", every(hours=1), lambda: mark_stale_jobs(deps)),
        Chore("compact_pages", every(hours=1), lambda: deps.compact(deps.clock.now())),
        Chore("maintenance", Cron("0 3 * * *"), lambda: maintain(deps)),
    ]  # fmt: skip


def proof_chore(runner: ChoreRunner, deps: ChoreDependencies) -> Chore:
    """Return the chore that compares the schedule with what happened, itself included."""
    return Chore("proof", every(minutes=5), lambda: report_overdue(runner, deps))


async def dispatch(deps: ChoreDependencies) -> str:
    """Enqueue due targets and wake workers for them."""
    done = await deps.dispatcher.dispatch()
    deps.waker.wake(done.workers)
    for adapter, left in done.paused.items():
        if left > deps.alert_backoff:
            words = f"its scheduling is paused for {format_duration(left)} more: its queue was full for several rounds"
            deps.announce(Overdue(deps.clock.now(), f"adapter {adapter}", words))
    paused = "".join(
        f"; {adapter} is full and paused for {format_duration(left)} more" for adapter, left in done.paused.items()
    )
    return f"{done.jobs} jobs in {done.runs} runs, {done.rejected} turned away{paused}"


async def rescue(deps: ChoreDependencies) -> str:
    """Free the jobs of dead workers, unless silence may have other reasons than death."""
    if not deps.may_rescue():
        return "put off: the database or the clock was away, and every worker gets the time to be seen again"
    freed = await deps.rescue(deps.clock.now())
    for each in freed:
        deps.announce(each)
    rescued = [each.jobs for each in freed if isinstance(each, JobsRescued)]
    deps.waker.wake(sum(rescued))
    return f"{sum(rescued)} jobs of {len(rescued)} workers"


async def close_runs(deps: ChoreDependencies) -> str:
    """Close runs that a crash left open after their last job; one that cannot be closed does not stop the others."""
    closed = 0
    stuck: dict[int, Exception] = {}
    for run_id in await deps.runs.finished():
        try:
            summary = await deps.runs.close(run_id, deps.clock.now())
        except StoreLost:
            raise
        except Exception as error:  # noqa: BLE001 - a run's error is raised when the others are closed
            stuck[run_id] = error
            continue
        if summary is not None:
            for happening in happenings_at_run_end(summary, deps.clock.now()):
                deps.announce(happening)
            closed += 1
    if stuck:
        raise StuckRunsError(stuck, closed)
    return f"{closed} runs"


class StuckRunsError(Exception):
    """Runs whose jobs have ended and that cannot be closed."""

    def __init__(self, stuck: Mapping[int, Exception], closed: int) -> None:
        """Name the runs, how many others were closed, and the first one's error."""
        first, trouble = next(iter(stuck.items()))
        runs = ", ".join(map(str, stuck))
        super().__init__(f"{closed} runs closed; not closed: {runs}. Run {first}: {type(trouble).__name__}: {trouble}")


async def check_services(deps: ChoreDependencies) -> str:
    """Probe degraded services and stop orphaned actor runs."""
    back = await deps.probe_degraded()
    stopped = await deps.stop_orphans()
    return f"back: {', '.join(back) or 'none'}; {stopped} orphaned actor runs stopped"


async def retry_dead_letters(deps: ChoreDependencies) -> str:
    """Retry the dead letters that are due."""
    opened = await deps.dead_letters.retry(await deps.dead_letters.due(deps.clock.now()), deps.clock.now())
    deps.dispatcher.announce_opened(opened)
    retried = sum(run.jobs for run in opened)
    deps.waker.wake(retried)
    return f"{retried} letters"


async def mark_stale_jobs(deps: ChoreDependencies) -> str:
    """Mark jobs that waited for over `stale_after`."""
    stale_by = await deps.sweeps.stale(deps.stale_after, deps.clock.now())
    for (source_id, adapter_id), jobs in stale_by.items():
        deps.announce(JobsStale(deps.clock.now(), source_id, jobs, adapter_id))
    stale = sum(stale_by.values())
    if stale:
        deps.announce(
            Overdue(deps.clock.now(), "jobs", f"{stale} jobs waited for over {format_duration(deps.stale_after)}")
        )
    return f"{stale} jobs"


async def maintain(deps: ChoreDependencies) -> str:
    """Prune by retention and vacuum the database."""
    pruned = await deps.prune(deps.clock.now())
    await deps.sweeps.vacuum()
    return pruned


async def report_overdue(runner: ChoreRunner, deps: ChoreDependencies) -> str:
    """Announce chores, sources and hosts that are behind their schedule."""
    now = deps.clock.now()
    late = await runner.overdue()
    missed = await deps.sweeps.undispatched(DISPATCH_GRACE, now)
    for name, detail in late:
        deps.announce(Overdue(now, f"tick {name}", detail))
    overbooked = await deps.overbooked()
    for name, count in missed:
        deps.announce(Overdue(now, f"source {name}", missed_targets(count)))
    for host, detail in overbooked:
        deps.announce(Overdue(now, f"host {host}", detail))
    return f"{len(late)} ticks late, {len(missed)} sources undispatched, {len(overbooked)} hosts crowded"
