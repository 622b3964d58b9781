"""Circuit breakers, persisted: one row per source that ever failed, moved by the rules of `core.breaker`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.breaker import (
    Breaker,
    BreakerPolicy,
    Closed,
    Probing,
    ask,
    failed,
    forced_open,
    reopens_at,
    succeeded,
)
from tidemill.core.job import JobStatus
from tidemill.core.outcome import Stage
from tidemill.pipeline.checkpoints import BreakerChange
from tidemill.store.database.database import Database
from tidemill.store.ledger.breakers_sql import HOLD_BREAKERS, NEW_BREAKER, RECORD_BREAKERS
from tidemill.store.ledger.claims import mark_work
from tidemill.store.schema import breakers, jobs, sources
from tidemill.store.schema.rows import breaker_columns, breaker_of, state_name


class Signal(msgspec.Struct, frozen=True):
    """What the jobs of one batch said about a source, in order: well or unwell, or not worth another try."""

    source_id: int
    policy: BreakerPolicy
    answers: Sequence[bool]
    is_hopeless: bool = False


class Breakers:
    """Where a source that is not trusted asks for its one probe, and a person resets."""

    def __init__(self, database: Database, policies: Mapping[str, BreakerPolicy]) -> None:
        """`policies` by vertical."""
        self._database = database
        self._policies = policies

    async def admit(self, source_id: int, now: datetime) -> datetime | None:
        """None when the call may go now (it is the probe); else the moment at which to ask again."""
        async with self._database.write() as connection:
            row = (await connection.execute(_WITH_VERTICAL, {"b_source": source_id})).mappings().one_or_none()
            before = breaker_of(row)
            policy = self._policies.get(row["vertical"] if row else "", BreakerPolicy())
            after, admitted = ask(before, policy, now)
            if admitted and after != before:
                await store(connection, source_id, after, now)
            if admitted:
                return None
            await connection.execute(_REJECTED, {"b_source": source_id})
            return max(reopens_at(after, now), now)

    async def reset(self, source_id: int, now: datetime) -> tuple[str, int]:
        """End the breaker's rest at once, on a person's word: one probe goes, and its answer decides.

        What waits for the breaker is ready in the same transaction; answers the state it was in and how many jobs.
        """
        async with self._database.write() as connection:
            row = await locked(connection, source_id)
            before = breaker_of(row)
            if row is not None:
                fresh = Closed() if isinstance(before, Closed) else Probing(0)
                await store(connection, source_id, fresh, now)
            return state_name(before), await free_waiting(connection, [source_id])


_HELD_BACK = (
    update(jobs)
    .where(text("pipeline_jobs.status = 'waiting'"), jobs.c.source_id.in_(bindparam("b_sources", expanding=True)))
    .where(jobs.c.failure.is_(None), jobs.c.current_stage == Stage.FETCH)
    .values(status=JobStatus.READY, not_before=None, last_error=None)
    .returning(jobs.c.host)
)
"""Jobs that were put off rather than failed. A host that asked for a pause is held by its own row, not by its jobs."""


async def free_waiting(connection: AsyncConnection, source_ids: Sequence[int]) -> int:
    """Make the jobs ready that wait for these sources' breakers; answers how many."""
    hosts = list((await connection.execute(_HELD_BACK, {"b_sources": sorted(source_ids)})).scalars())
    await mark_work(connection, set(hosts))
    return len(hosts)


_OF_SOURCE = update(breakers).where(breakers.c.source_id == bindparam("b_source"))
_REJECTED = _OF_SOURCE.values(total_rejections=breakers.c.total_rejections + 1)
_WITH_VERTICAL = (
    select(breakers, sources.c.vertical)
    .join(sources, sources.c.id == breakers.c.source_id)
    .where(breakers.c.source_id == bindparam("b_source"))
    .with_for_update(of=breakers)
)


async def locked(connection: AsyncConnection, source_id: int) -> Any:
    """The source's row, held until the transaction ends."""
    return next(iter(await HOLD_BREAKERS.fetch(connection, sources=[source_id])), None)


async def store(connection: AsyncConnection, source_id: int, breaker: Breaker, now: datetime) -> None:
    """Write a breaker's new state."""
    fresh = _OF_SOURCE.values(**breaker_columns(breaker), changed_at=now)
    await connection.execute(fresh, {"b_source": source_id})


async def record(connection: AsyncConnection, signals: Sequence[Signal], now: datetime) -> list[BreakerChange]:
    """Apply what a batch of jobs said about their sources; answers the breakers that changed state."""
    keys = sorted(signal.source_id for signal in signals)
    rows = {row["source_id"]: row for row in await HOLD_BREAKERS.fetch(connection, sources=keys)}
    shifts: list[BreakerChange] = []
    written = []
    for signal in sorted(signals, key=lambda each: each.source_id):
        row = rows.get(signal.source_id)
        before = after = breaker_of(row)
        for well in signal.answers:
            after = succeeded(after, signal.policy) if well else failed(after, signal.policy, now)
        if signal.is_hopeless and isinstance(after, Closed):
            after = forced_open(after, signal.policy, now)
        if state_name(before) != state_name(after):
            until = reopens_at(after, now) if state_name(after) == "OPEN" else None
            shifts.append(BreakerChange(signal.source_id, state_name(before), state_name(after), until))
        written.append(_columns(signal, row, after, now))
    await RECORD_BREAKERS.write_at_commit(connection, written)
    if closed := [each.source_id for each in shifts if each.after == "CLOSED"]:
        await free_waiting(connection, closed)
    return shifts


def _columns(signal: Signal, row: Any, after: Breaker, now: datetime) -> dict[str, Any]:
    calls, well = len(signal.answers), sum(signal.answers)
    kept = row or NEW_BREAKER
    changed = row is None or state_name(breaker_of(row)) != state_name(after)
    values = {name: kept[name] for name in ("state", "failure_count", "success_count", "cooldown_until",
                                            "consecutive_opens", "last_failure_at", "changed_at")}  # fmt: skip
    values |= breaker_columns(after)
    if after != breaker_of(row) and values["state"] == "OPEN":
        values["failure_count"] = signal.policy.threshold
    if well < calls:
        values["last_failure_at"] = now
    return values | {
        "source_id": signal.source_id,
        "total_calls": kept["total_calls"] + calls,
        "total_successes": kept["total_successes"] + well,
        "total_failures": kept["total_failures"] + calls - well,
        "changed_at": now if changed else kept["changed_at"],
    }
