"""The one list of periodic work: every engine runs these, at these times, unless the settings say otherwise."""

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

RHYTHMS: dict[str, Every | Cron] = {
    "dispatch": Every(timedelta(minutes=1)),
    "rescue": Every(timedelta(seconds=15)),
    "close_runs": Every(timedelta(minutes=1)),
    "services": Every(timedelta(minutes=1)),
    "enrich": Every(timedelta(minutes=1)),
    "notices": Every(timedelta(minutes=1)),
    "retry_letters": Every(timedelta(minutes=5)),
    "proof": Every(timedelta(minutes=5)),
    "stale_jobs": Every(timedelta(hours=1)),
    "publish_events": Every(timedelta(minutes=5)),
    "propose_repairs": Every(timedelta(minutes=15)),
    "compact_pages": Every(timedelta(hours=1)),
    "maintenance": Cron("0 3 * * *"),
    "discover": Cron("0 3 * * 0"),
}
"""How often each piece of work is due, in UTC."""

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
class Hands:
    """What the chores work with."""

    clock: Clock
    announce: Announce
    dispatcher: Dispatcher
    rescue: Callable[[datetime], Awaitable[Sequence[JobsRescued]]]
    runs: RunCloser
    dead_letters: DeadLetterQueue
    sweeps: Sweeper
    publish: Callable[[datetime], Awaitable[int]]
    repairs: RepairRepository
    compact: Callable[[datetime], Awaitable[str]]
    prune: Callable[[datetime], Awaitable[str]]
    overbooked: Callable[[], Awaitable[list[tuple[str, str]]]]
    ask_degraded: Callable[[], Awaitable[Sequence[str]]]
    stop_orphans: Callable[[], Awaitable[int]]
    notify: Callable[[], Awaitable[str]]
    waker: Waker
    stale_after: timedelta
    alert_backoff: timedelta = timedelta(minutes=30)


def periodic_work(hands: Hands, rhythms: Mapping[str, Every | Cron] = RHYTHMS) -> list[Tick]:
    """The list; `proof` is added by `with_proof`, because it looks at the others."""
    chores = {
        "dispatch": lambda: dispatch(hands),
        "rescue": lambda: rescue(hands),
        "close_runs": lambda: close_runs(hands),
        "services": lambda: look_again(hands),
        "notices": hands.notify,
        "retry_letters": lambda: retry_letters(hands),
        "stale_jobs": lambda: sweep_stale(hands),
        "publish_events": lambda: publish(hands),
        "propose_repairs": lambda: propose_repairs(hands.repairs, hands.announce, hands.clock.now()),
        "compact_pages": lambda: hands.compact(hands.clock.now()),
        "maintenance": lambda: maintain(hands),
    }
    return [Tick(name, rhythms[name], chore) for name, chore in chores.items()]


def with_proof(ticks: Ticks, hands: Hands, rhythm: Every | Cron = RHYTHMS["proof"]) -> None:
    """Add the tick that compares the schedule with what happened, itself included."""
    ticks.all["proof"] = Tick("proof", rhythm, lambda: prove(ticks, hands))


async def dispatch(hands: Hands) -> str:
    """Enqueue what is due, and wake workers for it."""
    done = await hands.dispatcher.dispatch()
    hands.waker.wake(done.workers)
    if done.paused_for > hands.alert_backoff:
        words = f"scheduling is paused for {done.paused_for} more: the queue has been full for several rounds"
        hands.announce(Overdue(hands.clock.now(), "schedule", words))
    if done.paused_for:
        return f"paused for {done.paused_for} more: the queue was full"
    return f"{done.jobs} jobs in {done.runs} runs, {done.rejected} turned away"


async def rescue(hands: Hands) -> str:
    """Free the jobs of dead workers."""
    freed = await hands.rescue(hands.clock.now())
    for each in freed:
        hands.announce(each)
    hands.waker.wake(sum(each.jobs for each in freed))
    return f"{sum(each.jobs for each in freed)} jobs of {len(freed)} workers"


async def close_runs(hands: Hands) -> str:
    """Close the runs that a crash left between their last job and their summary; one that cannot be stops no other."""
    closed = 0
    stuck: dict[int, Exception] = {}
    for run_id in await hands.runs.finished():
        try:
            summary = await hands.runs.close(run_id, hands.clock.now())
        except StoreLost:
            raise
        except Exception as error:  # noqa: BLE001 - what spoils one run is told when the others are closed
            stuck[run_id] = error
            continue
        if summary is not None:
            for told in at_run_end(summary, hands.clock.now()):
                hands.announce(told)
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


async def look_again(hands: Hands) -> str:
    """Ask the services that are degraded whether they answer again."""
    back = await hands.ask_degraded()
    stopped = await hands.stop_orphans()
    return f"back: {', '.join(back) or 'none'}; {stopped} orphaned actor runs stopped"


async def retry_letters(hands: Hands) -> str:
    """Try dead letters again whose time has come."""
    retried = await hands.dead_letters.retry(await hands.dead_letters.due(hands.clock.now()), hands.clock.now())
    hands.waker.wake(retried)
    return f"{retried} letters"


async def sweep_stale(hands: Hands) -> str:
    """Mark jobs that waited for over a day."""
    stale = await hands.sweeps.stale(hands.stale_after, hands.clock.now())
    if stale:
        hands.announce(Overdue(hands.clock.now(), "jobs", f"{stale} jobs waited for over {hands.stale_after}"))
    return f"{stale} jobs"


async def publish(hands: Hands) -> str:
    """Make cards for readers of the events that have changed, one for all sources of an event."""
    return f"{await hands.publish(hands.clock.now())} events"


async def maintain(hands: Hands) -> str:
    """Prune by retention and tidy the database."""
    pruned = await hands.prune(hands.clock.now())
    await hands.sweeps.vacuum()
    return pruned


async def prove(ticks: Ticks, hands: Hands) -> str:
    """Compare what should have happened with what did, and say so."""
    now = hands.clock.now()
    late = await ticks.overdue()
    missed = await hands.sweeps.undispatched(DISPATCH_GRACE, now)
    for name, detail in late:
        hands.announce(Overdue(now, f"tick {name}", detail))
    crowded = await hands.overbooked()
    for name, count in missed:
        hands.announce(Overdue(now, f"source {name}", f"{count} targets are due and got no job"))
    for host, detail in crowded:
        hands.announce(Overdue(now, f"host {host}", detail))
    return f"{len(late)} ticks late, {len(missed)} sources undispatched, {len(crowded)} hosts crowded"
