"""Giving back the room in segment files: what is left in nearly empty ones moves out, and those that are empty go."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Column, Table, bindparam, func, select, update

from tidemill.store.database.batches import portions
from tidemill.store.database.database import Database
from tidemill.store.pages.output_files import record_key
from tidemill.store.pages.segments import (
    HEADER,
    SegmentPosition,
    SegmentReader,
    SegmentWriter,
    finished_segments,
    remove_segment,
)
from tidemill.store.schema import page_bodies, raw_records, staged_records

LEFT_ALONE = timedelta(minutes=10)
"""How long a segment stays after its last row is gone, for readers who looked the row up before."""

MOVED_AT_ONCE = 500
"""Records in memory and rows in a transaction."""


class Tenant(msgspec.Struct, frozen=True):
    """A table whose rows point into segments: its key, and what a row's record is called there."""

    table: Table
    key: Column[Any]
    name: Callable[[Any], bytes]


def _outputs(column: Column[Any]) -> Tenant:
    return Tenant(column.table, column.table.c.page_id, lambda page_id: record_key(column, page_id))


TENANTS = (
    Tenant(page_bodies, page_bodies.c.key, bytes),
    _outputs(raw_records.c.found),
    _outputs(staged_records.c.staged),
)


class Tidier:
    """Looks after the segments of one folder."""

    def __init__(self, database: Database, folder: Path, reader: SegmentReader) -> None:
        """The reader may be others' too; what moves out goes to a segment of its own."""
        self._database = database
        self._folder = folder
        self._reader = reader
        self._writer = SegmentWriter(folder, lasting=database.lasting)
        self._unused: dict[int, datetime] = {}
        self._turn = asyncio.Lock()

    async def tidy(self, now: datetime) -> int:
        """Move what is left out of segments that are mostly empty, and remove those that nothing points to.

        Answers the bytes given back. Compaction and retention both ask for it; one waits for the other.
        """
        async with self._turn:
            return await self._tidy(now)

    def close(self) -> None:
        """Let go of the file that grows."""
        self._writer.close()

    async def _tidy(self, now: datetime) -> int:
        finished = await asyncio.to_thread(finished_segments, self._folder)
        async with self._database.write():
            pass  # whoever was writing into these segments when they were finished has committed by now
        live = await self._live_bytes()
        for number, size in finished.items():
            if 0 < live[number] * 2 < size:
                await self._move_out(number)
        empty = {number for number in finished if not live[number]}
        self._unused = {number: self._unused.get(number, now) for number in empty}
        gone = [number for number, since in self._unused.items() if now - since >= LEFT_ALONE]
        for number in gone:
            self._reader.forget(number)
            remove_segment(self._folder, number)
        return sum(finished[number] for number in gone)

    async def _live_bytes(self) -> Counter[int]:
        """By segment, what rows still point to."""
        live: Counter[int] = Counter()
        async with self._database.read() as connection:
            for tenant in TENANTS:
                table = tenant.table
                size = func.sum(table.c.length + HEADER.size)
                query = select(table.c.segment, size).where(table.c.segment.is_not(None)).group_by(table.c.segment)
                live.update({int(number): int(size) for number, size in await connection.execute(query)})
        return live

    async def _move_out(self, number: int) -> None:
        for tenant in TENANTS:
            table = tenant.table
            columns = tenant.key.label("key"), table.c.place, table.c.length
            async with self._database.read() as connection:
                rows = (await connection.execute(select(*columns).where(table.c.segment == number))).all()
            for some in portions(rows, MOVED_AT_ONCE):
                await self._move(tenant, number, some)

    async def _move(self, tenant: Tenant, number: int, rows: Sequence[Any]) -> None:
        """Copy the records that are whole as they are, and point their rows at the copies."""
        spots = [(tenant.name(row.key), SegmentPosition(number, row.place, row.length)) for row in rows]
        placed = await asyncio.to_thread(self._copy, spots)
        moves = [
            {"its_key": row.key, "was_at": number, **msgspec.structs.asdict(placed[name])}
            for row, (name, _) in zip(rows, spots, strict=True)
            if name in placed
        ]
        if moves:
            same = (tenant.key == bindparam("its_key")) & (tenant.table.c.segment == bindparam("was_at"))
            async with self._database.write() as connection:
                await connection.execute(update(tenant.table).where(same), moves)

    def _copy(self, spots: Sequence[tuple[bytes, SegmentPosition]]) -> dict[bytes, SegmentPosition]:
        """Where the copies of the records stand, by name."""
        whole = self._reader.read(spots)
        return dict(zip(whole, self._writer.append(list(whole.items())), strict=True)) if whole else {}
