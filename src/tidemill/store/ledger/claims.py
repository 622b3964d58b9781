"""Claims: jobs are taken hosts first, so that no slot is ever held by a host that may not be asked now."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.failure import Failure
from tidemill.core.job import JobStatus
from tidemill.core.outcome import Stage
from tidemill.core.pacing import Pace, charged, opens_at, requests_allowed
from tidemill.pipeline.checkpoints import Claimed
from tidemill.store.database.database import Database
from tidemill.store.database.hot_statements import HotQuery
from tidemill.store.ledger import claims_sql as sql
from tidemill.store.ledger.list_pages import as_seen_by, further_pages
from tidemill.store.ledger.suspects import SUSPECTS_AGAIN, Suspects, suspects_for
from tidemill.store.replays.changes import accepted_versions
from tidemill.store.schema import jobs, runs
from tidemill.store.schema.rows import Row, breaker_of, job_of, pace_of, source_of, target_of
from tidemill.store.sources.adapters import switched_off

MAIN_LANE = "http"
"""Nearly every job is here."""
CONTESTED = timedelta(milliseconds=50)
"""When to look again at a host that somebody else was just looking at."""


class Share(msgspec.Struct, frozen=True):
    """How many jobs of a host may be taken now."""

    host: str
    slots: int
    row: Any


class Claims:
    """Takes jobs for a worker, and says when there will be more."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database

    async def claim(self, lane: str, limit: int, worker_id: int, now: datetime) -> list[Claimed]:
        """Take up to `limit` jobs that may run now: those to resume first, then by host.

        A suspect is taken alone, by a worker that has nothing else in hand, when there is nothing else to take; nobody
        takes anything beside it.
        """
        async with self._database.write() as connection:
            await promote_waiting(connection, now)
            suspects = await suspects_for(connection, lane, worker_id, now)
            if suspects.wait_for_empty_hands:
                rows = await self._lone_suspect(connection, suspects, worker_id, now)
            else:
                rows = await self._resumable(connection, lane, limit)
                if len(rows) < limit:
                    rows += await self._by_host(connection, lane, limit - len(rows), now)
                rows = rows or await self._lone_suspect(connection, suspects, worker_id, now)
            if not rows:
                return []
            await lease(connection, [row["id"] for row in rows], worker_id, now)
            claimed = await with_context(connection, rows, worker_id)
            await drop_orphans(connection, rows, claimed, now)
            return claimed

    async def next_moment(self, now: datetime, lane: str = MAIN_LANE) -> datetime | None:
        """When a job may become claimable by time alone; None when nothing waits.

        The main lane asks the cheap way and may look once in vain; the others must not turn with its every page.
        A claim steps around hosts that another claim has locked. Nobody wakes us when that one lets them go with jobs
        left on them, so where claims run beside each other, such a host is worth another look very soon.
        """
        async with self._database.glance() as connection:
            if not self._database.is_sqlite:
                (passed,) = await sql.PASSED_OVER.fetch(connection, now=now, lane=lane)
                if passed["is_contested"]:
                    return now + CONTESTED
            if lane == MAIN_LANE:
                (moments,) = await sql.MOMENTS.fetch(connection, now=now, suspects_at=now + SUSPECTS_AGAIN)
            else:
                (moments,) = await sql.MOMENTS_OF_LANE.fetch(
                    connection, now=now, lane=lane, suspects_at=now + SUSPECTS_AGAIN
                )
        return min((moment for moment in moments.values() if moment is not None), default=None)

    async def _lone_suspect(
        self, connection: AsyncConnection, suspects: Suspects, worker_id: int, now: datetime
    ) -> list[Row]:
        """Take one suspect, if this worker has its hands free."""
        if not suspects.ids:
            return []
        (in_hand,) = await sql.HAS_JOBS.fetch(connection, worker=worker_id)
        if in_hand["has_jobs"]:
            return []
        rows = await sql.LONE_SUSPECT.fetch(connection, ids=suspects.ids, now=now)
        asked = [row for row in rows if row["current_stage"] == Stage.FETCH]
        await charge_hosts(connection, [Share(row["host"], 1, row) for row in asked], asked, now)
        return list(rows)

    async def _resumable(self, connection: AsyncConnection, lane: str, limit: int) -> list[Row]:
        """Jobs past their fetch that a worker left behind: no host need be asked for them."""
        return list(await sql.RESUMABLE.fetch(connection, lane=lane, limit=limit))

    async def _by_host(self, connection: AsyncConnection, lane: str, limit: int, now: datetime) -> list[Row]:
        shares = await open_hosts(connection, lane, limit, now)
        if not shares:
            return []
        wanted = {share.host: share.slots for share in shares}
        each = min(max(wanted.values()), 2 * limit // len(wanted) + 2)
        found = await sql.BEST_JOBS.fetch(connection, hosts=list(wanted), lane=lane, each=each)
        taken = fair_share(found, wanted, limit)
        await charge_hosts(connection, shares, taken, now)
        await self._clear_idle(connection, [share.host for share in shares], found)
        rows = await _by_key(connection, sql.JOBS_BY_ID, [row["id"] for row in taken], "id")
        return [rows[row["id"]] for row in taken]

    async def _clear_idle(self, connection: AsyncConnection, asked: Iterable[str], found: Sequence[Row]) -> None:
        """Hosts that turned out to have nothing ready are not looked at again until something is enqueued."""
        if idle := sorted(set(asked) - {row["host"] for row in found}):
            await sql.CLEAR_IDLE.execute(connection, hosts=idle)


async def promote_waiting(connection: AsyncConnection, now: datetime) -> None:
    """Make jobs ready whose waiting time is over."""
    rows = await sql.PROMOTABLE.fetch(connection, now=now)
    if not rows:
        return
    await sql.PROMOTE.execute(connection, ids=[row["id"] for row in rows])
    await mark_work(connection, {row["host"] for row in rows})


async def mark_work(connection: AsyncConnection, names: Iterable[str]) -> None:
    """Note that these hosts have jobs to be taken."""
    if names := sorted(names):
        await sql.MARK_WORK.execute(connection, hosts=names)


async def open_hosts(connection: AsyncConnection, lane: str, limit: int, now: datetime) -> list[Share]:
    """The hosts that may be asked now: best waiting job first, then the least recently served.

    Hosts with their hands full are left out by the query, and as many hosts are taken as jobs are wanted: neither
    slow hosts nor a great number of them keep others from being looked at.
    """
    query = sql.OPEN_HOSTS if lane == MAIN_LANE else sql.OWN_HOSTS
    rows = await query.fetch(connection, lane=lane, now=now, limit=limit)
    shares = [
        Share(row["host"], min(limit, requests_allowed(pace_of(row), row["tab_at"], row["busy"], now)), row)
        for row in rows
    ]
    return [share for share in shares if share.slots > 0]


def fair_share(found: Sequence[Row], wanted: dict[str, int], limit: int) -> list[Row]:
    """The best jobs overall, no host beyond its slots; of equal jobs each host's first goes before anyone's second."""
    turns: dict[tuple[str, int], int] = {}
    left = dict(wanted)
    line: list[tuple[int, int, int, Row]] = []
    for row in found:
        host, rank = row["host"], row["rank"]
        if left[host] > 0:
            left[host] -= 1
            turn = turns[host, rank] = turns.get((host, rank), 0) + 1
            line.append((rank, turn, row["id"], row))
    line.sort(key=lambda place: place[:3])
    return [row for *_, row in line[:limit]]


async def charge_hosts(
    connection: AsyncConnection, shares: Sequence[Share], taken: Sequence[Row], now: datetime
) -> None:
    """Write down what was taken of each host's pace, in the same transaction as the jobs."""
    counts: dict[str, int] = {}
    for row in taken:
        counts[row["host"]] = counts.get(row["host"], 0) + 1
    charges = []
    for share in shares:
        if count := counts.get(share.host):
            pace = pace_of(share.row)
            booked_until = charged(pace, share.row["tab_at"], count, now)
            charges.append(
                {
                    "host": share.host,
                    "tab_at": booked_until,
                    "opens_at": opens_at(pace, booked_until, now),
                    "served_at": now,
                }
            )
    await sql.CHARGE_HOSTS.write(connection, charges)


async def lease(connection: AsyncConnection, ids: Sequence[int], worker_id: int, now: datetime) -> None:
    """Put jobs into a worker's hands; the raised fence shuts out whoever held them before."""
    await sql.LEASE.execute(connection, ids=ids, worker=worker_id, now=now)


async def with_context(connection: AsyncConnection, rows: Sequence[Row], worker_id: int) -> list[Claimed]:
    """The jobs with their sources, targets, paces and breakers as of this moment; three queries for all of them."""
    source_ids = sorted({row["source_id"] for row in rows})
    known = await _by_key(connection, sql.SOURCES_BY_ID, source_ids, "id")
    aims = await _by_key(connection, sql.TARGETS_BY_ID, [row["target_id"] for row in rows], "id")
    tripped = await _by_key(connection, sql.BREAKERS_BY_SOURCE, source_ids, "source_id")
    places = await _by_key(connection, sql.PACES_BY_HOST, sorted({row["host"] for row in rows}), "host")
    further = await further_pages(connection, [row["target_id"] for row in rows if row["page_number"] > 1])
    parsed = {key: source_of(row) for key, row in known.items()}
    guards = {key: breaker_of(tripped.get(key)) for key in source_ids}
    paces = {host: pace_of(row) for host, row in places.items()}
    tabs = {host: _tab_before(row["tab_at"], paces[host]) for host, row in places.items()}
    off = await switched_off(connection)
    versions = await accepted_versions(connection)
    return [
        Claimed(
            job=(job := job_of(row)),
            source=parsed[row["source_id"]],
            target=as_seen_by(job, target_of(aims[row["target_id"]]), further),
            pace=paces[row["host"]],
            breaker=guards[row["source_id"]],
            booked_until=tabs[row["host"]],
            worker_id=worker_id,
            adapter_off=off.get(aims[row["target_id"]]["adapter_id"], ""),
            accepted_version=versions.get(aims[row["target_id"]]["adapter_id"], ""),
        )
        for row in rows
        if row["source_id"] in parsed and row["target_id"] in aims
    ]


def _tab_before(booked_until: datetime | None, pace: Pace) -> datetime | None:
    """A host's booking without the request that this claim has put on it."""
    return None if booked_until is None else booked_until - pace.interval


async def drop_orphans(
    connection: AsyncConnection, rows: Sequence[Row], claimed: Sequence[Claimed], now: datetime
) -> None:
    """Refuse the jobs whose source or target was removed after they were enqueued."""
    held = {each.job.id for each in claimed}
    orphans = [row for row in rows if row["id"] not in held]
    if not orphans:
        return
    ended = {"status": JobStatus.REFUSED, "current_stage": Stage.COMPLETED, "completed_at": now}
    await connection.execute(
        update(jobs)
        .where(jobs.c.id.in_([row["id"] for row in orphans]))
        .values(**ended, failure=Failure.TARGET_OFF, last_error="its source or target was removed")
    )
    counts = Counter(row["run_id"] for row in orphans)
    left = update(runs).where(runs.c.id == bindparam("b_run"))
    fewer = left.values(
        open_jobs=runs.c.open_jobs - bindparam("b_count"),
        urls_attempted=runs.c.urls_attempted + bindparam("b_count"),
        urls_refused=runs.c.urls_refused + bindparam("b_count"),
    )
    await connection.execute(fewer, [{"b_run": run, "b_count": count} for run, count in sorted(counts.items())])


async def _by_key(connection: AsyncConnection, query: HotQuery, keys: Sequence[Any], key: str) -> dict[Any, Row]:
    return {row[key]: row for row in await query.fetch(connection, ids=keys)}
