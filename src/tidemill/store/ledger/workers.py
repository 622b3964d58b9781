"""Workers and their leases: who is alive, and whose jobs must be freed."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import bindparam, case, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.failure import Failure
from tidemill.core.job import Job, JobStatus, JobTransition, after_death, after_failure
from tidemill.core.outcome import Fail, Stage
from tidemill.core.policy import AGENDA
from tidemill.core.target import BROKEN_AFTER, TargetStatus
from tidemill.pipeline.happenings import JobDead, JobsRescued
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.database.stalled_sessions import STALLED_AFTER, end_stalled_sessions, wait_briefly_for_locks
from tidemill.store.ledger import dead_letters
from tidemill.store.ledger.claims import mark_work
from tidemill.store.ledger.suspects import READY_OR_SUSPECT
from tidemill.store.schema import jobs, runs, sources, targets, workers
from tidemill.store.schema.rows import job_of

_ALIVE = (
    update(workers)
    .where(workers.c.id == bindparam("b_id"), workers.c.ended_at.is_(None))
    .values(seen_at=bindparam("b_now"), clock_skew_ms=bindparam("b_skew_ms"))
)
_LAST_SEEN = select(func.max(workers.c.seen_at))
_UNSEEN = (
    select(workers.c.id)
    .where(workers.c.ended_at.is_(None), workers.c.seen_at < bindparam("b_since"))
    .order_by(workers.c.id)
    .with_for_update()
)
_LEASED = text("pipeline_jobs.status = 'leased'")
_IN_ORDER = jobs.c.id + 0
"""A sum, not the key itself: to have the order for nothing SQLite would walk through every job that ever was, past a
million of them for 250 ms, instead of sorting the few that are leased."""
_TOLD = (
    update(jobs)
    .where(jobs.c.id == bindparam("b_id"))
    .values(failure=bindparam("b_failure"), last_error=bindparam("b_detail"))
)
_STUCK = (
    select(jobs)
    .where(_LEASED, jobs.c.leased_at < bindparam("b_since"), jobs.c.current_stage != Stage.WATCH)
    .order_by(_IN_ORDER)
    .with_for_update()
)
"""A watch is held for its hour; the live lane sees to those that are held for longer."""


class Workers:
    """The register of workers. A worker's heartbeat holds all of its leases at once: one row, however many jobs."""

    def __init__(
        self,
        database: Database,
        ids: Ids,
        *,
        lease: timedelta,
        job_limit: timedelta,
        stalled_after: timedelta = STALLED_AFTER,
    ) -> None:
        """A worker unseen for `lease` is dead; a job in hand for over `job_limit` is stuck.

        A transaction that its process has left alone for `stalled_after` is undone.
        """
        self._database = database
        self._ids = ids
        self._lease = lease
        self._job_limit = job_limit
        self._stalled_after = stalled_after

    @property
    def lease(self) -> timedelta:
        """How long a worker may go unseen before its jobs are given to others."""
        return self._lease

    @property
    def heartbeat(self) -> timedelta:
        """How often a worker should be seen: three chances within a lease."""
        return self._lease / 3

    async def register(self, name: str, pid: int, now: datetime, lanes: Sequence[str] = ()) -> int:
        """Sign a worker in; answers its key."""
        await self._ids.reserve(1)
        key = self._ids.take()
        row = {"id": key, "name": name, "pid": pid, "started_at": now, "seen_at": now, "lanes": " ".join(lanes)}
        async with self._database.write() as connection:
            await connection.execute(workers.insert(), [row])
        return key

    async def beat(self, worker_id: int, now: datetime, skew: timedelta | None = None) -> bool:
        """Say that the worker lives, and how far its clock is ahead of the database's if that was measured.

        False when it was given up meanwhile and must start anew.
        """
        skew_ms = None if skew is None else round(skew / timedelta(milliseconds=1))
        async with self._database.write() as connection:
            beaten = await connection.execute(_ALIVE, {"b_id": worker_id, "b_now": now, "b_skew_ms": skew_ms})
            return int(beaten.rowcount) == 1

    async def sign_off(self, worker_id: int, now: datetime) -> int:
        """A worker leaves in good order: what it still holds is ready for others at once."""
        async with self._database.write() as connection:
            held = await _held_by(connection, [worker_id])
            await _free(connection, held)
            await connection.execute(update(workers).where(workers.c.id == worker_id).values(ended_at=now))
        return len(held)

    async def last_seen(self) -> datetime | None:
        """When any worker was last seen; None if there never was one."""
        async with self._database.glance() as connection:
            moment: datetime | None = (await connection.execute(_LAST_SEEN)).scalar()
            return moment

    async def release_lane(self, worker_id: int, lane: str) -> int:
        """Free what a worker holds in one lane, because nobody there has it in hand; answers how many jobs."""
        async with self._database.write() as connection:
            held = await _held_by(connection, [worker_id], lane)
            await _free(connection, held)
        return len(held)

    async def rescue(self, now: datetime) -> list[JobsRescued | JobDead]:
        """Free the jobs of dead workers, to resume at their last checkpoint, and fail those stuck for too long.

        Answers what is to be announced: of each worker what was freed, and each job that became a dead letter. A
        process that froze in the middle of a transaction loses it first; until that is due, a rescue that would have
        to wait for its locks fails as busy.
        """
        await end_stalled_sessions(self._database, self._stalled_after)
        await self._ids.reserve(1_000)
        async with self._database.write() as connection:
            await wait_briefly_for_locks(connection)
            dead = (await connection.execute(_UNSEEN, {"b_since": now - self._lease})).scalars().all()
            told = [each for worker_id in dead for each in await self._rescue_worker(connection, worker_id, now)]
            return told + await self._rescue_stuck(connection, now)

    async def _rescue_worker(
        self, connection: AsyncConnection, worker_id: int, now: datetime
    ) -> list[JobsRescued | JobDead]:
        held = await _held_by(connection, [worker_id])
        await _free(connection, [job for job in held if not job.is_in_danger])
        in_danger = [job for job in held if job.is_in_danger]
        died = await _suspect(connection, self._database, self._ids, in_danger, now)
        await connection.execute(update(workers).where(workers.c.id == worker_id).values(ended_at=now))
        return [JobsRescued(now, worker_id, len(held), "its worker died"), *died]

    async def _rescue_stuck(self, connection: AsyncConnection, now: datetime) -> list[JobsRescued | JobDead]:
        rows = (await connection.execute(_STUCK, {"b_since": now - self._job_limit})).mappings().all()
        if not rows:
            return []
        stuck = [job_of(row) for row in rows]
        died = await _fail_stuck(connection, self._database, self._ids, stuck, now)
        failures = {"consecutive_failures": sources.c.consecutive_failures + 1}
        at_fault = sorted({job.source_id for job in stuck})
        await connection.execute(update(sources).where(sources.c.id.in_(at_fault)).values(**failures))
        freed = JobsRescued(now, rows[0]["leased_by"] or 0, len(stuck), f"in hand for over {self._job_limit}")
        return [freed, *died]


AT_ONCE = msgspec.structs.replace(AGENDA, retry=msgspec.structs.replace(AGENDA.retry, longest=timedelta(seconds=1)))
"""A job that is stuck is tried again without a wait, as often as any other."""


async def _held_by(connection: AsyncConnection, worker_ids: list[int], lane: str | None = None) -> list[Job]:
    query = select(jobs).where(_LEASED, jobs.c.leased_by.in_(worker_ids)).order_by(_IN_ORDER).with_for_update()
    if lane is not None:
        query = query.where(jobs.c.lane == lane)
    return [job_of(row) for row in (await connection.execute(query)).mappings()]


async def _free(connection: AsyncConnection, held: list[Job]) -> None:
    if not held:
        return
    keys = [job.id for job in held]
    freed = {"status": READY_OR_SUSPECT, "not_before": None, "leased_by": None, "fence": jobs.c.fence + 1}
    await connection.execute(update(jobs).where(jobs.c.id.in_(keys)).values(**freed))
    await mark_work(connection, {job.host for job in held})


async def _suspect(
    connection: AsyncConnection, database: Database, ids: Ids, held: list[Job], now: datetime
) -> list[JobDead]:
    """Count a death against each job whose page was being read; it counts against neither target nor source."""
    if not held:
        return []
    moves = [(job, after_death(job)) for job in held]
    keys = [job.id for job in held]
    await connection.execute(update(jobs).where(jobs.c.id.in_(keys)).values(deaths=jobs.c.deaths + 1))
    await _free(connection, [job for job, move in moves if not move.ends])
    suspects = [(job, move) for job, move in moves if move.status is JobStatus.WAITING]
    told = [{"b_id": job.id, "b_failure": move.failure, "b_detail": move.detail} for job, move in suspects]
    await write_each(connection, _TOLD, told)
    if dead := [(job, move) for job, move in moves if move.ends]:
        await _bury(connection, dead, now)
        await dead_letters.bury(connection, database, ids, dead, now)
    return dead_jobs(dead, now)


async def _fail_stuck(
    connection: AsyncConnection, database: Database, ids: Ids, held: list[Job], now: datetime
) -> list[JobDead]:
    """Spend an attempt of each job; those with road left are ready at once, the others become dead letters."""
    fail = Fail(Failure.STALLED, Failure.STALLED.value)
    moves = [(job, after_failure(job, fail, AT_ONCE, now, 0.0)) for job in held]
    again = [job for job, move in moves if move.status is JobStatus.WAITING]
    dead = [(job, move) for job, move in moves if move.status is JobStatus.DEAD]
    if again:
        spent = update(jobs).where(jobs.c.id.in_([job.id for job in again])).values(attempts=jobs.c.attempts + 1)
        await connection.execute(spent)
        await _free(connection, again)
    if dead:
        await _bury(connection, dead, now)
        for job, move in dead:
            await _count_against(connection, job, str(move.failure or move.status).upper(), now)
        await dead_letters.bury(connection, database, ids, dead, now)
    return dead_jobs(dead, now)


def dead_jobs(dead: list[tuple[Job, JobTransition]], now: datetime) -> list[JobDead]:
    """Return what is told of jobs that ended for good."""
    return [
        JobDead(
            now, job.id, job.run_id, job.source_id, job.host, job.stage, move.failure or Failure.BUG, move.detail,
            job.adapter_id,
        )
        for job, move in dead
    ]  # fmt: skip


async def _bury(connection: AsyncConnection, dead: list[tuple[Job, JobTransition]], now: datetime) -> None:
    """End the jobs for good, and let their runs know."""
    ended = {"status": JobStatus.DEAD, "current_stage": Stage.DEAD_LETTER, "completed_at": now, "leased_by": None}
    for job, move in dead:
        gone = {**ended, "fence": jobs.c.fence + 1, "failure": move.failure, "last_error": move.detail}
        await connection.execute(update(jobs).where(jobs.c.id == job.id).values(**gone))
        counts = {"open_jobs": runs.c.open_jobs - 1, "urls_attempted": runs.c.urls_attempted + 1,
                  "urls_failed": runs.c.urls_failed + 1}  # fmt: skip
        await connection.execute(update(runs).where(runs.c.id == job.run_id).values(**counts))


async def _count_against(connection: AsyncConnection, job: Job, words: str, now: datetime) -> None:
    failures = targets.c.consecutive_failures + 1
    breaks = (failures >= BROKEN_AFTER) & (targets.c.status == TargetStatus.ACTIVE)
    status = case((breaks, TargetStatus.BROKEN), else_=targets.c.status)
    worse = {"consecutive_failures": failures, "last_status": words, "last_scraped_at": now, "status": status}
    await connection.execute(update(targets).where(targets.c.id == job.target_id).values(**worse))
    more = {"consecutive_failures": sources.c.consecutive_failures + 1, "last_scraped_at": now}
    await connection.execute(update(sources).where(sources.c.id == job.source_id).values(**more))
