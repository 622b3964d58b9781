"""The engine's own periodic work, with how often each is due in UTC, unless the settings say otherwise."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from tidemill.core.rhythm import Cron, Every
from tidemill.core.run import RunSummary
from tidemill.engine.ports import Waker
from tidemill.engine.ticks import Tick, Ticks
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import Announce, JobsRescued, Overdue, at_run_end
from tidemill.pipeline.ports import Clock, StoreLost
from tidemill.pipeline.repair import RepairRepository, propose_repairs

DISPATCH_GRACE = timedelta(minutes=30)
"""How long a due target may go without a job before that counts as a fault of ours."""


class RunCloser(Protocol):
    """Closes runs that a crash left open."""

    async def finished(self) -> list[int]:
        """Runs that are over but not closed."""
        ...

    async def close(self, run_id: int, now: datetime) -> RunSummary | None:
        """Close one."""
        ...


class DeadLetterQueue(Protocol):
    """Dead letters that are due for another try."""

    async def due(self, now: datetime) -> list[int]:
        """Their keys."""
        ...

    async def retry(self, dead_letter_ids: list[int], now: datetime) -> int:
        """Put their jobs back into the queue."""
        ...


class Sweeper(Protocol):
    """Finds what time has passed over."""

    async def stale(self, older_than: timedelta, now: datetime) -> int:
        """Mark jobs that waited too long."""
        ...

    async def undispatched(self, grace: timedelta, now: datetime) -> list[tuple[str, int]]:
        """Sources whose due targets got no job."""
        ...

    async def vacuum(self) -> None:
        """Tidy the database."""
        ...


@dataclass(frozen=True, slots=True)
class ChoreDependencies:
    """What the chores work with."""

    clock: Clock
    announce: Announce
    dispatcher: Dispatcher
    may_rescue: Callable[[], bool]
    rescue: Callable[[datetime], Awaitable[Sequence[JobsRescued]]]
    runs: RunCloser
    dead_letters: DeadLetterQueue
    sweeps: Sweeper
    repairs: RepairRepository
    compact: Callable[[datetime], Awaitable[str]]
    prune: Callable[[datetime], Awaitable[str]]
    overbooked: Callable[[], Awaitable[list[tuple[str, str]]]]
    ask_degraded: Callable[[], Awaitable[Sequence[str]]]
    stop_orphans: Callable[[], Awaitable[int]]
    waker: Waker
    stale_after: timedelta
    alert_backoff: timedelta = timedelta(minutes=30)


def every(**interval: float) -> Every:
    """Work that is due again and again: `every(minutes=5)`."""
    return Every(timedelta(**interval))


def engine_ticks(uses: ChoreDependencies) -> list[Tick]:
    """The engine's own periodic work, but for `proof`, which looks at all of it."""
    return [
        Tick("dispatch", every(minutes=1), lambda: dispatch(uses)),
        Tick("rescue", every(seconds=15), lambda: rescue(uses)),
        Tick("close_runs", every(minutes=1), lambda: close_runs(uses)),
        Tick("services", every(minutes=1), lambda: look_again(uses)),
        Tick("retry_letters", every(minutes=5), lambda: retry_letters(uses)),
        Tick("stale_jobs", every(hours=1), lambda: sweep_stale(uses)),
        Tick("propose_repairs", every(minutes=15),
             lambda: propose_repairs(uses.repairs, uses.announce, uses.clock.now())),
        Tick("compact_pages", every(hours=1), lambda: uses.compact(uses.clock.now())),
        Tick("maintenance", Cron("0 3 * * *"), lambda: maintain(uses)),
    ]  # fmt: skip


def proof_tick(ticks: Ticks, uses: ChoreDependencies) -> Tick:
    """The tick that compares the schedule with what happened, itself included."""
    return Tick("proof", every(minutes=5), lambda: prove(ticks, uses))


async def dispatch(uses: ChoreDependencies) -> str:
    """Enqueue what is due, and wake workers for it."""
    done = await uses.dispatcher.dispatch()
    uses.waker.wake(done.workers)
    if done.paused_for > uses.alert_backoff:
        words = f"scheduling is paused for {done.paused_for} more: the queue has been full for several rounds"
        uses.announce(Overdue(uses.clock.now(), "schedule", words))
    if done.paused_for:
        return f"paused for {done.paused_for} more: the queue was full"
    return f"{done.jobs} jobs in {done.runs} runs, {done.rejected} turned away"


async def rescue(uses: ChoreDependencies) -> str:
    """Free the jobs of dead workers, unless silence may have other reasons than death."""
    if not uses.may_rescue():
        return "put off: the database or the clock was away, and every worker gets the time to be seen again"
    freed = await uses.rescue(uses.clock.now())
    for each in freed:
        uses.announce(each)
    uses.waker.wake(sum(each.jobs for each in freed))
    return f"{sum(each.jobs for each in freed)} jobs of {len(freed)} workers"


async def close_runs(uses: ChoreDependencies) -> str:
    """Close the runs that a crash left between their last job and their summary; one that cannot be stops no other."""
    closed = 0
    stuck: dict[int, Exception] = {}
    for run_id in await uses.runs.finished():
        try:
            summary = await uses.runs.close(run_id, uses.clock.now())
        except StoreLost:
            raise
        except Exception as error:  # noqa: BLE001 - what spoils one run is told when the others are closed
            stuck[run_id] = error
            continue
        if summary is not None:
            for told in at_run_end(summary, uses.clock.now()):
                uses.announce(told)
            closed += 1
    if stuck:
        raise StuckRunsError(stuck, closed)
    return f"{closed} runs"


class StuckRunsError(Exception):
    """Runs whose jobs are over and that cannot be closed."""

    def __init__(self, stuck: Mapping[int, Exception], closed: int) -> None:
        """Say which, how many went well, and what the first one's trouble is."""
        first, trouble = next(iter(stuck.items()))
        runs = ", ".join(map(str, stuck))
        super().__init__(f"{closed} runs closed; not closed: {runs}. Run {first}: {type(trouble).__name__}: {trouble}")


async def look_again(uses: ChoreDependencies) -> str:
    """Ask the services that are degraded whether they answer again."""
    back = await uses.ask_degraded()
    stopped = await uses.stop_orphans()
    return f"back: {', '.join(back) or 'none'}; {stopped} orphaned actor runs stopped"


async def retry_letters(uses: ChoreDependencies) -> str:
    """Try dead letters again whose time has come."""
    retried = await uses.dead_letters.retry(await uses.dead_letters.due(uses.clock.now()), uses.clock.now())
    uses.waker.wake(retried)
    return f"{retried} letters"


async def sweep_stale(uses: ChoreDependencies) -> str:
    """Mark jobs that waited for over a day."""
    stale = await uses.sweeps.stale(uses.stale_after, uses.clock.now())
    if stale:
        uses.announce(Overdue(uses.clock.now(), "jobs", f"{stale} jobs waited for over {uses.stale_after}"))
    return f"{stale} jobs"


async def maintain(uses: ChoreDependencies) -> str:
    """Prune by retention and tidy the database."""
    pruned = await uses.prune(uses.clock.now())
    await uses.sweeps.vacuum()
    return pruned


async def prove(ticks: Ticks, uses: ChoreDependencies) -> str:
    """Compare what should have happened with what did, and say so."""
    now = uses.clock.now()
    late = await ticks.overdue()
    missed = await uses.sweeps.undispatched(DISPATCH_GRACE, now)
    for name, detail in late:
        uses.announce(Overdue(now, f"tick {name}", detail))
    crowded = await uses.overbooked()
    for name, count in missed:
        uses.announce(Overdue(now, f"source {name}", f"{count} targets are due and got no job"))
    for host, detail in crowded:
        uses.announce(Overdue(now, f"host {host}", detail))
    return f"{len(late)} ticks late, {len(missed)} sources undispatched, {len(crowded)} hosts crowded"
