"""Replays, kept: begun with a fixed list of pages, filled portion by portion, ended with a report."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import zstandard
from sqlalchemy import (
    ColumnElement,
    Integer,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from tidemill.core.audit import AuditEntry
from tidemill.core.replay.page_difference import PageDifference, ReplayedState
from tidemill.core.replay.report import ReplayedPage, ReplayReport
from tidemill.core.replay.views import ChangeStatus, ReplayScope, ReplayStatus, ReplayView
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import jobs, pages, replay_pages, replays, runs, sources, staged_records, targets
from tidemill.store.upkeep.audit import take_keys, write_audit

AT_ONCE = 500
"""Pages of a finished replay that are in memory at once."""
RUNS_COMPARED = 10
"""Earlier complete runs that tell what is usual for a source."""
LONGEST_DIFFERENCE = 64 * 1024 * 1024

_decode_difference = msgspec.json.Decoder(PageDifference).decode
_decode_report = msgspec.json.Decoder(ReplayReport).decode
_encode = msgspec.json.Encoder(order="deterministic").encode

_done = (
    select(func.count())
    .where(replay_pages.c.replay_id == replays.c.id, replay_pages.c.state != ReplayedState.PENDING)
    .correlate(replays)
    .scalar_subquery()
)
_SHOWN = select(*(column for column in replays.c if column is not replays.c.report), _done.label("pages_done"))


_FILL = (
    update(replay_pages)
    .where(replay_pages.c.replay_id == bindparam("b_replay"), replay_pages.c.number == bindparam("b_number"))
    .values(
        state=bindparam("b_state"), records_then=bindparam("b_then"), records_now=bindparam("b_now"),
        changes=bindparam("b_changes"), difference=bindparam("b_difference"),
    )
)  # fmt: skip


class FilledPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a replay that was dealt with; only `COMPARED` pages have a difference."""

    number: int
    state: ReplayedState
    difference: PageDifference | None = None


class RunToCertify(msgspec.Struct, frozen=True, kw_only=True):
    """A run some pages of which read otherwise now, as its row has it."""

    run_id: int
    source: str
    row: Mapping[str, Any]
    pages: Sequence[PageDifference]


class ReplayRepository:
    """Where replays are kept."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def begin(
        self, scope: ReplayScope, change: ChangeStatus, by: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> int:
        """Write a replay down with the pages that it is to read, the newest of its scope; answers its key."""
        key, *keys = await take_keys(self._ids, 1 + len(audit))
        row = {
            "id": key, "scope": msgspec.to_builtins(scope), "status": ReplayStatus.RUNNING, "change": change,
            "held_because": [], "cost": {}, "applied": {}, "created_at": now, "created_by": by,
        }  # fmt: skip
        async with self._database.write() as connection:
            await connection.execute(replays.insert(), [row])
            names = ("replay_id", "number", "page_id", "run_id", "source_id", "url", "fetched_at", "state")
            await connection.execute(insert(replay_pages).from_select(names, _pages_of(key, scope)))
            counted = select(func.count()).where(replay_pages.c.replay_id == key)
            total = int((await connection.execute(counted)).scalar_one())
            await connection.execute(update(replays).where(replays.c.id == key).values(pages_total=total))
            await write_audit(connection, zip(keys, audit, strict=True), now)
        return key

    async def fill(self, replay_id: int, filled: Sequence[FilledPage]) -> None:
        """Keep what came of a portion of pages; written once more it is the same."""
        packer = zstandard.ZstdCompressor()
        rows = []
        for one in filled:
            found = one.difference
            rows.append({
                "b_replay": replay_id, "b_number": one.number, "b_state": one.state,
                "b_then": 0 if found is None else found.then_verdicts[0],
                "b_now": 0 if found is None else found.now_verdicts[0],
                "b_changes": 0 if found is None else len(found.changes),
                "b_difference": None if found is None else packer.compress(_encode(found)),
            })  # fmt: skip
        async with self._database.write() as connection:
            await write_each(connection, _FILL, rows)

    async def walk(self, replay_id: int, *, differing: bool = False) -> AsyncIterator[tuple[int, ReplayedPage]]:
        """Yield the pages of a replay in order, each with its source's key; only those that differ if asked."""
        last = 0
        while True:
            query = (
                select(replay_pages, func.coalesce(sources.c.name, "").label("source"))
                .outerjoin(sources, sources.c.id == replay_pages.c.source_id)
                .where(replay_pages.c.replay_id == replay_id, replay_pages.c.number > last)
                .order_by(replay_pages.c.number)
                .limit(AT_ONCE)
            )
            if differing:
                query = query.where(replay_pages.c.changes > 0)
            async with self._database.read() as connection:
                rows = list((await connection.execute(query)).mappings())
            for row in rows:
                yield row["source_id"], _replayed(row)
            if len(rows) < AT_ONCE:
                return
            last = rows[-1]["number"]

    async def runs_of(self, replay_id: int) -> AsyncIterator[RunToCertify]:
        """Yield the runs whose pages differ in what certificates look at."""
        gathered: dict[int, list[PageDifference]] = {}
        names: dict[int, str] = {}
        async for _, page in self.walk(replay_id):
            found = page.difference
            if found is not None and page.run_id and _matters(found):
                gathered.setdefault(page.run_id, []).append(_counts_of(found))
                names[page.run_id] = page.source
        for run_id in sorted(gathered):
            row = await self._run(run_id)
            if row is not None and row["complete"] is not None:
                yield RunToCertify(run_id=run_id, source=names[run_id], row=row, pages=gathered[run_id])

    async def _run(self, run_id: int) -> dict[str, Any] | None:
        """Return a run's row, with how many targets its source has and what earlier complete runs of it saw."""
        on = select(func.count()).where(targets.c.source_id == runs.c.source_id, targets.c.enabled)
        query = select(runs, on.scalar_subquery().label("targets_on")).where(runs.c.id == run_id)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
            if row is None:
                return None
            seen = (
                select(runs.c.records_accepted + runs.c.records_seen_again)
                .where(runs.c.source_id == row["source_id"], runs.c.scope == row["scope"], runs.c.complete)
                .where(runs.c.started_at < row["started_at"])
                .order_by(runs.c.started_at.desc())
                .limit(RUNS_COMPARED)
            )
            return {**row, "history": list((await connection.execute(seen)).scalars())}

    async def end(
        self, replay_id: int, report: bytes, digest: str, change: ChangeStatus, held: Sequence[str],
        cost: Mapping[str, float], now: datetime,
    ) -> None:  # fmt: skip
        """Keep the report of a replay that has read every page."""
        values = {
            "report": zstandard.compress(report), "digest": digest, "status": ReplayStatus.DONE, "change": change,
            "held_because": list(held), "cost": dict(cost), "ended_at": now,
        }  # fmt: skip
        async with self._database.write() as connection:
            await connection.execute(update(replays).where(replays.c.id == replay_id).values(**values))

    async def every(self, limit: int = 100, change: ChangeStatus | None = None) -> list[ReplayView]:
        """Return replays, the newest first."""
        query = _SHOWN.order_by(replays.c.id.desc()).limit(limit)
        if change is not None:
            query = query.where(replays.c.change == change)
        async with self._database.read() as connection:
            return [_view(row) for row in (await connection.execute(query)).mappings()]

    async def find(self, replay_id: int) -> ReplayView | None:
        """Return one replay."""
        async with self._database.read() as connection:
            row = (await connection.execute(_SHOWN.where(replays.c.id == replay_id))).mappings().first()
        return None if row is None else _view(row)

    async def report(self, replay_id: int) -> bytes | None:
        """Return the bytes of a replay's report; None if it has none yet."""
        query = select(replays.c.report).where(replays.c.id == replay_id)
        async with self._database.read() as connection:
            packed = (await connection.execute(query)).scalar()
        return None if packed is None else zstandard.decompress(packed)

    async def decide(
        self, replay_id: int, change: ChangeStatus, by: str, now: datetime, audit: Sequence[AuditEntry]
    ) -> bool:
        """Write a person's word on a replay down, if it waits for one."""
        keys = await take_keys(self._ids, len(audit))
        open_ones = (ChangeStatus.WAITING, ChangeStatus.PROVEN, ChangeStatus.DOUBTFUL)
        waits = and_(replays.c.id == replay_id, replays.c.change.in_(open_ones), replays.c.status == ReplayStatus.DONE)
        async with self._database.write() as connection:
            said = {"change": change, "decided_at": now, "decided_by": by}
            done = bool((await connection.execute(update(replays).where(waits).values(**said))).rowcount)
            if done:
                await write_audit(connection, zip(keys, audit, strict=True), now)
        return done

    async def remove(self, replay_id: int, now: datetime, audit: Sequence[AuditEntry]) -> None:
        """Remove a replay with its pages."""
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            await connection.execute(delete(replay_pages).where(replay_pages.c.replay_id == replay_id))
            await connection.execute(delete(replays).where(replays.c.id == replay_id))
            await write_audit(connection, zip(keys, audit, strict=True), now)


def decode_report(stored: bytes) -> ReplayReport:
    """Return a report from the bytes that were kept."""
    return _decode_report(stored)


def _pages_of(key: int, scope: ReplayScope) -> Any:
    """Return the newest pages of a scope as rows of a replay, numbered in the order in which they were fetched."""
    chosen = (
        select(pages.c.id, pages.c.job_id, pages.c.source_id, pages.c.final_url, pages.c.created_at)
        .join(targets, targets.c.id == pages.c.target_id)
        .join(sources, sources.c.id == pages.c.source_id)
        .where(pages.c.failure.is_(None), *_within(scope))
        .order_by(pages.c.created_at.desc(), pages.c.id.desc())
        .limit(scope.pages)
        .subquery()
    )
    number = func.row_number().over(order_by=(chosen.c.created_at, chosen.c.id))
    return select(
        literal(key),
        cast(number, Integer),
        chosen.c.id,
        func.coalesce(jobs.c.run_id, 0),
        chosen.c.source_id,
        chosen.c.final_url,
        chosen.c.created_at,
        literal(ReplayedState.PENDING.value),
    ).select_from(chosen.outerjoin(jobs, jobs.c.id == chosen.c.job_id))


def _within(scope: ReplayScope) -> list[ColumnElement[bool]]:
    named: list[ColumnElement[bool]] = []
    if scope.source:
        named.append(sources.c.name == scope.source)
    if scope.adapter:
        named.append(targets.c.adapter_id == scope.adapter)
    if scope.vertical:
        named.append(sources.c.vertical == scope.vertical)
    if scope.since is not None:
        named.append(pages.c.created_at >= scope.since)
    if scope.until is not None:
        named.append(pages.c.created_at <= scope.until)
    if scope.only_read:
        staged = exists().where(staged_records.c.page_id == pages.c.id)
        ended = exists().where(jobs.c.id == pages.c.job_id, jobs.c.page_id == pages.c.id, jobs.c.failure.is_not(None))
        named.append(or_(staged, ended))
    return named


def _counts_of(found: PageDifference) -> PageDifference:
    """Return of a difference what certificates look at: so little that all pages of a replay can be held."""
    nothing: dict[str, int] = {}
    return msgspec.structs.replace(
        found, changes=(), then_fields=nothing, now_fields=nothing, then_reasons=nothing, now_reasons=nothing,
        now_detail="",
    )  # fmt: skip


def _matters(found: PageDifference) -> bool:
    return (
        bool(found.then_failure) != bool(found.now_failure)
        or found.then_verdicts[0] != found.now_verdicts[0]
        or found.then_truncated != found.now_truncated
        or found.then_unusable != found.now_unusable
    )


def _replayed(row: Mapping[Any, Any]) -> ReplayedPage:
    packed = row["difference"]
    unpacked = None
    if packed is not None:
        unpacked = _decode_difference(zstandard.decompress(packed, max_output_size=LONGEST_DIFFERENCE))
    return ReplayedPage(
        page_id=row["page_id"],
        run_id=row["run_id"],
        source=row["source"],
        url=row["url"],
        fetched_at=row["fetched_at"],
        state=ReplayedState(row["state"]),
        difference=unpacked,
    )


def _view(row: Mapping[Any, Any]) -> ReplayView:
    plain = {str(name): value for name, value in row.items()}
    return msgspec.convert({**plain, "scope": msgspec.convert(row["scope"], ReplayScope)}, ReplayView)
