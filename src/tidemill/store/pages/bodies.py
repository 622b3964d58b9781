"""Bodies of pages, kept as they came and named by what they hold."""

import asyncio
import hashlib
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec
from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.database import Database
from tidemill.store.database.hot_statements import HotRows
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

_NEW = "INSERT INTO page_bodies ({columns}) {rows} ON CONFLICT DO NOTHING"
INSERT_BODIES = HotRows("bodies.insert", codecs_of(page_bodies, "key", "length", "encoding", "body"), _NEW)
INSERT_PLACES = HotRows("bodies.places", codecs_of(page_bodies, "key", "segment", "place", "length", "encoding"), _NEW)
KEPT_BODIES = HotRows(
    "bodies.kept",
    codecs_of(page_bodies, "key"),
    "SELECT key FROM page_bodies WHERE key IN ({rows}) ORDER BY key",
    postgres="SELECT key FROM page_bodies WHERE key = ANY ($1::bytea[]) ORDER BY key FOR SHARE",
    gives=codecs_of(page_bodies, "key"),
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
        return RowBodies()
    file = database.engine.url.database
    if folder is None and file and file != ":memory:":
        folder = Path(f"{file}.pages")
    return RowBodies() if folder is None else SegmentBodies(database, folder)


class RowBodies:
    """Bodies in the `body` column."""

    def __init__(self) -> None:
        """Keep bodies, and what stages make of them, in the database itself."""
        self.outputs: Outputs = RowOutputs()

    async def put(self, connection: AsyncConnection, bodies: Sequence[Body]) -> None:
        """Keep the bodies that are not kept yet."""
        rows = [
            {"key": body.key, "length": len(body.wire), "encoding": body.encoding, "body": body.wire}
            for body in await unknown_bodies(connection, bodies)
        ]
        await INSERT_BODIES.write_at_commit(connection, rows)

    async def get(self, connection: AsyncConnection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """The contents by key."""
        rows = await rows_with_bases(connection, keys)
        payloads = {row.key: row.body for row in rows if row.body is not None and len(row.body) == row.length}
        return await in_thread(lambda: contents_of(rows, payloads, keys))

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
        self.outputs: Outputs = SegmentOutputs(SegmentWriter(folder, lasting=database.lasting), self._reader)

    async def put(self, connection: AsyncConnection, bodies: Sequence[Body]) -> None:
        """Keep the bodies that are not kept yet: the bytes from now on, their rows at the commit, which waits for them.

        So no row ever points at nothing, and the disk is at work while the rest of the transaction is put together.
        """
        unknown = await unknown_bodies(connection, bodies)
        if not unknown:
            return
        appending = self._pen.submit(self._fresh.append, [(body.key, body.wire) for body in unknown])
        INSERT_PLACES.write_when_known(connection, lambda: place_rows(unknown, appending.result()))

    async def get(self, connection: AsyncConnection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """The contents by key."""
        rows = await rows_with_bases(connection, keys)
        spots = [
            (row.key, SegmentPosition(row.segment, row.place, row.length)) for row in rows if row.segment is not None
        ]
        return await in_thread(lambda: contents_of(rows, self._reader.read(spots), keys))

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


def place_rows(bodies: Sequence[Body], spots: Sequence[SegmentPosition]) -> list[dict[str, Any]]:
    """Rows that say where bodies are."""
    return [
        {"key": body.key, "encoding": body.encoding, **msgspec.structs.asdict(spot)}
        for body, spot in zip(bodies, spots, strict=True)
    ]


async def unknown_bodies(connection: AsyncConnection, bodies: Sequence[Body]) -> list[Body]:
    """The bodies that are not kept yet, each once.

    The rows of those that are kept are held until the transaction ends, so that retention cannot take them away
    between this look and the page row that needs them. In order of key, so that two writers never wait for each other.
    """
    wanted = {body.key: body for body in sorted(bodies, key=lambda body: body.key)}
    for row in await KEPT_BODIES.fetch(connection, [{"key": key} for key in wanted]):
        del wanted[row["key"]]
    return list(wanted.values())


async def rows_with_bases(connection: AsyncConnection, keys: Collection[bytes]) -> list[Row[Any]]:
    """The rows of bodies, and of those that they lean on."""
    rows = list(await connection.execute(select(page_bodies).where(page_bodies.c.key.in_(set(keys)))))
    known = {row.key for row in rows}
    if bases := {row.base_key for row in rows if row.base_key is not None} - known:
        rows += await connection.execute(select(page_bodies).where(page_bodies.c.key.in_(bases)))
    return rows


def contents_of(rows: Sequence[Row[Any]], payloads: dict[bytes, bytes], keys: Collection[bytes]) -> dict[bytes, bytes]:
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
