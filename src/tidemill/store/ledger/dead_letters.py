"""The dead letter queue: what ran out of road, kept with all that a retry needs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.dead_letter import MAX_RETRIES, DeadLetterStatus, next_retry
from tidemill.core.job import Job, JobTransition
from tidemill.store.database.batches import write_each
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.database.upserts import upsert
from tidemill.store.schema import dead_letters

LONGEST_MESSAGE = 2_000
LONGEST_STACK = 20_000


async def bury(
    connection: AsyncConnection, database: Database, ids: Ids, dead: Sequence[tuple[Job, JobTransition]], now: datetime
) -> None:
    """Write a letter per dead job; one whose retry failed goes back to pending, with a longer wait."""
    known = await connection.execute(_TRIED, {"b_jobs": [job.id for job, _ in dead]})
    tried = {row.job_id: row.retry_count for row in known}
    rows = [letter(ids.take(), job, move, tried.get(job.id), now) for job, move in dead]
    await write_each(connection, _BURY[database.dialect], rows)


def letter(key: int, job: Job, move: JobTransition, retries: int | None, now: datetime) -> dict[str, Any]:
    """A dead letter's row."""
    count = 0 if retries is None else retries + 1
    return {
        "id": key,
        "job_id": job.id,
        "source_id": job.source_id,
        "target_id": job.target_id,
        "stage": job.stage,
        "error_type": move.failure or "bug",
        "error_message": storable(move.detail, LONGEST_MESSAGE),
        "error_stack": storable(move.stack, LONGEST_STACK),
        "payload": msgspec.to_builtins(job),
        "retry_count": count,
        "max_retries": MAX_RETRIES,
        "next_retry_at": next_retry(count, now, move.failure or ""),
        "status": DeadLetterStatus.PENDING,
        "created_at": now,
        "updated_at": now,
    }


async def resolve(connection: AsyncConnection, job_ids: Sequence[int], now: datetime) -> None:
    """Close the letters of jobs that went well on their retry."""
    await connection.execute(_RESOLVE, {"b_jobs": job_ids, "b_now": now})


async def give_back(connection: AsyncConnection, job_ids: Sequence[int], now: datetime) -> None:
    """Put the letters of jobs whose retry came to nothing back among the pending ones, with a longer wait."""
    retried = await connection.execute(_RETRYING, {"b_jobs": job_ids})
    counts = {row.id: row.retry_count + 1 for row in retried}
    rows = [
        {"b_id": key, "b_count": count, "b_next": next_retry(count, now), "b_now": now} for key, count in counts.items()
    ]
    await write_each(connection, _GIVE_BACK, rows)


_OF_JOBS = dead_letters.c.job_id.in_(bindparam("b_jobs", expanding=True))
_AGAIN = ("stage", "error_type", "error_message", "error_stack", "payload", "retry_count", "next_retry_at", "status",
          "updated_at")  # fmt: skip
_BURY = upsert(dead_letters, ["job_id"], _AGAIN)
_TRIED = select(dead_letters.c.job_id, dead_letters.c.retry_count).where(_OF_JOBS)
_RETRYING = (
    select(dead_letters.c.id, dead_letters.c.retry_count)
    .where(_OF_JOBS, dead_letters.c.status == DeadLetterStatus.RETRYING)
    .order_by(dead_letters.c.id)
)
_RESOLVE = (
    update(dead_letters)
    .where(_OF_JOBS, dead_letters.c.status == DeadLetterStatus.RETRYING)
    .values(
        status=DeadLetterStatus.RESOLVED,
        resolved_at=bindparam("b_now"),
        updated_at=bindparam("b_now"),
        next_retry_at=None,
        resolution_notes="a retry went well",
    )
)
_GIVE_BACK = (
    update(dead_letters)
    .where(dead_letters.c.id == bindparam("b_id"))
    .values(
        status=DeadLetterStatus.PENDING,
        retry_count=bindparam("b_count"),
        next_retry_at=bindparam("b_next"),
        updated_at=bindparam("b_now"),
    )
)


async def take_up(connection: AsyncConnection, job_ids: Sequence[int], now: datetime) -> None:
    """Mark the letters of jobs that a person put back into the queue as being retried."""
    pending = (dead_letters.c.job_id.in_(job_ids)) & (dead_letters.c.status == DeadLetterStatus.PENDING)
    going = {"status": DeadLetterStatus.RETRYING, "updated_at": now}
    await connection.execute(update(dead_letters).where(pending).values(**going))
