"""Rounds of runs, summed up once each, with the message in the same transaction."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, case, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.alerts.outgoing import OutgoingNotice
from tidemill.core.alerts.rounds import LONGEST_ROUND, RoundRun, RoundSummary, RoundWindow, ended_day, ended_round
from tidemill.store.alerts.outbox import write_outgoing
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import breakers, dead_letters, run_rounds, runs, sources

MOST_ROUNDS = 20
"""Rounds that one pass sums up at most for a vertical; what is left is done by the next."""
MOST_RUNS = 50_000
KEYS = 200

_LAST = select(run_rounds.c.vertical, func.max(run_rounds.c.last_started_at)).group_by(run_rounds.c.vertical)
_RUNS = (
    select(runs.c.started_at, runs.c.completed_at)
    .where(runs.c.vertical == bindparam("b_vertical"), runs.c.started_at > bindparam("b_after"))
    .order_by(runs.c.started_at, runs.c.id)
    .limit(MOST_RUNS)
)
_WITHIN = (
    runs.c.vertical == bindparam("b_vertical"),
    runs.c.started_at >= bindparam("b_since"),
    runs.c.started_at <= bindparam("b_until"),
)
_ENDED = runs.c.completed_at.is_not(None)
_SKIPPED = (
    runs.c.records_unchanged + runs.c.records_repeated + runs.c.records_seen_again
    + runs.c.records_dropped + runs.c.records_quarantined
)  # fmt: skip
_SUMS = select(
    func.min(runs.c.id).label("run_id"),
    func.sum(case((_ENDED, 1), else_=0)).label("runs"),
    func.sum(case((_ENDED, 0), else_=1)).label("unfinished"),
    func.count(func.distinct(runs.c.source_id)).label("sources_processed"),
    func.min(runs.c.started_at).label("started_at"),
    func.max(runs.c.completed_at).label("completed_at"),
    func.sum(runs.c.records_inserted).label("records_inserted"),
    func.sum(runs.c.records_updated).label("records_updated"),
    func.sum(_SKIPPED).label("records_skipped"),
    func.sum(runs.c.urls_failed).label("errors"),
    func.sum(case((runs.c.complete, 1), else_=0)).label("complete_runs"),
).where(*_WITHIN)
_SOURCES = select(runs.c.source_id).where(*_WITHIN)
_TRIPPED = (
    select(sources.c.name)
    .join(breakers, breakers.c.source_id == sources.c.id)
    .where(breakers.c.state != "CLOSED", breakers.c.changed_at >= bindparam("b_since"))
    .where(sources.c.id.in_(_SOURCES))
    .order_by(sources.c.name)
)
_LETTERS = (
    select(func.count())
    .select_from(dead_letters)
    .where(dead_letters.c.created_at >= bindparam("b_since"), dead_letters.c.created_at <= bindparam("b_end"))
    .where(dead_letters.c.source_id.in_(_SOURCES))
)
_DEGRADED = select(runs.c.degraded).where(*_WITHIN, runs.c.degraded.is_not(None))
_INSERT = {
    kind.dialect.name: kind.insert(run_rounds).on_conflict_do_nothing(index_elements=["vertical", "started_at"])
    for kind in (sqlite, postgresql)
}

Compose = Callable[[RoundSummary], Sequence[OutgoingNotice]]


class RoundRepository:
    """Sums up rounds that have ended and that nobody was told of."""

    def __init__(self, database: Database, ids: Ids, daily: Mapping[str, bool]) -> None:
        """`daily` says for each vertical whether a day is a round."""
        self._database = database
        self._ids = ids
        self._daily = dict(daily)

    async def sum_up(self, now: datetime, compose: Compose) -> list[RoundSummary]:
        """Sum up every round that has ended; the first time, those of the last day at most."""
        async with self._database.glance() as connection:
            last = {row[0]: row[1] for row in await connection.execute(_LAST)}
        found = []
        for vertical in sorted(self._daily):
            after = last.get(vertical, now - LONGEST_ROUND)
            for _ in range(MOST_ROUNDS):
                window = await self._next(vertical, after, now)
                if window is None:
                    break
                found += await self._sum_up(vertical, window, now, compose)
                after = window.until
        return found

    async def _next(self, vertical: str, after: datetime, now: datetime) -> RoundWindow | None:
        async with self._database.glance() as connection:
            rows = await connection.execute(_RUNS, {"b_vertical": vertical, "b_after": after})
            known = [RoundRun(row.started_at, row.completed_at) for row in rows]
        return (ended_day if self._daily[vertical] else ended_round)(known, now)

    async def _sum_up(self, vertical: str, window: RoundWindow, now: datetime, compose: Compose) -> list[RoundSummary]:
        await self._ids.reserve(KEYS)
        async with self._database.write() as connection:
            summary = await _summary(connection, vertical, window)
            row = {
                "id": self._ids.take(),
                "vertical": vertical,
                "started_at": window.since,
                "last_started_at": window.until,
                "completed_at": summary.completed_at,
                "runs": summary.runs,
                "summary": msgspec.to_builtins(summary),
                "created_at": now,
            }
            written = await connection.execute(_INSERT[connection.dialect.name], row)
            if not written.rowcount:
                return []
            await write_outgoing(connection, self._ids, compose(summary), now)
        return [summary]

    async def latest(self, limit: int = 20) -> list[RoundSummary]:
        """Return the last rounds, the newest first."""
        query = select(run_rounds.c.summary).order_by(run_rounds.c.id.desc()).limit(limit)
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).scalars())
        return [msgspec.convert(row, RoundSummary) for row in rows]


async def _summary(connection: AsyncConnection, vertical: str, window: RoundWindow) -> RoundSummary:
    within: dict[str, Any] = {"b_vertical": vertical, "b_since": window.since, "b_until": window.until}
    sums = dict((await connection.execute(_SUMS, within)).mappings().one())
    ended = sums["completed_at"] or window.until
    tripped = (await connection.execute(_TRIPPED, within)).scalars()
    letters = await connection.execute(_LETTERS, {**within, "b_end": ended})
    degraded = {name for names in (await connection.execute(_DEGRADED, within)).scalars() for name in names}
    counted = {name: int(value or 0) for name, value in sums.items() if not name.endswith("_at")}
    return RoundSummary(
        vertical=vertical,
        started_at=sums["started_at"] or window.since,
        completed_at=ended,
        circuit_breakers_tripped=tuple(tripped),
        dlq_items_added=letters.scalar_one(),
        degraded=tuple(sorted(degraded)),
        **counted,
    )
