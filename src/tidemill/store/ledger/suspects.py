"""Suspects: jobs whose page was being read or rendered when workers died. They are taken last, and alone."""

from datetime import datetime, timedelta

import msgspec
from sqlalchemy import case
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import SUSPECT_AFTER, JobStatus
from tidemill.store.ledger import claims_sql as sql
from tidemill.store.schema import jobs

SUSPECTS_AGAIN = timedelta(seconds=1)
"""When to look again at suspects that nobody had free hands for."""
PATIENCE = timedelta(minutes=10)
"""After so long a worker that never runs out of other work takes nothing more until its hands are free."""
SEEN_AT_ONCE = 200

READY_OR_SUSPECT = case((jobs.c.deaths >= SUSPECT_AFTER, JobStatus.WAITING), else_=JobStatus.READY)
"""What a job becomes that nobody holds any more, with no moment to wait for: a suspect waits to be taken alone."""


class Suspects(msgspec.Struct, frozen=True):
    """The suspects of a lane that wait, and whether this worker is to take nothing else.

    It is not while it has one in hand, nor when some have waited for so long that it should free its hands for them.
    """

    ids: list[int]
    wait_for_empty_hands: bool = False


async def suspects_for(connection: AsyncConnection, lane: str, worker_id: int, now: datetime) -> Suspects:
    """Return what this worker should know of suspects before it takes anything."""
    rows = await sql.SUSPECTS.fetch(connection, limit=SEEN_AT_ONCE)
    if not rows:
        return Suspects([])
    leased = JobStatus.LEASED.value
    if any(row["status"] == leased and row["leased_by"] == worker_id for row in rows):
        return Suspects([], wait_for_empty_hands=True)
    waiting = [row for row in rows if row["status"] != leased and row["not_before"] is None and row["lane"] == lane]
    overdue = any(row["leased_at"] is not None and row["leased_at"] < now - PATIENCE for row in waiting)
    return Suspects([row["id"] for row in waiting], wait_for_empty_hands=overdue)
