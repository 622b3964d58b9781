"""The tick `health`: ages from what processes publish, the grade, the watchdog, and the judging of recoveries."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import uuid4

import msgspec

from tidemill.core.health.contexts import ScraperContext
from tidemill.core.health.grades import (
    EVALUATED_EVERY,
    Freshness,
    GradeMove,
    Grading,
    HealthGrade,
    evaluate,
    freshness_of,
    recovering,
)
from tidemill.core.health.recovery import RecoveryAction, RecoveryEntry, RecoveryOutcome, judged, watchdog
from tidemill.pipeline.happenings import (
    Announce,
    GradeMoved,
    RecoveryBegun,
    RecoveryExhausted,
    RecoveryJudged,
)
from tidemill.pipeline.ports import Clock

CALLED_AGAIN = timedelta(hours=1)
ACTOR = "watchdog"


class LiveHealthStore(Protocol):
    """What the tick reads and writes."""

    async def grading(self) -> Grading | None:
        """Return the grade as it was last evaluated."""
        ...

    async def keep_grading(self, grading: Grading, now: datetime) -> None:
        """Keep it."""
        ...

    async def recoveries(self, limit: int = 10) -> list[RecoveryEntry]:
        """Return the last recoveries."""
        ...

    async def keep_recovery(self, entry: RecoveryEntry) -> None:
        """Keep a recovery."""
        ...

    async def request(self, action: RecoveryAction, by: str, now: datetime) -> None:
        """Ask every lane to do something."""
        ...

    async def write_log(self, contexts: Sequence[ScraperContext], now: datetime) -> int:
        """Write a row per context."""
        ...

    async def resolve_orphans(self, contexts: Sequence[ScraperContext]) -> int:
        """End the failures of contexts that are gone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthTick:
    """Evaluates the grade every 15 s, in one process at a time.

    `contexts` are those of all processes, `recycle_browsers` asks every pool for new browsers, and `vitals` says what
    browsers take, for the audit.
    """

    clock: Clock
    announce: Announce
    store: LiveHealthStore
    contexts: Callable[[], Awaitable[Sequence[ScraperContext]]]
    recycle_browsers: Callable[[str, datetime], Awaitable[None]]
    vitals: Callable[[], Awaitable[dict[str, Any]]]

    async def run(self) -> str:
        """Evaluate, judge, act, and write the minute's log."""
        now = self.clock.now()
        contexts = await self.contexts()
        freshness = freshness_of(contexts, now)
        grading = await self.store.grading() or Grading(since=now)
        grading, move = evaluate(grading, freshness, now)
        self._tell(move)
        past = await self._judge(await self.store.recoveries(limit=20), grading, now)
        grading = await self._watch(grading, freshness, past, now)
        await self.store.keep_grading(grading, now)
        if now.second < EVALUATED_EVERY.seconds:  # the first evaluation of each minute
            await self.store.write_log(contexts, now)
            await self.store.resolve_orphans(contexts)
        stats = freshness.stats
        return f"{grading.grade.value}: {stats.count} live, median {stats.median:.0f} s, oldest {stats.max:.0f} s"

    def _tell(self, move: GradeMove | None) -> None:
        if move is not None:
            self.announce(GradeMoved(move.at, move.before, move.after, move.reason))

    async def _judge(self, past: Sequence[RecoveryEntry], grading: Grading, now: datetime) -> list[RecoveryEntry]:
        """Judge the recoveries whose time is up, or that have helped; return all of them."""
        found = []
        for entry in past:
            after = judged(entry, grading.grade, now)
            if after.outcome is not entry.outcome:
                detail = {**entry.metadata, **{f"{name}_after": value for name, value in (await self.vitals()).items()}}
                after = msgspec.structs.replace(after, metadata=detail)
                await self.store.keep_recovery(after)
                self.announce(RecoveryJudged(now, after.action_type, after.outcome, after.duration_seconds))
            found.append(after)
        return found

    async def _watch(
        self, grading: Grading, freshness: Freshness, past: Sequence[RecoveryEntry], now: datetime
    ) -> Grading:
        """Let the watchdog act on a failing system, unless only the hosts' pace makes it wait."""
        if grading.grade is not HealthGrade.FAILING or freshness.is_pace:
            return grading
        verdict = watchdog(grading.grade, grading.since, past, now)
        reason = (
            f"{freshness.stats.max:.0f} s since the oldest check, {freshness.stall.total_seconds():.0f} s since any"
        )
        if verdict.calls_person:
            return self._call_person(grading, reason, now)
        if verdict.action is None:
            return grading
        await self.begin(verdict.action, ACTOR, reason, now)
        after, move = recovering(grading, now, f"{verdict.action.value}: {reason}")
        self._tell(move)
        return after

    def _call_person(self, grading: Grading, reason: str, now: datetime) -> Grading:
        """Say once an hour that the watchdog has done what it can."""
        if grading.person_called_at is not None and now - grading.person_called_at < CALLED_AGAIN:
            return grading
        self.announce(RecoveryExhausted(now, f"five recoveries within an hour did not help: {reason}"))
        return msgspec.structs.replace(grading, person_called_at=now)

    async def begin(self, action: RecoveryAction, by: str, trigger: str, now: datetime) -> RecoveryEntry:
        """Ask every process for a recovery, and audit it as begun."""
        before = {f"{name}_before": value for name, value in (await self.vitals()).items()}
        entry = RecoveryEntry(
            entry_id=str(uuid4()),
            timestamp=now,
            action_type=action,
            trigger_condition=trigger,
            outcome=RecoveryOutcome.PENDING,
            metadata={"by": by, **before},
        )
        await self.store.keep_recovery(entry)
        if action in {RecoveryAction.BROWSER_RECYCLE, RecoveryAction.MANUAL_TRIGGER}:
            await self.recycle_browsers(by, now)
        else:
            await self.store.request(action, by, now)
        self.announce(RecoveryBegun(now, action, trigger))
        return entry
