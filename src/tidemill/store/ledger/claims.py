"""Claims: jobs are taken hosts first, so that no slot is ever held by a host that may not be asked now."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import (
    BindParameter,
    Column,
    Select,
    Table,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    select,
    text,
    true,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.failure import Failure
from tidemill.core.job import JobStatus
from tidemill.core.outcome import Stage
from tidemill.core.pacing import Pace, charged, opens_at, requests_allowed
from tidemill.pipeline.checkpoints import Claimed
from tidemill.store.database.bulk import change, read_all, write_many
from tidemill.store.database.database import Database
from tidemill.store.ledger.list_pages import as_seen_by, further_pages
from tidemill.store.schema import breakers, hosts, jobs, runs, sources, targets
from tidemill.store.schema.rows import Row, breaker_of, job_of, pace_of, source_of, target_of
from tidemill.store.sources.adapters import switched_off

PROMOTED_AT_ONCE = 500
MAIN_LANE = "http"
"""Nearly every job is here."""
CONTESTED = timedelta(milliseconds=50)
"""When to look again at a host that somebody else was just looking at."""

# Spelled out, not bound: a planner only uses a partial index when it can read its condition in the statement.
_READY_FETCH = text("pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage = 'fetch'")
_READY_LATER = text("pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage <> 'fetch'")
_LEASED = text("pipeline_jobs.status = 'leased'")
_WAITING = text("pipeline_jobs.status = 'waiting'")
_HAS_WORK = text("hosts.has_work")

# Statements are built once: putting one together costs as much as running it, and a claim runs a dozen.
_BEST = (
    select(jobs.c.rank)
    .where(_READY_FETCH, jobs.c.host == hosts.c.host, jobs.c.lane == bindparam("b_lane"))
    .order_by(jobs.c.rank)
    .limit(1)
    .scalar_subquery()
)
_BUSY = (
    select(func.count())
    .select_from(jobs)
    .where(_LEASED, jobs.c.host == hosts.c.host, jobs.c.current_stage == Stage.FETCH)
    .scalar_subquery()
)
_GUESTS = case((hosts.c.guests_until > bindparam("b_now"), hosts.c.guests), else_=0)
"""Requests that a redirect led to the host: no job of its own stands for them."""
_PACE = [hosts.c[name] for name in ("host", "interval_ms", "burst", "parallel", "crawl_delay_ms", "tab_at")]
"""As much of a host as decides when it may be asked; no moment is read that nobody looks at."""
_OPEN_HOSTS = (
    select(*_PACE, _BEST.label("best"), (_BUSY + _GUESTS).label("busy"))
    .where(_HAS_WORK, hosts.c.opens_at <= bindparam("b_now"), hosts.c.parallel > _BUSY + _GUESTS)
    .order_by(literal_column("best").nulls_last(), hosts.c.served_at.nulls_first(), hosts.c.host)
    .limit(bindparam("b_limit"))
    .with_for_update(skip_locked=True, of=hosts)
)
_OWN_HOSTS = _OPEN_HOSTS.where(_BEST.is_not(None))
"""For the side lanes: a host that has nothing for them is not theirs to lock."""
_HELD = [
    jobs.c[name]
    for name in ("id", "run_id", "source_id", "target_id", "vertical", "lane", "host", "url", "current_stage",
                 "attempts", "max_attempts", "fence", "page_id", "trigger", "page_number")
]  # fmt: skip
"""As much of a job as its worker holds."""
_RESUMABLE = (
    select(*_HELD)
    .where(_READY_LATER, jobs.c.lane == bindparam("b_lane"))
    .order_by(jobs.c.rank, jobs.c.id)
    .limit(bindparam("b_limit"))
    .with_for_update(skip_locked=True)
)
_PROMOTABLE = (
    select(jobs.c.id, jobs.c.host)
    .where(_WAITING, jobs.c.not_before <= bindparam("b_now"))
    .order_by(jobs.c.not_before)
    .limit(PROMOTED_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_MOMENTS = select(
    select(func.min(hosts.c.opens_at)).where(_HAS_WORK, hosts.c.opens_at > bindparam("b_now")).scalar_subquery(),
    select(func.min(jobs.c.not_before)).where(_WAITING, jobs.c.not_before > bindparam("b_now")).scalar_subquery(),
)
_IN_LANE = jobs.c.lane == bindparam("b_lane")
_MOMENTS_OF_LANE = select(
    select(func.min(hosts.c.opens_at))
    .where(_HAS_WORK, hosts.c.opens_at > bindparam("b_now"))
    .where(exists().where(_READY_FETCH, jobs.c.host == hosts.c.host, _IN_LANE))
    .scalar_subquery(),
    select(func.min(jobs.c.not_before))
    .where(_WAITING, jobs.c.not_before > bindparam("b_now"), _IN_LANE)
    .scalar_subquery(),
)
_PASSED_OVER = select(
    exists()
    .where(_HAS_WORK, hosts.c.opens_at <= bindparam("b_now"), hosts.c.parallel > _BUSY + _GUESTS)
    .where(exists().where(_READY_FETCH, jobs.c.host == hosts.c.host, _IN_LANE))
    .label("is_contested")
)
_LEASE = (
    update(jobs)
    .where(jobs.c.id.in_(bindparam("b_ids", expanding=True)))
    .values(
        status=JobStatus.LEASED,
        fence=jobs.c.fence + 1,
        leased_by=bindparam("b_worker"),
        leased_at=bindparam("b_now"),
        started_at=func.coalesce(jobs.c.started_at, bindparam("b_now", type_=jobs.c.started_at.type)),
    )
)


def _best_jobs(*, on_sqlite: bool) -> Select[Any]:
    """The best ready jobs of every named host, by index alone: no more of the job than its place in line."""
    inner = (
        select(jobs.c.id)
        .where(_READY_FETCH, jobs.c.host == hosts.c.host, jobs.c.lane == bindparam("b_lane"))
        .order_by(jobs.c.rank, jobs.c.id)
        .limit(bindparam("b_each"))
        .correlate(hosts)
    )
    if on_sqlite:
        joined = hosts.join(jobs, jobs.c.id.in_(inner.scalar_subquery()))
    else:
        best = inner.lateral("best")
        joined = hosts.join(best, true()).join(jobs, jobs.c.id == best.c.id)
    line = select(jobs.c.id, jobs.c.host, jobs.c.rank).select_from(joined).where(hosts.c.host.in_(_KEYS))
    return line.order_by(jobs.c.rank, jobs.c.id).with_for_update(skip_locked=True, of=jobs)


def _without_dates(table: Table) -> list[Column[Any]]:
    """The columns of a table but for when its rows were written, which no worker asks."""
    return [column for column in table.columns if column.name not in {"created_at", "updated_at"}]


_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_BEST_JOBS = {on_sqlite: _best_jobs(on_sqlite=on_sqlite) for on_sqlite in (True, False)}
_READY = update(jobs).where(jobs.c.id.in_(_KEYS)).values(status=JobStatus.READY, not_before=None)
_MARK_WORK = update(hosts).where(hosts.c.host.in_(_KEYS), ~hosts.c.has_work).values(has_work=True)
_CLEAR_IDLE = (
    update(hosts)
    .where(hosts.c.host.in_(_KEYS), ~exists().where(_READY_FETCH, jobs.c.host == hosts.c.host))
    .values(has_work=False)
)
_JOBS = select(*_HELD).where(jobs.c.id.in_(_KEYS))
_SOURCES = select(*_without_dates(sources)).where(sources.c.id.in_(_KEYS))
_TARGETS = select(*_without_dates(targets)).where(targets.c.id.in_(_KEYS))
_BREAKERS = select(breakers).where(breakers.c.source_id.in_(_KEYS))
_HOSTS = select(*_PACE).where(hosts.c.host.in_(_KEYS))


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
        """Take up to `limit` jobs that may run now: those to resume first, then by host."""
        async with self._database.write() as connection:
            await promote_waiting(connection, now)
            rows = await self._resumable(connection, lane, limit)
            if len(rows) < limit:
                rows += await self._by_host(connection, lane, limit - len(rows), now)
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
        statement, asked = (_MOMENTS, {}) if lane == MAIN_LANE else (_MOMENTS_OF_LANE, {"b_lane": lane})
        async with self._database.glance() as connection:
            if not self._database.is_sqlite:
                (passed,) = await read_all(connection, _PASSED_OVER, {"b_now": now, "b_lane": lane})
                if passed["is_contested"]:
                    return now + CONTESTED
            (moments,) = await read_all(connection, statement, {"b_now": now, **asked})
        return min((moment for moment in moments.values() if moment is not None), default=None)

    async def _resumable(self, connection: AsyncConnection, lane: str, limit: int) -> list[Row]:
        """Jobs past their fetch that a worker left behind: no host need be asked for them."""
        return list(await read_all(connection, _RESUMABLE, {"b_lane": lane, "b_limit": limit}))

    async def _by_host(self, connection: AsyncConnection, lane: str, limit: int, now: datetime) -> list[Row]:
        shares = await open_hosts(connection, lane, limit, now)
        if not shares:
            return []
        wanted = {share.host: share.slots for share in shares}
        each = min(max(wanted.values()), 2 * limit // len(wanted) + 2)
        asked = {"b_keys": list(wanted), "b_lane": lane, "b_each": each}
        found = await read_all(connection, _BEST_JOBS[self._database.is_sqlite], asked)
        taken = fair_share(found, wanted, limit)
        await charge_hosts(connection, shares, taken, now)
        await self._clear_idle(connection, [share.host for share in shares], found)
        rows = await _by_key(connection, _JOBS, [row["id"] for row in taken], "id")
        return [rows[row["id"]] for row in taken]

    async def _clear_idle(self, connection: AsyncConnection, asked: Iterable[str], found: Sequence[Row]) -> None:
        """Hosts that turned out to have nothing ready are not looked at again until something is enqueued."""
        if idle := sorted(set(asked) - {row["host"] for row in found}):
            await change(connection, _CLEAR_IDLE, {"b_keys": idle})


async def promote_waiting(connection: AsyncConnection, now: datetime) -> None:
    """Make jobs ready whose waiting time is over."""
    rows = await read_all(connection, _PROMOTABLE, {"b_now": now})
    if not rows:
        return
    await change(connection, _READY, {"b_keys": [row["id"] for row in rows]})
    await mark_work(connection, {row["host"] for row in rows})


async def mark_work(connection: AsyncConnection, names: Iterable[str]) -> None:
    """Note that these hosts have jobs to be taken."""
    if names := sorted(names):
        await change(connection, _MARK_WORK, {"b_keys": names})


async def open_hosts(connection: AsyncConnection, lane: str, limit: int, now: datetime) -> list[Share]:
    """The hosts that may be asked now: best waiting job first, then the least recently served.

    Hosts with their hands full are left out by the query, and as many hosts are taken as jobs are wanted: neither
    slow hosts nor a great number of them keep others from being looked at.
    """
    statement = _OPEN_HOSTS if lane == MAIN_LANE else _OWN_HOSTS
    rows = await read_all(connection, statement, {"b_lane": lane, "b_now": now, "b_limit": limit})
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


_CHARGE = (
    update(hosts)
    .where(hosts.c.host == bindparam("b_host"))
    .values(tab_at=bindparam("b_tab"), opens_at=bindparam("b_opens"), served_at=bindparam("b_now"))
)


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
                    "b_host": share.host,
                    "b_tab": booked_until,
                    "b_opens": opens_at(pace, booked_until, now),
                    "b_now": now,
                }
            )
    if charges:
        await write_many(connection, _CHARGE, charges)


async def lease(connection: AsyncConnection, ids: Sequence[int], worker_id: int, now: datetime) -> None:
    """Put jobs into a worker's hands; the raised fence shuts out whoever held them before."""
    await change(connection, _LEASE, {"b_ids": list(ids), "b_worker": worker_id, "b_now": now})


async def with_context(connection: AsyncConnection, rows: Sequence[Row], worker_id: int) -> list[Claimed]:
    """The jobs with their sources, targets, paces and breakers as of this moment; three queries for all of them."""
    source_ids = sorted({row["source_id"] for row in rows})
    known = await _by_key(connection, _SOURCES, source_ids, "id")
    aims = await _by_key(connection, _TARGETS, [row["target_id"] for row in rows], "id")
    tripped = await _by_key(connection, _BREAKERS, source_ids, "source_id")
    places = await _by_key(connection, _HOSTS, sorted({row["host"] for row in rows}), "host")
    further = await further_pages(connection, [row["target_id"] for row in rows if row["page_number"] > 1])
    parsed = {key: source_of(row) for key, row in known.items()}
    guards = {key: breaker_of(tripped.get(key)) for key in source_ids}
    paces = {host: pace_of(row) for host, row in places.items()}
    tabs = {host: _tab_before(row["tab_at"], paces[host]) for host, row in places.items()}
    off = await switched_off(connection)
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


async def _by_key(connection: AsyncConnection, query: Select[Any], keys: Sequence[Any], key: str) -> dict[Any, Row]:
    return {row[key]: row for row in await read_all(connection, query, {"b_keys": list(keys)})}
