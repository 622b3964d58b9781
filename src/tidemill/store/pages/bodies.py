"""Bodies of pages, kept as they came and named by what they hold."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import msgspec
from sqlalchemy import Row, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.bulk import read_all, write_at_commit
from tidemill.store.database.database import Database
from tidemill.store.database.inline import InlineAsyncConnection
from tidemill.store.database.many_rows import write_rows
from tidemill.store.pages.encodings import Unreadable, decoded
from tidemill.store.pages.output_files import Outputs, RowOutputs, SegmentOutputs
from tidemill.store.pages.segment_cleanup import Tidier
from tidemill.store.pages.segments import (
    SegmentPosition,
    SegmentReader,
    SegmentWriter,
)
from tidemill.store.schema import page_bodies

KEY_BYTES = 16

_INSERT_PLACE = (
    'INSERT INTO page_bodies ("key", segment, place, length, encoding) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING'
)

Answer = TypeVar("Answer")


class Body(msgspec.Struct, frozen=True):
    """A body as it came over the wire; `encoding` is '', gzip, br, zstd or deflate."""

    key: bytes
    wire: bytes
    encoding: str = ""


class Packed(msgspec.Struct, frozen=True):
    """A body in the form that compaction keeps it: `base_key` names the body that it leans on."""

    key: bytes
    payload: bytes
    encoding: str
    base_key: bytes | None


def body_key(wire: bytes) -> bytes:
    """A body's name: the first 16 bytes of its sha256."""
    return hashlib.sha256(wire).digest()[:KEY_BYTES]


class Bodies(Protocol):
    """Where bodies are kept, and what stages made of them."""

    @property
    def outputs(self) -> Outputs:
        """Where the outputs of stages are kept."""
        ...

    async def put(self, connection: AsyncConnection, bodies: Sequence[Body]) -> None:
        """Keep bodies, inside the caller's write transaction; those that are kept already cost nothing."""
        ...

    async def get(self, connection: AsyncConnection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """The contents (after transfer decoding) by key; what is missing or damaged is not in the answer."""
        ...

    async def lay(self, packed: Sequence[Packed]) -> list[dict[str, Any]]:
        """Bring packed bodies to where they will be kept; answers the columns that `switch` writes."""
        ...

    async def tidy(self, now: datetime) -> int:
        """Give back the room of what is no longer kept; answers the bytes freed."""
        ...

    async def close(self) -> None:
        """Let go of files."""
        ...


def bodies_for(database: Database, folder: Path | None = None) -> Bodies:
    """The right keeping for a database: segment files beside an SQLite file, else rows."""
    if not database.is_sqlite:
        return RowBodies(database)
    file = database.engine.url.database
    if folder is None and file and file != ":memory:":
        folder = Path(f"{file}.pages")
    return RowBodies(database) if folder is None else SegmentBodies(database, folder)


class RowBodies:
    """Bodies in the `body` column."""

    def __init__(self, database: Database) -> None:
        """Keep bodies in the database itself."""
        self._insert = database.insert(page_bodies).on_conflict_do_nothing()
        self.outputs: Outputs = RowOutputs(database)

    async def put(self, connection: AsyncConnection, bodies: Sequence[Body]) -> None:
        """Keep the bodies that are not kept yet."""
        rows = [
            {"key": body.key, "length": len(body.wire), "encoding": body.encoding, "body": body.wire}
            for body in await _unknown(connection, bodies)
        ]
        if rows:
            await write_at_commit(connection, self._insert, rows)

    async def get(self, connection: AsyncConnection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """The contents by key."""
        rows = await _rows_with_bases(connection, keys)
        payloads = {row.key: row.body for row in rows if row.body is not None and len(row.body) == row.length}
        return await in_thread(lambda: _contents(rows, payloads, keys))

    async def lay(self, packed: Sequence[Packed]) -> list[dict[str, Any]]:
        """Nothing to bring anywhere: the payload goes with the row."""
        return [{"body": one.payload, "length": len(one.payload)} for one in packed]

    async def tidy(self, now: datetime) -> int:  # noqa: ARG002 - a database reuses its own room
        """Nothing to do: the database reuses its own room."""
        return 0

    async def close(self) -> None:
        """Nothing to let go of."""


class SegmentBodies:
    """Bodies in segment files beside the database; rows say where."""

    def __init__(self, database: Database, folder: Path) -> None:
        """Keep bodies in `folder`: fresh ones and packed ones in segments of their own."""
        self._fresh = SegmentWriter(folder, lasting=database.lasting)
        self._pen = ThreadPoolExecutor(1, thread_name_prefix="bodies")
        self._packed = SegmentWriter(folder, lasting=database.lasting)
        self._reader = SegmentReader(folder)
        self._tidier = Tidier(database, folder, self._reader)
        self.outputs: Outputs = SegmentOutputs(database, SegmentWriter(folder, lasting=database.lasting), self._reader)

    async def put(self, connection: AsyncConnection, bodies: Sequence[Body]) -> None:
        """Keep the bodies that are not kept yet: the bytes from now on, their rows at the commit, which waits for them.

        So no row ever points at nothing, and the disk is at work while the rest of the transaction is put together.
        """
        unknown = await _unknown(connection, bodies)
        if not unknown:
            return
        appending = self._pen.submit(self._fresh.append, [(body.key, body.wire) for body in unknown])
        own = cast("InlineAsyncConnection", connection)
        own.driver.defer_to_commit(lambda driver: write_places(driver, unknown, appending.result()))

    async def get(self, connection: AsyncConnection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """The contents by key."""
        rows = await _rows_with_bases(connection, keys)
        spots = [
            (row.key, SegmentPosition(row.segment, row.place, row.length)) for row in rows if row.segment is not None
        ]
        return await in_thread(lambda: _contents(rows, self._reader.read(spots), keys))

    async def lay(self, packed: Sequence[Packed]) -> list[dict[str, Any]]:
        """Write the payloads to a segment that holds nothing else."""
        records = [(one.key, one.payload) for one in packed]
        spots = await in_thread(lambda: self._packed.append(records)) if records else []
        return [msgspec.structs.asdict(spot) for spot in spots]

    async def tidy(self, now: datetime) -> int:
        """Move what is left out of segments that are mostly empty, and remove those that nothing points to."""
        return await self._tidier.tidy(now)

    async def close(self) -> None:
        """Let go of files."""
        self._pen.shutdown()
        await self.outputs.close()
        self._tidier.close()
        self._fresh.close()
        self._packed.close()
        self._reader.close()


def write_places(driver: sqlite3.Connection, bodies: Sequence[Body], spots: Sequence[SegmentPosition]) -> None:
    """Write where bodies are."""
    rows = [
        (body.key, spot.segment, spot.place, spot.length, body.encoding)
        for body, spot in zip(bodies, spots, strict=True)
    ]
    write_rows(driver, _INSERT_PLACE, rows)


async def _unknown(connection: AsyncConnection, bodies: Sequence[Body]) -> list[Body]:
    """The bodies that are not kept yet, each once.

    The rows of those that are kept are held until the transaction ends, so that retention cannot take them away
    between this look and the page row that needs them. In order of key, so that two writers never wait for each other.
    """
    wanted = {body.key: body for body in sorted(bodies, key=lambda body: body.key)}
    for row in await read_all(connection, _KEPT, {"b_keys": list(wanted)}):
        del wanted[row["key"]]
    return list(wanted.values())


_KEPT = (
    select(page_bodies.c.key)
    .where(page_bodies.c.key.in_(bindparam("b_keys", expanding=True)))
    .order_by(page_bodies.c.key)
    .with_for_update(read=True)
)


async def _rows_with_bases(connection: AsyncConnection, keys: Collection[bytes]) -> list[Row[Any]]:
    rows = list(await connection.execute(select(page_bodies).where(page_bodies.c.key.in_(set(keys)))))
    known = {row.key for row in rows}
    if bases := {row.base_key for row in rows if row.base_key is not None} - known:
        rows += await connection.execute(select(page_bodies).where(page_bodies.c.key.in_(bases)))
    return rows


def _contents(rows: Sequence[Row[Any]], payloads: dict[bytes, bytes], keys: Collection[bytes]) -> dict[bytes, bytes]:
    """Decode what was asked for; a base never leans on another one, so one step is enough."""
    contents: dict[bytes, bytes] = {}
    for row in sorted(rows, key=lambda row: row.base_key is not None):
        base = contents.get(row.base_key) if row.base_key is not None else None
        if row.key not in payloads or (row.base_key is not None and base is None):
            continue
        try:
            contents[row.key] = decoded(payloads[row.key], row.encoding, base)
        except Unreadable:
            continue  # absent from the answer: the caller says what a lost page means
    return {key: contents[key] for key in keys if key in contents}


async def in_thread(work: Callable[[], Answer]) -> Answer:
    """Do slow work without holding up the event loop."""
    return await asyncio.get_running_loop().run_in_executor(None, work)
