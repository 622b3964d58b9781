"""Leases of watches: a worker's live lane is seen every few seconds, and its watches are taken over soon after."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import JobStatus
from tidemill.core.live.change import Fence
from tidemill.core.policy import LIVE
from tidemill.pipeline.happenings import JobsRescued
from tidemill.pipeline.live_ports import LIVE_LANE, WATCH_LEASE, EndedWatch
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.ledger.run_counts import settle_runs
from tidemill.store.live.watches import tally_of
from tidemill.store.schema import jobs, workers

_LEASED = text("pipeline_jobs.status = 'leased'")
_BEAT = (
    update(workers)
    .where(workers.c.id == bindparam("b_id"), workers.c.ended_at.is_(None))
    .values(live_seen_at=bindparam("b_now"))
)
_ALIVE = (
    select(func.count())
    .select_from(workers)
    .where(workers.c.ended_at.is_(None), workers.c.live_seen_at >= bindparam("b_since"))
)
_HELD = select(jobs.c.id, jobs.c.fence).where(
    _LEASED, jobs.c.lane == LIVE_LANE, jobs.c.leased_by == bindparam("b_worker")
)
_LOST = (
    select(jobs.c.id, jobs.c.leased_by, (jobs.c.leased_at < bindparam("b_past")).label("is_past"))
    .select_from(jobs)
    .outerjoin(workers, workers.c.id == jobs.c.leased_by)
    .where(_LEASED, jobs.c.lane == LIVE_LANE)
    .where(
        or_(
            workers.c.live_seen_at.is_(None),
            workers.c.live_seen_at < bindparam("b_since"),
            workers.c.ended_at.is_not(None),
            jobs.c.leased_at < bindparam("b_past"),
        )
    )
    .order_by(jobs.c.id + 0)  # not by the key: SQLite would walk through every past job to have the order for nothing
)
_FREE = (
    update(jobs)
    .where(jobs.c.id.in_(bindparam("b_ids", expanding=True)))
    .values(status=JobStatus.READY, leased_by=None, fence=jobs.c.fence + 1)
)
_RELEASE = (
    update(jobs)
    .where(jobs.c.id == bindparam("b_id"), jobs.c.fence == bindparam("b_fence"))
    .values(
        status=bindparam("b_status"), not_before=bindparam("b_until"), leased_by=None, fence=jobs.c.fence + 1
    )
)  # fmt: skip


class WatchLeases:
    """Who holds which watch. Nobody spends an attempt here: a watch is not at fault when its worker dies."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database

    async def beat(self, worker_id: int, now: datetime) -> int:
        """Say that the lane lives; answers how many lanes do, 0 when the worker was given up meanwhile."""
        async with self._database.write() as connection:
            beaten = await connection.execute(_BEAT, {"b_id": worker_id, "b_now": now})
            if beaten.rowcount != 1:
                return 0
            return int((await connection.execute(_ALIVE, {"b_since": now - WATCH_LEASE})).scalar_one())

    async def still_held(self, worker_id: int) -> frozenset[Fence]:
        """The watches that a worker holds, each with its fence."""
        async with self._database.glance() as connection:
            rows = await connection.execute(_HELD, {"b_worker": worker_id})
            return frozenset(Fence(row.id, row.fence) for row in rows)

    async def free_dead(self, now: datetime) -> list[JobsRescued]:
        """Free what lanes hold that were not seen for a lease, and what is held for longer than a watch lasts."""
        past = {"b_since": now - WATCH_LEASE, "b_past": now - LIVE.job_limit}
        async with self._database.glance() as connection:
            if (await connection.execute(_LOST.limit(1), past)).first() is None:
                return []
        async with self._database.write() as connection:
            rows = (await connection.execute(_LOST.with_for_update(of=jobs, skip_locked=True), past)).all()
            await _free(connection, [row.id for row in rows])
        by_worker: dict[int, int] = {}
        for row in rows:
            by_worker[row.leased_by or 0] = by_worker.get(row.leased_by or 0, 0) + 1
        return [JobsRescued(now, worker, count, "its live lane died") for worker, count in by_worker.items()]

    async def release(self, held: Sequence[EndedWatch], now: datetime, until: datetime | None = None) -> None:
        """Hand watches back that are still ours, with what they counted so far."""
        waits = until is not None and until > now
        rows = [
            {
                "b_id": each.job.id,
                "b_fence": each.job.fence,
                "b_status": JobStatus.WAITING if waits else JobStatus.READY,
                "b_until": until if waits else None,
            }
            for each in sorted(held, key=lambda each: each.job.id)
        ]
        counted = {each.job.run_id: tally_of(each, ended=0) for each in held if each.counts.polls}
        async with self._database.write() as connection:
            await write_each(connection, _RELEASE, rows)
            await settle_runs(connection, counted)


async def _free(connection: AsyncConnection, ids: Sequence[int]) -> None:
    if ids:
        await connection.execute(_FREE, {"b_ids": list(ids)})
