"""Dispatch: which targets are due, how many of them fit, and in what order they go."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

import msgspec

from tidemill.core.admission import (
    Admission,
    Backoff,
    Backoffs,
    QueueLimits,
    Rejection,
    admit,
    backoff_after,
    has_room,
    remaining_pause,
)
from tidemill.core.job import Urgency
from tidemill.core.policy import Policy
from tidemill.core.run import Trigger
from tidemill.core.schedules import Adaptive, adapted_interval, next_due, parse_schedule, with_jitter
from tidemill.core.source import Source, priority_score
from tidemill.core.target import UNCHANGED, Target, TargetStatus
from tidemill.core.vertical import Vertical, fetcher_for
from tidemill.pipeline.happenings import Announce, EnqueueRejected, RunExtended, RunOpened
from tidemill.pipeline.ports import Clock, Dice

RANK_STEP = 1_000_000
JITTER = timedelta(seconds=60)
ASKED_SOON = timedelta(minutes=3)
"""A host is given as many jobs as its pace lets it be asked for within this time; the rest of its targets stay due."""
SMALLEST_SLICE = 50
"""So many jobs of a host are always admitted together: a source of usual size is never scraped in pieces."""
MOST_ROUNDS = 10
"""Rounds of one dispatch; each reads and writes `batch_size` targets at most."""


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
    """A run that was created, and its number of jobs; `joined` if the jobs were added to a run that goes on."""

    run_id: int
    source_id: int
    trigger: Trigger
    jobs: int
    joined: bool = False


class DueTargets(Protocol):
    """Dispatch's port to the ledger."""

    async def due(self, now: datetime, limit: int, paused: Collection[str] = ()) -> list[DueTarget]:
        """Return targets that are due: source enabled, vertical known, breaker closed, no job open.

        Of each host a slice: what its pace allows soon, less what waits already. Those of `paused` adapters stay due.
        """
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

    async def backoffs(self) -> Backoffs:
        """Return the adapters whose scheduling is paused, or was in the last cycle."""
        ...

    async def set_backoffs(self, backoffs: Backoffs, now: datetime) -> None:
        """Store the pauses."""
        ...


class Dispatched(msgspec.Struct, frozen=True):
    """The result of a round of scheduling; `paused` says for how much longer each full adapter waits."""

    runs: int
    jobs: int
    rejected: int
    run_ids: tuple[int, ...] = ()
    paused: Mapping[str, timedelta] = msgspec.field(default_factory=dict)

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
        """Enqueue everything that is due and fits, a slice of each host; a full adapter holds up no other."""
        now = self._clock.now()
        backoffs = await self._queue.backoffs()
        paused = await self._paused(backoffs, now)
        answers: dict[str, Admission] = {}
        runs = jobs = 0
        for _ in range(MOST_ROUNDS):
            due = await self._queue.due(now, self._batch_size, paused)
            done, answer = await self._enqueue(due, Trigger.SCHEDULED, now)
            answers = merged_answers(answers, answer.by_adapter)
            runs, jobs = runs + done.runs, jobs + done.jobs
            if len(due) < self._batch_size or answer.rejected:
                break
        after = {name: backoff for name, backoff in backoffs.items() if name in paused}
        after |= {name: backoff_after(backoffs.get(name, Backoff()), each, self._limits, now)
                  for name, each in answers.items()}  # fmt: skip
        after = {name: backoff for name, backoff in after.items() if backoff.cycles}
        await self._queue.set_backoffs(after, now)
        waits = {name: left for name, backoff in after.items() if (left := remaining_pause(backoff, now))}
        return Dispatched(runs, jobs, sum(each.rejected for each in answers.values()), paused=waits)

    async def _paused(self, backoffs: Backoffs, now: datetime) -> frozenset[str]:
        """Return the adapters that are left alone in this cycle: a pause is over when there is room again."""
        active = [name for name, backoff in backoffs.items() if backoff.is_active(now)]
        if not active:
            return frozenset()
        pending, total = await self._queue.pending()
        return frozenset(name for name in active if not has_room(pending.get(name, 0), total, self._limits))

    async def enqueue(self, due: Sequence[DueTarget], trigger: Trigger) -> tuple[Dispatched, Admission]:
        """Enqueue targets that a person or a recheck asks for, under the same limits."""
        return await self._enqueue(due, trigger, self._clock.now())

    def announce_opened(self, opened: Sequence[OpenedRun], names: Mapping[int, str] | None = None) -> None:
        """Announce runs that were created, here or by whoever put jobs back into the queue; `names` are of sources."""
        for run in opened:
            said = (self._clock.now(), run.run_id, run.source_id, run.trigger, run.jobs)
            name = (names or {}).get(run.source_id, "")
            self._announce(RunExtended(*said) if run.joined else RunOpened(*said, name))

    async def _enqueue(self, due: Sequence[DueTarget], trigger: Trigger, now: datetime) -> tuple[Dispatched, Admission]:
        ordered = across_hosts(sorted(due, key=lambda each: (-priority_score(each.source, now), each.target.id)))
        admitted, answer = self._admit(ordered, *await self._queue.pending(), await self._queue.disabled_adapters())
        plans = self._plan(admitted, trigger, now)
        opened = await self._queue.open(plans, now) if plans else []
        self.announce_opened(opened, {each.source.id: each.source.name for each in due})
        if answer.rejected and answer.reason and answer.retry_after:
            seconds = answer.retry_after.total_seconds()
            self._announce(EnqueueRejected(now, answer.reason, answer.rejected, seconds))
        ids = tuple(run.run_id for run in opened)
        return Dispatched(len(opened), sum(run.jobs for run in opened), answer.rejected, ids), answer

    def _admit(
        self, ordered: Sequence[DueTarget], pending: Mapping[str, int], total: int, disabled: frozenset[str]
    ) -> tuple[list[DueTarget], Admission]:
        """Admit targets in order while both limits hold, and report why the rest is rejected and when to retry."""
        waiting = dict(pending)
        admitted: list[DueTarget] = []
        refused: list[tuple[str, Rejection]] = []
        for each in ordered:
            adapter = each.target.adapter_id
            if (reason := self._rejection(each, waiting.get(adapter, 0), total, disabled)) is not None:
                refused.append((adapter, reason))
                continue
            waiting[adapter] = waiting.get(adapter, 0) + 1
            total += 1
            admitted.append(each)
        reasons = [reason for _, reason in refused]
        reason = Rejection.QUEUE_FULL if Rejection.QUEUE_FULL in reasons else next(iter(reasons), None)
        retry_after = self._limits.retry_after if refused else None
        taken, turned_away = Counter(each.target.adapter_id for each in admitted), Counter(name for name, _ in refused)
        by_adapter = {name: Admission(taken[name], turned_away[name]) for name in {*taken, *turned_away}}
        return admitted, Admission(len(admitted), len(refused), reason, retry_after, by_adapter)

    def _rejection(self, due: DueTarget, waiting: int, total: int, disabled: frozenset[str]) -> Rejection | None:
        if due.source.vertical not in self._verticals:
            return Rejection.NOT_INSTALLED
        if due.target.adapter_id in disabled:
            return Rejection.ADAPTER_DISABLED
        if self._policy(due).always_admitted:
            return None
        return admit(1, waiting, total, self._limits).reason

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
        is_due = target.next_due_at is None or target.next_due_at <= now
        if trigger is Trigger.MANUAL and is_due:  # what is scraped now is not due again at once
            following, interval = self._next_due(due, now, roll)
            return JobPlan(target, now, rank, priority, following, interval, self._lane(due))
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


def across_hosts(ordered: Sequence[DueTarget]) -> list[DueTarget]:
    """Return the targets host by turns: the best of each host, then the second of each, and so on."""
    places: Counter[str] = Counter()
    turns = []
    for number, each in enumerate(ordered):
        places[each.target.host] += 1
        turns.append((places[each.target.host], number, each))
    return [each for _, _, each in sorted(turns, key=lambda turn: turn[:2])]


def merged_answers(before: Mapping[str, Admission], more: Mapping[str, Admission]) -> dict[str, Admission]:
    """Return what each adapter was answered in all rounds of a cycle."""
    merged = dict(before)
    for name, each in more.items():
        known = merged.get(name, Admission(0))
        merged[name] = Admission(known.accepted + each.accepted, known.rejected + each.rejected)
    return merged


RECHECK_EVERY = timedelta(days=7)
"""How often a broken target is tried."""
