"""What watches write: changes with their evidence, moves, and every 15 seconds when pages were checked."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.live.change import Appended, LogEntry
from tidemill.pipeline.checkpoints import Fetched
from tidemill.pipeline.live_ports import PageCheck, PendingEntry, Written
from tidemill.store.database.batches import write_each
from tidemill.store.database.codecs import BIGINT, INTEGER, MOMENT
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.hot_statements import HotRows
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.effects_sql import FENCES, HOLD_SOURCES, SETTLE_SOURCES
from tidemill.store.pages import outputs
from tidemill.store.pages.bodies import Bodies
from tidemill.store.pages.encodings import Packer
from tidemill.store.records.live import ChangeLog, LiveThings, SequenceTaken
from tidemill.store.schema import change_log, live_moves, live_things

MILLISECOND = timedelta(milliseconds=1)
PACKED_FROM = 512
"""Bytes from which the page of a change is packed, if its site sent it as it is: there is one at every change."""
LONGEST_REASON = 500
_LIFE = (
    update(live_things)
    .where(live_things.c.id == bindparam("b_id"))
    .values(
        lifecycle=bindparam("b_lifecycle"),
        since=bindparam("b_since"),
        missed_lists=bindparam("b_missed"),
        paused_until=bindparam("b_paused"),
        updated_at=bindparam("b_now"),
    )
)
_OUTLOOK = (
    update(live_things)
    .where(live_things.c.id == bindparam("b_id"))
    .values(phase=bindparam("b_phase"), starts_at=bindparam("b_starts"))
)
_KNOWN = select(change_log.c.token).where(change_log.c.token.in_(bindparam("b_tokens", expanding=True)))
CHECKED = HotRows(
    "live.checked",
    {"target_id": BIGINT, "checked_at": MOMENT, "changed_at": MOMENT, "interval_ms": INTEGER, "debt_ms": BIGINT,
     "polls": BIGINT, "changes": BIGINT, "ignored": BIGINT, "failures": INTEGER, "total_failures": BIGINT},
    """
    WITH v ({columns}) AS ({rows})
    UPDATE live_pages SET checked_at = v.checked_at, changed_at = v.changed_at, interval_ms = v.interval_ms,
        debt_ms = v.debt_ms, failures = v.failures, polls = live_pages.polls + v.polls,
        changes = live_pages.changes + v.changes, ignored = live_pages.ignored + v.ignored,
        total_failures = live_pages.total_failures + v.total_failures
    FROM v WHERE live_pages.target_id = v.target_id""",
)  # fmt: skip


class WatchWrites:
    """Writes for those whose fence still holds, and for nobody else."""

    def __init__(
        self, database: Database, ids: Ids, bodies: Bodies, log: ChangeLog, things: Mapping[str, LiveThings]
    ) -> None:
        """`things` are the verticals' own tables, by vertical."""
        self._database = database
        self._ids = ids
        self._bodies = bodies
        self._log = log
        self._things = things

    async def write(self, entries: Sequence[PendingEntry], now: datetime) -> Written:
        """Write entries in order; those of a watch that is no longer ours are left out and named in the answer."""
        await self._ids.reserve(2 * len(entries))
        async with self._database.write() as connection:
            held = await self._held(connection, entries)
            ours = [each for each in entries if each.fence in held]
            lost = frozenset(each.thing_id for each in entries if each.fence not in held)
            appended = await self._write(connection, ours, now) if ours else []
        return Written(appended, lost)

    async def write_left_behind(self, entries: Sequence[PendingEntry], now: datetime) -> int:
        """Write entries whose process is gone, thing by thing; those of a thing that went on without them are dropped.

        No fence holds for them any more. Their numbers show whether anybody has written about their thing since.
        """
        by_thing: dict[int, list[PendingEntry]] = {}
        for entry in entries:
            by_thing.setdefault(entry.thing_id, []).append(entry)
        written = 0
        for ours in by_thing.values():
            await self._ids.reserve(2 * len(ours))
            with suppress(SequenceTaken):
                async with self._database.write() as connection:
                    appended = await self._write(connection, ours, now)
                self._log.publish(appended)
                written += len(ours)
        return written

    async def _held(self, connection: AsyncConnection, entries: Sequence[PendingEntry]) -> set[tuple[int, int]]:
        rows = await FENCES.fetch(connection, ids=sorted({each.fence.job_id for each in entries}))
        return {(row["id"], row["fence"]) for row in rows}

    async def _write(self, connection: AsyncConnection, ours: Sequence[PendingEntry], now: datetime) -> list[Appended]:
        pages = await self._write_pages(connection, ours)
        logged = [_log_entry(each, pages.get(each.token)) for each in ours if each.change is not None]
        appended = await self._log.append(connection, logged, now) if logged else []
        written = {each.entry.token for each in appended if each.event is not None}
        fresh = [each for each in ours if each.change is None or each.token in written]
        await self._write_lives(connection, fresh, now)
        for each in fresh:
            if each.rows and each.thing.vertical in self._things:
                await self._things[each.thing.vertical].write(connection, each.thing.key, each.rows, now)
        return appended

    async def _write_pages(self, connection: AsyncConnection, ours: Sequence[PendingEntry]) -> dict[int, int]:
        """Store the pages that changes were read from, but not those of a commit whose answer was lost.

        Answers their keys by token.
        """
        keys: dict[int, int] = {}
        got = []
        with_page = [each for each in ours if each.evidence is not None]
        tokens = {"b_tokens": [each.token for each in with_page]}
        known = set((await connection.execute(_KNOWN, tokens)).scalars()) if with_page else set()
        for each in with_page:
            if each.evidence is not None and each.token not in known:
                keys[each.token] = key = self._ids.take()
                page = msgspec.structs.replace(each.evidence.page, id=key)
                got.append((each.job, msgspec.structs.replace(_packed(each.evidence), page=page), None))
        if got:
            await outputs.write_pages(connection, self._bodies, got)
        return keys

    async def _write_lives(self, connection: AsyncConnection, ours: Sequence[PendingEntry], now: datetime) -> None:
        lives = {each.thing_id: each.life for each in ours if each.life is not None}
        outlooks = {each.thing_id: each.outlook for each in ours if each.outlook is not None}
        await write_each(connection, _LIFE, [
            {"b_id": key, "b_lifecycle": life.state, "b_since": life.since, "b_missed": life.missed_lists,
             "b_paused": life.paused_until, "b_now": now}
            for key, life in sorted(lives.items())
        ])  # fmt: skip
        await write_each(connection, _OUTLOOK, [
            {"b_id": key, "b_phase": outlook.phase, "b_starts": outlook.starts_at}
            for key, outlook in sorted(outlooks.items())
        ])  # fmt: skip
        await write_each(connection, live_moves.insert(), [
            move_row(self._ids.take(), each.thing_id, each.move) for each in ours if each.move is not None
        ])  # fmt: skip

    async def note_checks(self, checks: Sequence[PageCheck], now: datetime) -> None:
        """Write when pages were checked, for those whose watch is still ours: one statement for all of them."""
        async with self._database.write() as connection:
            rows = await FENCES.fetch(connection, ids=sorted({each.fence.job_id for each in checks}))
            held = {(row["id"], row["fence"]) for row in rows}
            ours = [each for each in checks if each.fence in held]
            await CHECKED.write(connection, [_check_row(each) for each in ours if each.thing_id])
            await _settle_sources(connection, ours, now)


def _packed(evidence: Fetched) -> Fetched:
    """Return a page as it is kept: what came without an encoding gets one."""
    result = evidence.result
    if result.content_encoding or len(result.wire_body) < PACKED_FROM:
        return evidence
    packed = msgspec.structs.replace(result, wire_body=Packer().pack(result.wire_body), content_encoding="zstd")
    return msgspec.structs.replace(evidence, result=packed)


def move_row(key: int, thing_id: int, move: Any) -> dict[str, Any]:
    """The row of a move."""
    reason = storable(move.reason, LONGEST_REASON)
    return {"id": key, "thing_id": thing_id, "moved_from": move.before, "moved_to": move.after,
            "reason": reason, "moved_at": move.at}  # fmt: skip


def _log_entry(entry: PendingEntry, page_id: int | None) -> LogEntry:
    move = entry.move
    assert entry.change is not None  # noqa: S101 - the caller has looked
    return LogEntry(
        thing_id=entry.thing_id,
        thing=entry.thing,
        seq=entry.seq,
        change=entry.change,
        source=entry.source,
        read_at=entry.read_at,
        token=entry.token,
        page_id=page_id,
        moved_from=move.before if move else "",
        moved_to=move.after if move else "",
    )


def _check_row(check: PageCheck) -> dict[str, Any]:
    return {
        "target_id": check.target_id,
        "checked_at": check.checked_at,
        "changed_at": check.changed_at,
        "interval_ms": check.interval // MILLISECOND,
        "debt_ms": check.debt // MILLISECOND,
        "polls": check.polls,
        "changes": check.changes,
        "ignored": check.ignored,
        "failures": check.failures,
        "total_failures": check.failed,
    }


async def _settle_sources(connection: AsyncConnection, checks: Sequence[PageCheck], now: datetime) -> None:
    """Note for each source that it was scraped, and whether any of its pages was read well since the last time."""
    well: dict[int, bool] = {}
    for check in checks:
        if check.polls:
            well[check.source_id] = well.get(check.source_id, False) or check.polls > check.failed
    if well:
        await HOLD_SOURCES.fetch(connection, ids=sorted(well))
        rows = [{"id": key, "ended_at": now, "is_well": well[key], "failures": 1} for key in sorted(well)]
        await SETTLE_SOURCES.write(connection, rows)
