"""Sweeps: jobs that waited too long, and the gap between what the schedule asked for and what happened."""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import exists, func, or_, select, text, update

from tidemill.core.job import JobStatus
from tidemill.core.target import TargetStatus
from tidemill.store.database.database import Database
from tidemill.store.database.inline import InlineAsyncConnection
from tidemill.store.ledger.dead_letters import give_back
from tidemill.store.schema import IS_OPEN, breakers, hosts, jobs, live_pages, runs, sources, targets
from tidemill.store.sources.adapters import is_off

_WAITS = text("pipeline_jobs.status IN ('ready', 'waiting')")
_RUN_BEGAN = select(runs.c.started_at).where(runs.c.id == jobs.c.run_id).scalar_subquery().label("began")


class Sweeps:
    """Finds what time has passed over."""

    def __init__(self, database: Database, verticals: Collection[str] | None = None) -> None:
        """`verticals` are those that are installed, None for any: the jobs of others wait for as long as it takes."""
        self._database = database
        self._installed = None if verticals is None else sorted(verticals)

    async def stale(self, older_than: timedelta, now: datetime) -> Mapping[tuple[int, str], int]:
        """Jobs pending for longer than this become STALE: visible, requeueable, counted by source and adapter.

        A job waits since its run began: one that was retried is as old as its retry, not as its first try.
        """
        before = now - older_than
        # Ages are looked at afterwards: asked with them, SQLite walks every job and run that is older, ended or not.
        old = select(
            jobs.c.id, jobs.c.run_id, jobs.c.source_id, jobs.c.adapter_id, jobs.c.created_at, _RUN_BEGAN
        ).where(IS_OPEN, _WAITS)
        if self._installed is not None:
            old = old.where(jobs.c.vertical.in_(self._installed))
        async with self._database.write() as connection:
            found = await connection.execute(old.with_for_update(skip_locked=True, of=jobs))
            rows = [row for row in found if row.created_at < before and row.began is not None and row.began < before]
            if not rows:
                return {}
            ended = {"status": JobStatus.STALE, "fence": jobs.c.fence + 1, "completed_at": now}
            await connection.execute(update(jobs).where(jobs.c.id.in_([row.id for row in rows])).values(**ended))
            await give_back(connection, [row.id for row in rows], now)
            counts = Counter(row.run_id for row in rows)
            for run_id, count in sorted(counts.items()):
                fewer = {"open_jobs": runs.c.open_jobs - count, "urls_attempted": runs.c.urls_attempted + count,
                         "urls_failed": runs.c.urls_failed + count}  # fmt: skip
                await connection.execute(update(runs).where(runs.c.id == run_id).values(**fewer))
        return Counter((row.source_id, row.adapter_id) for row in rows)

    async def undispatched(self, grace: timedelta, now: datetime) -> list[tuple[str, int]]:
        """Sources with targets long due that nothing holds back, yet no job was made of.

        Pages of things that are watched live are polled by the watch of their thing and get no jobs of their own.
        """
        watched = exists().where(live_pages.c.target_id == targets.c.id)
        working = exists().where(jobs.c.target_id == targets.c.id, IS_OPEN)
        barred = breakers.c.state == "OPEN"
        query = (
            select(sources.c.name, func.count())
            .select_from(targets)
            .join(sources, sources.c.id == targets.c.source_id)
            .outerjoin(breakers, breakers.c.source_id == sources.c.id)
            .outerjoin(hosts, hosts.c.host == targets.c.host)
            .where(text("scrape_targets.enabled"), targets.c.next_due_at < now - grace)
            .where(targets.c.status.in_((TargetStatus.ACTIVE, TargetStatus.BROKEN)))
            .where(sources.c.enabled, ~sources.c.auto_disabled, ~working, ~watched, ~is_off(targets.c.adapter_id))
            .where(or_(breakers.c.source_id.is_(None), ~barred))
            .where(or_(hosts.c.host.is_(None), hosts.c.opens_at <= now))
            .group_by(sources.c.name)
            .order_by(sources.c.name)
        )
        async with self._database.read() as connection:  # a million overdue targets take seconds
            return [(row[0], row[1]) for row in await connection.execute(query)]

    async def not_installed(self) -> list[tuple[str, int]]:
        """Verticals that sources belong to and that are not installed, and how many sources."""
        query = select(sources.c.vertical, func.count()).group_by(sources.c.vertical).order_by(sources.c.vertical)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [(row[0], row[1]) for row in rows if self._installed is not None and row[0] not in self._installed]

    async def vacuum(self) -> None:
        """Let the database tidy up after itself."""
        if self._database.is_sqlite:
            async with self._database.between_writes() as connection:
                own = cast("InlineAsyncConnection", connection)
                await own.driver.say_patiently("PRAGMA optimize", "PRAGMA wal_checkpoint(TRUNCATE)")
