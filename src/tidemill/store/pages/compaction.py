"""Compaction: pages older than a day are packed against an earlier page of the same target.

Every packed body leans on a root, never on another leaning one, so a page is two reads away at most and damage stays
small. A crash at any moment leaves either the old form or the new one: the new bytes are on disk, and checked, before
one transaction switches the rows and moves the cursor.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.column_types import from_micros, to_micros
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies, Packed, in_thread
from tidemill.store.pages.encodings import Packer
from tidemill.store.schema import engine_state, page_bodies, pages

AGE = timedelta(days=1)
FOLLOWERS = 19
"""How many bodies lean on one root: every 20th page of a target stands alone."""

BATCH_PAGES = 200
BATCH_BYTES = 32 * 1024 * 1024
STATE = "compaction"
PACKED = "zstd/"
"""Packed bodies say which follower of their root they are: `zstd/0` is a root."""


class Compacted(msgspec.Struct, frozen=True):
    """What a compaction did: bodies packed, their bytes before and after, what they hold, and bytes given back."""

    pages: int = 0
    before_bytes: int = 0
    after_bytes: int = 0
    content_bytes: int = 0
    freed_bytes: int = 0


class Cursor(msgspec.Struct, frozen=True):
    """The last page looked at, in order of age."""

    at: int = 0
    id: int = 0


class Root:
    """What the bodies of a target lean on, and how many do."""

    def __init__(self, key: bytes, content: bytes, size: int, followers: int) -> None:
        """Digest the root's content once."""
        self.key = key
        self.followers = followers
        self._packer = Packer(content)
        self._size = size

    def pack(self, key: bytes, content: bytes) -> Packed | None:
        """The body as a follower, or None when it deserves to be a root: the page has drifted, or it is its turn."""
        if self.followers >= FOLLOWERS:
            return None
        payload = self._packer.pack(content)
        if len(payload) * 2 > self._size:
            return None
        self.followers += 1
        return Packed(key, payload, f"{PACKED}{self.followers}", self.key)


async def compact(database: Database, bodies: Bodies, now: datetime, limit: int = 2_000) -> Compacted:
    """Pack up to `limit` pages that are older than a day, then give back the room."""
    done = Compacted()
    looked_at = 0
    while looked_at < limit:
        batch, step = await _one_batch(database, bodies, now, min(BATCH_PAGES, limit - looked_at))
        if not batch:
            break
        looked_at += batch
        done = _sum(done, step)
    return _sum(done, Compacted(freed_bytes=await bodies.tidy(now)))


async def _one_batch(database: Database, bodies: Bodies, now: datetime, limit: int) -> tuple[int, Compacted]:
    async with database.read() as connection:
        cursor = await _cursor(connection)
        batch = await _next_pages(connection, cursor, now - AGE, limit)
        if not batch:
            return 0, Compacted()
        rows = await _rows(connection, [page.body_key for page in batch])
        former = await _former_rows(connection, {page.target_id for page in batch}, cursor)
        wanted = [key for key, row in rows.items() if not row.encoding.startswith(PACKED)]
        roots = [row.root_key for row in former.values()]
        contents = await bodies.get(connection, [*wanted, *roots])
    packed = await in_thread(lambda: pack_all(batch, rows, former, contents))
    placed = await bodies.lay(packed)
    changes = [
        {"its_key": one.key, "encoding": one.encoding, "base_key": one.base_key, **place}
        for one, place in zip(packed, placed, strict=True)
    ]
    last = Cursor(to_micros(batch[-1].created_at), batch[-1].id)
    switched = await _switch(database, changes, (cursor, last), now)
    return len(batch), Compacted(
        len(switched),
        sum(rows[one["its_key"]].length for one in switched),
        sum(one["length"] for one in switched),
        sum(len(contents[one["its_key"]]) for one in switched),
    )


def pack_all(
    batch: Iterable[Any], rows: Mapping[bytes, Any], former: Mapping[int, Any], contents: Mapping[bytes, bytes]
) -> list[Packed]:
    """Pack the bodies of a batch, each target's in order; what is packed already or unreadable is left alone."""
    roots: dict[int, Root | None] = {}
    packed: dict[bytes, Packed] = {}
    for page in batch:
        key = page.body_key
        if key in packed or key not in contents or rows[key].encoding.startswith(PACKED):
            continue
        if page.target_id not in roots:
            roots[page.target_id] = _former_root(former.get(page.target_id), contents)
        root = roots[page.target_id]
        follower = root.pack(key, contents[key]) if root is not None else None
        if follower is None:
            follower = Packed(key, Packer().pack(contents[key]), f"{PACKED}0", None)
            roots[page.target_id] = Root(key, contents[key], len(follower.payload), 0)
        packed[key] = follower
    return list(packed.values())


def _former_root(row: Any, contents: Mapping[bytes, bytes]) -> Root | None:
    """The root that a target's last packed page leans on, or is."""
    if row is None or not row.encoding.startswith(PACKED):
        return None
    if row.root_key not in contents:
        return None
    return Root(row.root_key, contents[row.root_key], row.root_length, int(row.encoding.removeprefix(PACKED)))


async def _cursor(connection: AsyncConnection) -> Cursor:
    found = (await connection.execute(select(engine_state.c.value).where(engine_state.c.name == STATE))).scalar()
    return msgspec.convert(found, Cursor) if found else Cursor()


async def _next_pages(connection: AsyncConnection, cursor: Cursor, before: datetime, limit: int) -> list[Any]:
    """The following pages by age: up to `limit`, and no more content than fits in memory comfortably."""
    at = from_micros(cursor.at)
    beyond = or_(pages.c.created_at > at, and_(pages.c.created_at == at, pages.c.id > cursor.id))
    query = (
        select(pages.c.id, pages.c.target_id, pages.c.body_key, pages.c.body_length, pages.c.created_at)
        .where(pages.c.created_at >= at, beyond, pages.c.created_at < before)
        .order_by(pages.c.created_at, pages.c.id)
        .limit(limit)
    )
    found = (await connection.execute(query)).all()
    total, count = 0, 0
    for page in found:
        total += page.body_length
        if count and total > BATCH_BYTES:
            break
        count += 1
    return list(islice(found, count))


async def _rows(connection: AsyncConnection, keys: Sequence[bytes]) -> dict[bytes, Any]:
    columns = page_bodies.c.key, page_bodies.c.length, page_bodies.c.encoding, page_bodies.c.base_key
    found = await connection.execute(select(*columns).where(page_bodies.c.key.in_(set(keys))))
    return {row.key: row for row in found}


async def _former_rows(connection: AsyncConnection, targets: Iterable[int], cursor: Cursor) -> dict[int, Any]:
    """For each target, the body of its newest page that the cursor has passed, and the root that it leans on or is."""
    newest = (
        select(pages.c.target_id, func.max(pages.c.id).label("id"))
        .where(pages.c.target_id.in_(sorted(targets)), pages.c.created_at <= from_micros(cursor.at))
        .group_by(pages.c.target_id)
        .subquery()
    )
    root = page_bodies.alias("root")
    query = (
        select(
            newest.c.target_id, page_bodies.c.encoding, root.c.key.label("root_key"), root.c.length.label("root_length")
        )
        .join_from(newest, pages, pages.c.id == newest.c.id)
        .join(page_bodies, page_bodies.c.key == pages.c.body_key)
        .join(root, root.c.key == func.coalesce(page_bodies.c.base_key, page_bodies.c.key))
    )
    return {row.target_id: row for row in await connection.execute(query)}


async def _switch(
    database: Database, changes: list[dict[str, Any]], step: tuple[Cursor, Cursor], now: datetime
) -> list[dict[str, Any]]:
    """Point the rows at their packed form and move the cursor, unless somebody else has moved it meanwhile."""
    was, will_be = step
    async with database.write() as connection:
        if not await _hold_cursor(connection, database, was):
            return []
        changes = await _still_there(connection, changes)
        if changes:
            await connection.execute(update(page_bodies).where(page_bodies.c.key == bindparam("its_key")), changes)
        moved = {"value": msgspec.to_builtins(will_be), "updated_at": now}
        await connection.execute(update(engine_state).where(engine_state.c.name == STATE).values(**moved))
    return changes


async def _hold_cursor(connection: AsyncConnection, database: Database, was: Cursor) -> bool:
    first = {"name": STATE, "value": msgspec.to_builtins(Cursor()), "updated_at": from_micros(0)}
    await connection.execute(database.insert(engine_state).values(**first).on_conflict_do_nothing())
    held = select(engine_state.c.value).where(engine_state.c.name == STATE).with_for_update()
    return msgspec.convert((await connection.execute(held)).scalar_one(), Cursor) == was


async def _still_there(connection: AsyncConnection, changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The changes whose body and root retention has not removed meanwhile; both are held until the end."""
    keys = {one["its_key"] for one in changes} | {one["base_key"] for one in changes if one["base_key"] is not None}
    query = select(page_bodies.c.key).where(page_bodies.c.key.in_(keys)).order_by(page_bodies.c.key)
    there = set((await connection.execute(query.with_for_update())).scalars())
    return [one for one in changes if one["its_key"] in there and (one["base_key"] is None or one["base_key"] in there)]


def _sum(one: Compacted, other: Compacted) -> Compacted:
    pairs = zip(msgspec.structs.astuple(one), msgspec.structs.astuple(other), strict=True)
    return Compacted(*(left + right for left, right in pairs))
