"""What a replay reads again: stored pages, each with its source, its target and what was kept of it then."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.page import Page
from tidemill.core.replay.page_difference import ComparedReading, ReadRecord, ReplayedState, naming_words
from tidemill.core.replay.views import ReplayScope
from tidemill.core.source import Source
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies
from tidemill.store.pages.outputs import decode_staged, page_of
from tidemill.store.schema import (
    jobs,
    pages,
    rejected_records,
    replay_pages,
    sources,
    staged_records,
    targets,
)
from tidemill.store.schema.rows import source_of


class ReplayInput(msgspec.Struct, frozen=True, kw_only=True):
    """A page to read again; `state` says why it cannot be compared, if so, and `then` what was kept of it."""

    number: int
    page_id: int
    run_id: int
    source_id: int
    state: ReplayedState
    page: Page | None = None
    source: Source | None = None
    adapter_id: str = ""
    parameters: Mapping[str, str] = {}
    page_number: int = 1
    then: ComparedReading = ComparedReading()


_PENDING = (
    select(replay_pages.c.number, replay_pages.c.page_id, replay_pages.c.run_id, replay_pages.c.source_id)
    .where(replay_pages.c.state == ReplayedState.PENDING)
    .order_by(replay_pages.c.number)
)
_REJECTED = select(rejected_records.c.page_id, rejected_records.c.reason, rejected_records.c.raw).order_by(
    rejected_records.c.page_id, rejected_records.c.position
)


class ReplayInputs:
    """Reads back what replays need, a portion of pages at a time."""

    def __init__(self, database: Database, bodies: Bodies) -> None:
        """Work on one database and its pages."""
        self._database = database
        self._bodies = bodies

    async def portion(self, replay_id: int, limit: int) -> list[ReplayInput]:
        """Return the next pages of a replay that have not been read, in order."""
        async with self._database.glance() as connection:
            query = _PENDING.where(replay_pages.c.replay_id == replay_id).limit(limit)
            waiting = list((await connection.execute(query)).mappings())
            if not waiting:
                return []
            keys = [row["page_id"] for row in waiting]
            rows = {row["id"]: row for row in (await connection.execute(_details(keys))).mappings()}
            owners = await _sources(connection, {row["source_id"] for row in waiting})
            refusals = await _refusals(connection, keys)
            contents = await self._bodies.get(connection, {row["body_key"] for row in rows.values()})
            return [
                await self._input(connection, one, rows.get(one["page_id"]), owners, refusals, contents)
                for one in waiting
            ]

    async def were_read(self, scope: ReplayScope) -> bool:
        """Return whether pages of a source's or an adapter's targets were ever read well, kept or not."""
        read = select(targets.c.id).join(sources, sources.c.id == targets.c.source_id)
        read = read.where(targets.c.good_page_id.is_not(None))
        if scope.source:
            read = read.where(sources.c.name == scope.source)
        if scope.adapter:
            read = read.where(targets.c.adapter_id == scope.adapter)
        async with self._database.read() as connection:
            return (await connection.execute(read.limit(1))).first() is not None

    async def _input(
        self,
        connection: AsyncConnection,
        waiting: Mapping[Any, Any],
        row: Mapping[Any, Any] | None,
        owners: Mapping[int, Source],
        refusals: Mapping[int, Sequence[tuple[str, str]]],
        contents: Mapping[bytes, bytes],
    ) -> ReplayInput:
        source = owners.get(waiting["source_id"])
        if row is not None and row["status_code"] == HTTPStatus.NOT_MODIFIED:
            return ReplayInput(**waiting, state=ReplayedState.UNCHANGED)
        if row is None or source is None or row["body_key"] not in contents:
            return ReplayInput(**waiting, state=ReplayedState.GONE)
        state, then = await self._kept(connection, row, refusals.get(row["id"], ()))
        return ReplayInput(
            **waiting,
            state=state,
            page=page_of(row, contents[row["body_key"]]),
            source=source,
            adapter_id=row["its_adapter"],
            parameters=row["its_parameters"] or {},
            page_number=row["its_page_number"] or 1,
            then=then,
        )

    async def _kept(
        self, connection: AsyncConnection, row: Mapping[Any, Any], refusals: Sequence[tuple[str, str]]
    ) -> tuple[ReplayedState, ComparedReading]:
        """Return what was kept of a page: its staged records, or the failure that its job ended with."""
        stored = None
        if row["was_staged"] is not None:
            stored = await self._bodies.outputs.get(connection, staged_records.c.staged, row["id"])
        if stored is not None:
            staged = decode_staged(stored)
            accepted = [
                ReadRecord(one.identity, msgspec.json.decode(one.record), bytes(one.record)) for one in staged.accepted
            ]
            return ReplayedState.COMPARED, ComparedReading(
                accepted=accepted, refusals=refusals, dropped=row["was_dropped"], quarantined=row["was_quarantined"],
                truncated=staged.truncated, unusable=staged.unusable,
            )  # fmt: skip
        if row["its_failure"] is not None and row["its_page"] == row["id"]:
            return ReplayedState.COMPARED, ComparedReading(failure=row["its_failure"])
        twin = (
            select(pages.c.id)
            .join(staged_records, staged_records.c.page_id == pages.c.id)
            .where(pages.c.target_id == row["target_id"], pages.c.content_hash == row["content_hash"])
            .limit(1)
        )
        is_known = (await connection.execute(twin)).first() is not None
        return (ReplayedState.UNCHANGED if is_known else ReplayedState.NOT_KEPT), ComparedReading()


def _details(keys: Sequence[int]) -> Select[Any]:
    return (
        select(
            pages,
            targets.c.adapter_id.label("its_adapter"),
            targets.c.parameters.label("its_parameters"),
            jobs.c.failure.label("its_failure"),
            jobs.c.page_id.label("its_page"),
            func.coalesce(jobs.c.page_number, 1).label("its_page_number"),
            staged_records.c.page_id.label("was_staged"),
            func.coalesce(staged_records.c.dropped, 0).label("was_dropped"),
            func.coalesce(staged_records.c.quarantined, 0).label("was_quarantined"),
        )
        .join(targets, targets.c.id == pages.c.target_id)
        .outerjoin(jobs, jobs.c.id == pages.c.job_id)
        .outerjoin(staged_records, staged_records.c.page_id == pages.c.id)
        .where(pages.c.id.in_(keys))
    )


async def _sources(connection: AsyncConnection, keys: set[int]) -> dict[int, Source]:
    rows = await connection.execute(select(sources).where(sources.c.id.in_(sorted(keys))))
    return {row["id"]: source_of(row) for row in rows.mappings()}


async def _refusals(connection: AsyncConnection, keys: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for row in await connection.execute(_REJECTED.where(rejected_records.c.page_id.in_(keys))):
        found[row.page_id].append((row.reason, naming_words(row.raw.get("fields") or {})))
    return found
