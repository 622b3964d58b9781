"""Watches as their owner holds them: the thing, its life and newest state, and the pages that tell of it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.live.change import Published, ThingKey
from tidemill.core.live.lifecycle import Life, Lifecycle
from tidemill.core.live.rules import LIST_ROLE, LIVE_ROLE, THING_ROLE, LiveSite, Outlook, Phase
from tidemill.core.pacing import Pace
from tidemill.core.source import Source
from tidemill.core.target import Target
from tidemill.pipeline.checkpoints import Claimed
from tidemill.pipeline.live_ports import LIVE_LANE, ClaimedWatch, WatchedPage
from tidemill.store.database.database import Database
from tidemill.store.ledger import claims_sql as sql
from tidemill.store.ledger.claims import drop_orphans, lease, promote_waiting, with_context
from tidemill.store.live.watches import at_page
from tidemill.store.records.live import ChangeLog
from tidemill.store.schema import jobs, live_pages, live_things
from tidemill.store.schema.rows import breaker_of, pace_of, source_of, target_of
from tidemill.store.sources.adapters import switched_off

BOOKED_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
"""A watch's claim books no request of its host: each poll has a slot of those that are bought together."""

_DUE = select(jobs.c.id, jobs.c.due_at).where(jobs.c.id.in_(bindparam("b_ids", expanding=True)))
_THINGS = select(live_things).where(live_things.c.anchor_id.in_(bindparam("b_targets", expanding=True)))
_PAGES = (
    select(live_pages)
    .where(live_pages.c.thing_id.in_(bindparam("b_things", expanding=True)))
    .order_by(live_pages.c.thing_id, live_pages.c.target_id)
)


class WatchClaims:
    """Takes watches for a worker, and reads them again when their pages have changed."""

    def __init__(self, database: Database, log: ChangeLog) -> None:
        """`log` has the newest state of each thing."""
        self._database = database
        self._log = log

    async def claim(self, worker_id: int, limit: int, now: datetime, skip: Collection[int] = ()) -> list[ClaimedWatch]:
        """Take up to so many watches that nobody holds, but none of these jobs."""
        async with self._database.write() as connection:
            await promote_waiting(connection, now)
            free = await sql.RESUMABLE.fetch(connection, lane=LIVE_LANE, limit=limit + len(skip))
            rows = [row for row in free if row["id"] not in skip][:limit]
            if not rows:
                return []
            await lease(connection, [row["id"] for row in rows], worker_id, now)
            claimed = await with_context(connection, rows, worker_id)
            await drop_orphans(connection, rows, claimed, now)
            found = await _load(connection, [each.job for each in claimed], worker_id)
        return await self._with_states(found)

    async def reload(self, held: Sequence[Job]) -> list[ClaimedWatch]:
        """Read watches again that are held under these jobs."""
        async with self._database.glance() as connection:
            found = await _load(connection, held, 0)
        return await self._with_states(found)

    async def _with_states(self, found: Sequence[ClaimedWatch]) -> list[ClaimedWatch]:
        states: Mapping[ThingKey, Published] = await self._log.latest(
            [each.thing for each in found if each.thing is not None]
        )
        return [
            each if each.thing is None else msgspec.structs.replace(each, published=states.get(each.thing))
            for each in found
        ]


class _Context:
    """Sources, targets, paces and breakers by their keys."""

    def __init__(self, sources: Any, targets: Any, paces: Any, breakers: Any, off: Mapping[str, str]) -> None:
        self.sources: dict[int, Source] = {row["id"]: source_of(row) for row in sources}
        self.targets: dict[int, Target] = {row["id"]: target_of(row) for row in targets}
        self.paces: dict[str, Pace] = {row["host"]: pace_of(row) for row in paces}
        self.breakers = {row["source_id"]: breaker_of(row) for row in breakers}
        self.off = off

    def claimed(self, job: Job, target_id: int, role: str, worker_id: int) -> Claimed | None:
        target = self.targets.get(target_id)
        source = self.sources.get(target.source_id) if target else None
        if target is None or source is None:
            return None
        known = msgspec.structs.replace(target, parameters={**target.parameters, LIVE_ROLE: role})
        return Claimed(
            job=at_page(job, source.id, target.id, target.host, target.url),
            source=source,
            target=known,
            pace=self.paces.get(target.host, Pace()),
            breaker=self.breakers.get(source.id, breaker_of(None)),
            booked_until=BOOKED_LONG_AGO,
            worker_id=worker_id,
            adapter_off=self.off.get(target.adapter_id, ""),
        )


async def _load(connection: AsyncConnection, held: Sequence[Job], worker_id: int) -> list[ClaimedWatch]:
    due = await connection.execute(_DUE, {"b_ids": [job.id for job in held]})
    due_at = {row.id: row.due_at for row in due}
    rows = (await connection.execute(_THINGS, {"b_targets": [job.target_id for job in held]})).mappings().all()
    things = {row["anchor_id"]: row for row in rows}
    page_rows = (await connection.execute(_PAGES, {"b_things": [row["id"] for row in rows]})).mappings().all()
    context = await _context(connection, {job.target_id for job in held} | {row["target_id"] for row in page_rows})
    pages: dict[int, list[Any]] = {}
    for row in page_rows:
        pages.setdefault(row["thing_id"], []).append(row)
    found = []
    for job in held:
        thing = things.get(job.target_id)
        watch = (
            _list_watch(job, due_at[job.id], context, worker_id)
            if thing is None
            else _thing_watch(job, due_at[job.id], thing, pages.get(thing["id"], []), context, worker_id)
        )
        found += [watch] if watch is not None else []
    return found


async def _context(connection: AsyncConnection, target_ids: set[int]) -> _Context:
    targets = await sql.TARGETS_BY_ID.fetch(connection, ids=sorted(target_ids))
    source_ids = sorted({row["source_id"] for row in targets})
    sources = await sql.SOURCES_BY_ID.fetch(connection, ids=source_ids)
    breakers = await sql.BREAKERS_BY_SOURCE.fetch(connection, ids=source_ids)
    paces = await sql.PACES_BY_HOST.fetch(connection, ids=sorted({row["host"] for row in targets}))
    return _Context(sources, targets, paces, breakers, await switched_off(connection))


def _list_watch(job: Job, due_at: datetime, context: _Context, worker_id: int) -> ClaimedWatch | None:
    claimed = context.claimed(job, job.target_id, LIST_ROLE, worker_id)
    return None if claimed is None else ClaimedWatch(job=job, due_at=due_at, pages=[WatchedPage(claimed=claimed)])


def _thing_watch(
    job: Job, due_at: datetime, thing: Any, page_rows: Sequence[Any], context: _Context, worker_id: int
) -> ClaimedWatch:
    pages = []
    for row in page_rows:
        claimed = context.claimed(job, row["target_id"], THING_ROLE, worker_id)
        if claimed is not None:
            pages.append(_page(claimed, row))
    life = Life(
        state=Lifecycle(thing["lifecycle"]),
        since=thing["since"],
        missed_lists=thing["missed_lists"],
        paused_until=thing["paused_until"],
    )
    return ClaimedWatch(
        job=job,
        due_at=due_at,
        pages=pages,
        thing_id=thing["id"],
        thing=ThingKey(thing["vertical"], thing["key"]),
        life=life,
        outlook=Outlook(Phase(thing["phase"]), thing["starts_at"]),
    )


def _page(claimed: Claimed, row: Any) -> WatchedPage:
    source = claimed.source
    site = LiveSite(
        source_id=source.id, source=source.name, source_key=row["source_key"], precedence=source.precedence,
        resource=row["resource"],
    )  # fmt: skip
    return WatchedPage(
        claimed=claimed,
        site=site,
        missed_lists=row["missed_lists"],
        checked_at=row["checked_at"],
        changed_at=row["changed_at"],
    )
