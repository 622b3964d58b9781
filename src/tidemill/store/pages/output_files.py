"""What stages made of a page, kept for the next stage and for whoever looks later: in its row, or beside it.

SQLite writes each page of its file twice, first into its log. On SQLite, what is not small therefore goes into
segment files, as the bodies of pages do, and the row says where.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import msgspec
from sqlalchemy import Column
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.codecs import BIGINT, codecs_of
from tidemill.store.database.hot_statements import HotQuery, HotRows
from tidemill.store.pages.segments import SegmentPosition, SegmentReader, SegmentWriter
from tidemill.store.schema import raw_records, staged_records

SMALL = 2_000
"""Bytes of an output up to which a place elsewhere would cost more than it saves."""
WHEREABOUTS = SegmentPosition.__struct_fields__
IN_ITS_ROW: dict[str, Any] = dict.fromkeys(WHEREABOUTS)
"""The whereabouts of an output that is in its row."""

Rows = list[dict[str, Any]]
Made = tuple[Column[Any], Rows]
"""A column for outputs, and rows that have one; a row's key is its page's."""


class Outputs(Protocol):
    """Where outputs are kept."""

    async def put(self, connection: AsyncConnection, made: Sequence[Made]) -> None:
        """Keep outputs with the caller's transaction, each in place of what a former try left."""
        ...

    async def get(self, connection: AsyncConnection, column: Column[Any], page_id: int) -> bytes | None:
        """A page's output; None if there is none, or if it cannot be read back."""
        ...

    async def close(self) -> None:
        """Let go of files."""
        ...


class RowOutputs:
    """Outputs in their rows."""

    async def put(self, connection: AsyncConnection, made: Sequence[Made]) -> None:
        """Write the rows as they are."""
        for column, rows in made:
            await REPLACE_OUTPUT[column.table.name].write_at_commit(connection, [{**IN_ITS_ROW, **row} for row in rows])

    async def get(self, connection: AsyncConnection, column: Column[Any], page_id: int) -> bytes | None:
        """What the row holds."""
        found = await OUTPUT_OF_PAGE[column.table.name].fetch(connection, page_id=page_id)
        return found[0][column.name] if found else None

    async def close(self) -> None:
        """Nothing to let go of."""


class SegmentOutputs:
    """Outputs in segment files of their own, whose rows all go at about the same time; small ones in their rows."""

    def __init__(self, writer: SegmentWriter, reader: SegmentReader) -> None:
        """The writer is nobody else's."""
        self._writer = writer
        self._reader = reader
        self._pen = ThreadPoolExecutor(1, thread_name_prefix="outputs")

    async def put(self, connection: AsyncConnection, made: Sequence[Made]) -> None:
        """Keep the bytes from now on, their rows at the commit, which waits for them: no row ever points at nothing."""
        large = [(column, [row for row in rows if len(row[column.name]) > SMALL]) for column, rows in made]
        records = [(record_key(column, row["page_id"]), row[column.name]) for column, rows in large for row in rows]
        appending = self._pen.submit(self._writer.append, records) if records else None
        start = 0
        for (column, rows), (_, beside) in zip(made, large, strict=True):
            replace = REPLACE_OUTPUT[column.table.name]
            small = [{**IN_ITS_ROW, **row} for row in rows if len(row[column.name]) <= SMALL]
            await replace.write_at_commit(connection, small)
            if beside and appending is not None:
                replace.write_when_known(connection, _pointing(column, beside, appending, start))
                start += len(beside)

    async def get(self, connection: AsyncConnection, column: Column[Any], page_id: int) -> bytes | None:
        """What the row holds, or what stands where it points."""
        found = await OUTPUT_OF_PAGE[column.table.name].fetch(connection, page_id=page_id)
        if not found or found[0]["segment"] is None:
            return found[0][column.name] if found else None
        key = record_key(column, page_id)
        spot = SegmentPosition(*(found[0][name] for name in WHEREABOUTS))
        return self._reader.read([(key, spot)]).get(key)

    async def close(self) -> None:
        """Let go of the file that grows."""
        self._pen.shutdown()
        self._writer.close()


def record_key(column: Column[Any], page_id: int) -> bytes:
    """What an output is called in its segment: 16 bytes that name the page and the table."""
    return page_id.to_bytes(8, "big") + column.table.name.encode()[:8]


def _pointing(
    column: Column[Any], rows: Rows, appending: Future[list[SegmentPosition]], start: int
) -> Callable[[], Rows]:
    """The rows as they are once the disk has their outputs; theirs are the spots from `start` on."""

    def known() -> Rows:
        spots = appending.result()[start : start + len(rows)]
        return [
            {**row, column.name: b"", **msgspec.structs.asdict(spot)} for row, spot in zip(rows, spots, strict=True)
        ]

    return known


def _replacing(column: Column[Any]) -> HotRows:
    """Puts a row in place of what a former try left: a stage run twice leaves one result."""
    table = column.table
    fresh = ", ".join(f"{name} = excluded.{name}" for name in codecs_of(table) if name != "page_id")
    return HotRows(
        f"outputs.replace_{column.name}",
        codecs_of(table),
        f"INSERT INTO {table.name} ({{columns}}) {{rows}} ON CONFLICT (page_id) DO UPDATE SET {fresh}",
    )


def _of_page(column: Column[Any]) -> HotQuery:
    gives = codecs_of(column.table, column.name, *WHEREABOUTS)
    text = f"SELECT {', '.join(gives)} FROM {column.table.name} WHERE page_id = "  # noqa: S608 - names of ours
    return HotQuery(
        f"outputs.{column.name}_of_page",
        sqlite=f"{text}?1",
        postgres=f"{text}$1",
        takes={"page_id": BIGINT},
        gives=gives,
    )


_KEPT = (raw_records.c.found, staged_records.c.staged)
REPLACE_OUTPUT = {column.table.name: _replacing(column) for column in _KEPT}
OUTPUT_OF_PAGE = {column.table.name: _of_page(column) for column in _KEPT}
"""By table."""
