"""Claims by hand: certain jobs at certain stages, taken whether or not their moment has come."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import OPEN, JobStatus
from tidemill.core.outcome import Stage
from tidemill.pipeline.checkpoints import Claimed
from tidemill.store.database.database import Database
from tidemill.store.ledger.claims import Share, charge_hosts, lease, with_context
from tidemill.store.schema import hosts, jobs
from tidemill.store.schema.rows import Row

LONGEST_PACING_WAIT = timedelta(minutes=1)
"""A host that opens later than this asked for a longer pause, which nobody's hand may cut short."""


class NamedClaim(msgspec.Struct, frozen=True):
    """What was taken of the jobs that were named, and why the others were not."""

    claimed: Sequence[Claimed]
    left: Mapping[int, str]


class NamedClaims:
    """Takes the jobs that a person names, for one stage."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database

    async def at_stage(self, run_id: int, stage: Stage) -> list[int]:
        """Return a run's open jobs that stand before a stage and are in nobody's hands."""
        query = select(jobs.c.id).where(
            jobs.c.run_id == run_id,
            jobs.c.current_stage == stage,
            jobs.c.status.in_((JobStatus.READY, JobStatus.WAITING)),
        )
        async with self._database.glance() as connection:
            return list((await connection.execute(query.order_by(jobs.c.id))).scalars())

    async def take(self, ids: Sequence[int], stage: Stage, worker_id: int, now: datetime) -> NamedClaim:
        """Lease the named jobs that stand before this stage; the others are answered with what is in the way."""
        async with self._database.write() as connection:
            rows = await _named(connection, ids, lock=True)
            closed = await self._closed_hosts(connection, rows, now) if stage is Stage.FETCH else {}
            left = {key: why for key in ids if (why := _in_the_way(rows.get(key), key, stage, closed))}
            taken = [row for key, row in rows.items() if key not in left]
            if taken:
                if stage is Stage.FETCH:
                    await _charge(connection, taken, now)
                await lease(connection, [row["id"] for row in taken], worker_id, now)
            # with the fences of before: a job as it is held has the next
            return NamedClaim(await with_context(connection, taken, worker_id) if taken else [], left)

    async def look(self, ids: Sequence[int], stage: Stage) -> NamedClaim:
        """Return the named jobs as if they stood before this stage, ended or not; nothing is leased or written."""
        async with self._database.glance() as connection:
            rows = await _named(connection, ids)
            left = {key: f"there is no job {key}" for key in ids if key not in rows}
            seen = [{**row, "current_stage": stage} for row in rows.values()]
            found = await with_context(connection, seen, 0)
        orphans = set(rows) - {each.job.id for each in found}
        return NamedClaim(found, left | dict.fromkeys(orphans, "its source or target was removed"))

    async def _closed_hosts(
        self, connection: AsyncConnection, rows: Mapping[int, Row], now: datetime
    ) -> dict[str, datetime]:
        names = sorted({row["host"] for row in rows.values()})
        query = select(hosts.c.host, hosts.c.opens_at).where(
            hosts.c.host.in_(names), hosts.c.opens_at > now + LONGEST_PACING_WAIT
        )
        return {row.host: row.opens_at for row in await connection.execute(query)}


async def _named(connection: AsyncConnection, ids: Sequence[int], *, lock: bool = False) -> dict[int, Row]:
    query = select(jobs).where(jobs.c.id.in_(ids)).order_by(jobs.c.id)
    if lock:
        query = query.with_for_update()
    return {row["id"]: row for row in (await connection.execute(query)).mappings()}


def _in_the_way(row: Row | None, key: int, stage: Stage, closed: Mapping[str, datetime]) -> str:
    """Return why a job cannot be taken for a stage; '' if it can."""
    if row is None:
        why = f"there is no job {key}"
    elif row["status"] not in OPEN:
        back = ", `tidemill dlq retry` brings it back" if row["status"] == JobStatus.DEAD else ""
        why = f"job {key} has ended ({row['status']}); `--dry-run` shows what a stage would make of it{back}"
    elif row["status"] == JobStatus.LEASED:
        why = f"job {key} is in a worker's hands"
    elif row["current_stage"] == Stage.WATCH:
        why = f"job {key} is a watch of the live lane, which has no stages"
    elif row["current_stage"] != stage:
        why = f"job {key} stands before {row['current_stage']}, not before {stage}"
    elif (opens := closed.get(row["host"])) is not None:
        why = f"host {row['host']} may be asked again from {opens:%Y-%m-%d %H:%M:%S} UTC on"
    else:
        why = ""
    return why


async def _charge(connection: AsyncConnection, taken: Sequence[Row], now: datetime) -> None:
    """Write down what these requests take of their hosts' paces."""
    names = sorted({row["host"] for row in taken})
    query = select(hosts).where(hosts.c.host.in_(names)).order_by(hosts.c.host).with_for_update()
    shares = [Share(row["host"], 1, row) for row in (await connection.execute(query)).mappings()]
    await charge_hosts(connection, shares, taken, now)
