"""Bodies of pages in an object store that many machines share; rows say which object is whose.

Every upload has a name of its own (the body's key and a random number), so nothing is ever overwritten: an object is
there before its row is committed, and one that no row names any more is garbage whatever happened meanwhile.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime, timedelta
from secrets import randbits
from typing import Any, Protocol

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.database import Database
from tidemill.store.database.hot_statements import HotRows
from tidemill.store.pages.bodies import Body, Packed, contents_of, in_thread, rows_with_bases, unknown_bodies
from tidemill.store.pages.output_files import Outputs, RowOutputs
from tidemill.store.schema import page_bodies

GARBAGE_AFTER = timedelta(hours=2)
"""An object that no row names is removed no sooner: its row may be on its way, and two clocks may differ."""
SHARDS_AT_ONCE = 16
"""Of the 256 first bytes of a key, so many are looked through each time: the hourly turns see all within a day."""

INSERT_OBJECTS = HotRows(
    "bodies.objects",
    codecs_of(page_bodies, "key", "place", "length", "encoding"),
    "INSERT INTO page_bodies ({columns}) {rows} ON CONFLICT DO NOTHING",
)


StoredObject = tuple[str, datetime]
"""An object as a listing has it: its name, and when it was put there."""


class ObjectStore(Protocol):
    """A store of objects by name; trouble with it is a `StoreLost`."""

    async def put(self, objects: Sequence[tuple[str, bytes]]) -> None:
        """Keep objects; answers once all of them are safe."""
        ...

    async def get(self, names: Collection[str]) -> dict[str, bytes]:
        """Return the objects that there are, by name."""
        ...

    def list(self, prefix: str) -> AsyncIterator[Sequence[StoredObject]]:
        """Go through the objects whose names begin so, some at a time."""
        ...

    async def remove(self, names: Sequence[str]) -> None:
        """Remove objects; one that is gone already is no trouble."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class ObjectBodies:
    """Bodies in an object store; what stages make of them stays in the database."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        """Keep bodies in `objects`."""
        self._database = database
        self._objects = objects
        self.outputs: Outputs = RowOutputs()

    async def put(self, connection: AsyncConnection, bodies: Sequence[Body]) -> None:
        """Keep the bodies that are not kept yet; their rows go with the commit, after the objects are safe."""
        unknown = await unknown_bodies(connection, bodies)
        rows: list[dict[str, Any]] = [
            {"key": body.key, "place": randbits(63), "length": len(body.wire), "encoding": body.encoding}
            for body in unknown
        ]
        await self._objects.put(
            [(object_name(row["key"], row["place"]), body.wire) for row, body in zip(rows, unknown, strict=True)]
        )
        await INSERT_OBJECTS.write_at_commit(connection, rows)

    async def get(self, connection: AsyncConnection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """The contents by key; bodies from before there was a store are still in their rows."""
        rows = await rows_with_bases(connection, keys)
        names = {row.key: object_name(row.key, row.place) for row in rows if row.place is not None}
        found = await self._objects.get(list(names.values()))
        payloads = {key: found[name] for key, name in names.items() if name in found}
        payloads |= {row.key: row.body for row in rows if row.body is not None}
        whole = {row.key: payloads[row.key] for row in rows if len(payloads.get(row.key, b"")) == row.length}
        return await in_thread(lambda: contents_of(rows, whole, keys))

    async def lay(self, packed: Sequence[Packed]) -> list[dict[str, Any]]:
        """Upload packed bodies under new names; the former objects are garbage once the rows have switched."""
        places = [randbits(63) for _ in packed]
        await self._objects.put(
            [(object_name(one.key, place), one.payload) for one, place in zip(packed, places, strict=True)]
        )
        return [
            {"place": place, "length": len(one.payload), "body": None}
            for one, place in zip(packed, places, strict=True)
        ]

    async def tidy(self, now: datetime) -> int:
        """Remove objects that no row names, in a part of the store at a time; answers how many went."""
        first = int(now.timestamp() // 3_600) * SHARDS_AT_ONCE
        removed = 0
        for shard in range(first, first + SHARDS_AT_ONCE):
            async for listed in self._objects.list(f"{shard % 256:02x}"):
                garbage = await self._unnamed([name for name, changed_at in listed if now - changed_at > GARBAGE_AFTER])
                if garbage:
                    await self._objects.remove(garbage)
                removed += len(garbage)
        return removed

    async def _unnamed(self, names: Sequence[str]) -> list[str]:
        query = select(page_bodies.c.key, page_bodies.c.place).where(page_bodies.c.key.in_({*map(key_of, names)}))
        async with self._database.read() as connection:
            rows = await connection.execute(query.where(page_bodies.c.place.is_not(None)))
            named = {object_name(row.key, row.place) for row in rows}
        return [name for name in names if name not in named]

    async def close(self) -> None:
        """Let go of connections."""
        await self._objects.close()


def object_name(key: bytes, place: int) -> str:
    """The name of one upload of a body: sorted by the first byte of its key."""
    return f"{key.hex()}-{place:016x}"


def key_of(name: str) -> bytes:
    """The key of the body that an object holds; an object that is not ours has none."""
    try:
        return bytes.fromhex(name.partition("-")[0])
    except ValueError:
        return b""
