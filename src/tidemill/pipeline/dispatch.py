"""Dispatch: which targets are due, how many of them fit, and in what order they go."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

import msgspec

from tidemill.core.admission import Admission, Backoff, QueueLimits, Rejection, admit, backoff_after, remaining_pause
from tidemill.core.job import Urgency
from tidemill.core.policy import Policy
from tidemill.core.run import Trigger
from tidemill.core.schedules import Adaptive, adapted_interval, next_due, parse_schedule, with_jitter
from tidemill.core.source import Source, priority_score
from tidemill.core.target import UNCHANGED, Target, TargetStatus
from tidemill.core.vertical import Vertical, fetcher_for
from tidemill.pipeline.happenings import Announce, EnqueueRejected, RunOpened
from tidemill.pipeline.ports import Clock, Dice

RANK_STEP = 1_000_000
JITTER = timedelta(seconds=60)


class DueTarget(msgspec.Struct, frozen=True):
    """A target that is due, with its source."""

    source: Source
    target: Target


class JobPlan(msgspec.Struct, frozen=True):
    """A job to create: its target, the due time that makes it unique, and its rank in the queue."""

    target: Target
    due_at: datetime
    rank: int
    priority: int
    next_due_at: datetime | None = None
    adapted_seconds: int | None = None
    lane: str = ""


class RunPlan(msgspec.Struct, frozen=True):
    """A run to create with its jobs, for a source or one scope of it."""

    source: Source
    trigger: Trigger
    adapter_version: str
    jobs: Sequence[JobPlan]
    scope: str = ""


class OpenedRun(msgspec.Struct, frozen=True):
    """A run that was created, and its number of jobs."""

    run_id: int
    source_id: int
    trigger: Trigger
    jobs: int


class DueTargets(Protocol):
    """Dispatch's port to the ledger."""

    async def due(self, now: datetime, limit: int) -> list[DueTarget]:
        """Return targets that are due: source enabled, vertical known, breaker closed, no job open."""
        ...

    async def pending(self) -> tuple[Mapping[str, int], int]:
        """Return the number of waiting jobs per adapter and in all."""
        ...

    async def disabled_adapters(self) -> frozenset[str]:
        """Return the adapters that drift detection or a person switched off."""
        ...

    async def open(self, plans: Sequence[RunPlan], now: datetime) -> list[OpenedRun]:
        """Write runs and jobs in one transaction; a target is never enqueued twice for one due time."""
        ...

    async def backoff(self) -> Backoff:
        """Return the current backoff of scheduling."""
        ...

    async def set_backoff(self, backoff: Backoff, now: datetime) -> None:
        """Store the backoff."""
        ...


class Dispatched(msgspec.Struct, frozen=True):
    """The result of a round of scheduling."""

    runs: int
    jobs: int
    rejected: int
    paused_for: timedelta = timedelta(0)

    @property
    def workers(self) -> int:
        """The number of workers to wake: one per 10 jobs, 10 at most."""
        return min(10, -(-self.jobs // 10))


class Dispatcher:
    """Turns due targets into runs and jobs."""

    def __init__(
        self,
        queue: DueTargets,
        verticals: Mapping[str, Vertical],
        clock: Clock,
        dice: Dice,
        announce: Announce,
        *,
        limits: QueueLimits,
        batch_size: int = 5_000,
    ) -> None:
        """`batch_size` bounds one round; what is left is due again in the next."""
        self._queue = queue
        self._verticals = verticals
        self._clock = clock
        self._dice = dice
        self._announce = announce
        self._limits = limits
        self._batch_size = batch_size

    async def dispatch(self) -> Dispatched:
        """Enqueue everything that is due and fits."""
        now = self._clock.now()
        backoff = await self._queue.backoff()
        if backoff.is_active(now):
            return Dispatched(0, 0, 0, remaining_pause(backoff, now))
        due = await self._queue.due(now, self._batch_size)
        done, answer = await self._enqueue(due, Trigger.SCHEDULED, now)
        await self._queue.set_backoff(backoff_after(backoff, answer, self._limits, now), now)
        return done

    async def enqueue(self, due: Sequence[DueTarget], trigger: Trigger) -> tuple[Dispatched, Admission]:
        """Enqueue targets that a person or a recheck asks for, under the same limits."""
        return await self._enqueue(due, trigger, self._clock.now())

    async def _enqueue(self, due: Sequence[DueTarget], trigger: Trigger, now: datetime) -> tuple[Dispatched, Admission]:
        ordered = sorted(due, key=lambda each: (-priority_score(each.source, now), each.target.id))
        admitted, answer = self._admit(ordered, *await self._queue.pending(), await self._queue.disabled_adapters())
        plans = self._plan(admitted, trigger, now)
        opened = await self._queue.open(plans, now) if plans else []
        names = {each.source.id: each.source.name for each in due}
        for run in opened:
            name = names.get(run.source_id, "")
            self._announce(RunOpened(now, run.run_id, run.source_id, run.trigger, run.jobs, name))
        if answer.rejected and answer.reason and answer.retry_after:
            seconds = answer.retry_after.total_seconds()
            self._announce(EnqueueRejected(now, answer.reason, answer.rejected, seconds))
        return Dispatched(len(opened), sum(run.jobs for run in opened), answer.rejected), answer

    def _admit(
        self, ordered: Sequence[DueTarget], pending: Mapping[str, int], total: int, disabled: frozenset[str]
    ) -> tuple[list[DueTarget], Admission]:
        """Admit targets in order while both limits hold, and report why the rest is rejected and when to retry."""
        waiting = dict(pending)
        admitted: list[DueTarget] = []
        refused: list[Rejection] = []
        for each in ordered:
            adapter = each.target.adapter_id
            if each.source.vertical not in self._verticals:
                refused.append(Rejection.NOT_INSTALLED)
                continue
            if adapter in disabled:
                refused.append(Rejection.ADAPTER_DISABLED)
                continue
            answer = admit(1, waiting.get(adapter, 0), total, self._limits)
            if answer.reason is not None and not self._policy(each).always_admitted:
                refused.append(answer.reason)
                continue
            waiting[adapter] = waiting.get(adapter, 0) + 1
            total += 1
            admitted.append(each)
        full = refused.count(Rejection.QUEUE_FULL)
        reason = Rejection.QUEUE_FULL if full else next(iter(refused), None)
        retry_after = self._limits.retry_after if refused else None
        return admitted, Admission(len(admitted), len(refused), reason, retry_after)

    def _policy(self, due: DueTarget) -> Policy:
        return self._verticals[due.source.vertical].policy

    def _plan(self, admitted: Sequence[DueTarget], trigger: Trigger, now: datetime) -> list[RunPlan]:
        """Return one run per source and scope; broken targets, rechecked weekly, have a run of their own."""
        groups: dict[tuple[int, str, bool], list[DueTarget]] = {}
        for each in admitted:
            is_recheck = trigger is Trigger.SCHEDULED and each.target.status is TargetStatus.BROKEN
            groups.setdefault((each.source.id, each.target.scope, is_recheck), []).append(each)
        plans = []
        for (_, _, is_recheck), group in groups.items():
            plan = self._run(group, trigger, now)
            plans.append(msgspec.structs.replace(plan, trigger=Trigger.RECHECK) if is_recheck else plan)
        return plans

    def _run(self, group: Sequence[DueTarget], trigger: Trigger, now: datetime) -> RunPlan:
        source = group[0].source
        adapter = self._verticals[source.vertical].adapters.get(source.adapter_id)
        roll = self._dice.random()
        plans = [self._job(each, trigger, now, roll) for each in group]
        return RunPlan(source, trigger, adapter.version if adapter else "", plans, group[0].target.scope)

    def _job(self, due: DueTarget, trigger: Trigger, now: datetime, roll: float) -> JobPlan:
        target = due.target
        priority = round(priority_score(due.source, now)) + target.priority
        urgency = Urgency.LIVE if self._policy(due).always_admitted else Urgency.NORMAL
        rank = urgency.rank * RANK_STEP - priority
        if trigger is not Trigger.SCHEDULED:
            return JobPlan(target, now, rank, priority, lane=self._lane(due))
        following, interval = self._next_due(due, now, roll)
        return JobPlan(target, target.next_due_at or now, rank, priority, following, interval, self._lane(due))

    def _lane(self, due: DueTarget) -> str:
        adapter = self._verticals[due.source.vertical].adapters.get(due.target.adapter_id)
        return fetcher_for(due.source, adapter).value

    def _next_due(self, due: DueTarget, now: datetime, roll: float) -> tuple[datetime, int | None]:
        """Return when the target is due next, and its adapted interval if it has one.

        All targets of a source share one random delay within the minute, because only a run that
        sees all of them can be certified complete.
        """
        source, target = due.source, due.target
        policy = self._verticals[source.vertical].policy
        if target.status is TargetStatus.BROKEN:
            return now + RECHECK_EVERY, None
        schedule = parse_schedule(target.schedule or policy.schedule)
        if isinstance(schedule, Adaptive):
            known = None if target.adapted_seconds is None else timedelta(seconds=target.adapted_seconds)
            interval = adapted_interval(schedule, known, changed=target.last_status != UNCHANGED)
            return now + interval, int(interval.total_seconds())
        zone = ZoneInfo(policy.cron_zone or source.time_zone)
        moment = next_due(schedule, now, zone, policy.tiers, source.tier)
        return with_jitter(moment, roll, JITTER), None


RECHECK_EVERY = timedelta(days=7)
"""How often a broken target is tried."""
