"""The feed of changes of published records: what a program follows by cursor, the same for every vertical.

Numbers are drawn from one row that stays locked until the transaction ends: whoever has seen number 7 will never miss
a number 6.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views.changes import RecordChange
from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.hot_statements import HotRows
from tidemill.store.schema import id_blocks, record_changes

SEQUENCE = "record_changes"
LONGEST_TITLE = 300

_DRAW = text(
    f"INSERT INTO id_blocks (name, next_id) VALUES ('{SEQUENCE}', 1 + :count)"  # noqa: S608 - a constant
    " ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + :count RETURNING next_id"
)
_INSERT = HotRows("changes.insert", codecs_of(record_changes), "INSERT INTO record_changes ({columns}) {rows}")
_NEXT = select(id_blocks.c.next_id).where(id_blocks.c.name == SEQUENCE)
_OLDEST = select(func.min(record_changes.c.seq))


class ChangeLine(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a published record; `group` is what subscribers choose by, such as its market."""

    record_id: int
    kind: str
    title: str
    group: str = ""
    changes: Mapping[str, Any] = msgspec.field(default_factory=dict)


async def write_changes(connection: AsyncConnection, vertical: str, lines: Sequence[ChangeLine], now: datetime) -> None:
    """Append lines within the caller's transaction; best at its end, because others wait for its commit from here."""
    if not lines:
        return
    end = int((await connection.execute(_DRAW, {"count": len(lines)})).scalar_one())
    rows = [
        {
            "seq": seq, "vertical": vertical, "record_id": line.record_id, "kind": line.kind,
            "title": storable(line.title, LONGEST_TITLE) or "", "group_key": line.group, "changes": line.changes,
            "created_at": now,
        }
        for seq, line in enumerate(lines, end - len(lines))
    ]  # fmt: skip
    await _INSERT.write(connection, rows)


class RecordChangeReads:
    """Reads the feed of one vertical."""

    def __init__(self, database: Database, vertical: str) -> None:
        """Read from one database."""
        self._database = database
        self._vertical = vertical

    async def newest(self) -> int:
        """Return the last number that was given out, 0 for none."""
        async with self._database.read() as connection:
            return int((await connection.execute(_NEXT)).scalar() or 1) - 1

    async def oldest_cursor(self) -> int:
        """Return the earliest cursor after which nothing has been let go by retention."""
        async with self._database.read() as connection:
            oldest = (await connection.execute(_OLDEST)).scalar()
            known = oldest if oldest is not None else (await connection.execute(_NEXT)).scalar()
            return int(known or 1) - 1

    async def after(self, cursor: int, limit: int) -> list[RecordChange]:
        """Return the changes after a number, in the order in which they became visible."""
        query = (
            select(record_changes)
            .where(record_changes.c.vertical == self._vertical, record_changes.c.seq > cursor)
            .order_by(record_changes.c.seq)
            .limit(limit)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [
            RecordChange(
                seq=row.seq, record_id=row.record_id, kind=row.kind, title=row.title, group=row.group_key,
                changes=row.changes, at=row.created_at,
            )
            for row in rows
        ]  # fmt: skip
