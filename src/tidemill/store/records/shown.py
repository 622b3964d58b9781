"""What readers saw of records until something else took its place: published records as they were at a moment."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import zstandard
from sqlalchemy import ColumnElement, select, text, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.column_types import to_micros
from tidemill.store.database.hot_statements import HotRows
from tidemill.store.schema import shown_records

SEQUENCE = "shown_records"
LONGEST_SHOWN = 4 * 1024 * 1024

_DRAW = text(
    f"INSERT INTO id_blocks (name, next_id) VALUES ('{SEQUENCE}', 1 + :count)"  # noqa: S608 - a constant
    " ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + :count RETURNING next_id"
)
_INSERT = HotRows("shown.insert", codecs_of(shown_records), "INSERT INTO shown_records ({columns}) {rows}")


class ShownRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What readers saw of a record since a moment; `place` is where it stood in its list, in order of time."""

    record_id: int
    place: datetime
    since: datetime
    shown: bytes


async def keep_shown(
    connection: AsyncConnection, vertical: str, replaced: Sequence[ShownRecord], now: datetime
) -> None:
    """Keep what something else takes the place of now; what nobody had time to see is left out."""
    seen = [each for each in replaced if each.since < now]
    if not seen:
        return
    end = int((await connection.execute(_DRAW, {"count": len(seen)})).scalar_one())
    packer = zstandard.ZstdCompressor()
    rows = [
        {
            "id": key, "vertical": vertical, "record_id": each.record_id, "place": to_micros(each.place),
            "shown_from": each.since, "shown_until": now, "shown": packer.compress(each.shown),
        }
        for key, each in enumerate(seen, end - len(seen))
    ]  # fmt: skip
    await _INSERT.write(connection, rows)


async def shown_at(
    connection: AsyncConnection,
    vertical: str,
    moment: datetime,
    *,
    after: tuple[datetime, int] | None,
    place_from: datetime | None,
    place_to: datetime | None,
    limit: int,
    by_key: bool = False,
) -> list[tuple[int, bytes]]:
    """Return records by key as they were shown at a moment and are not any more.

    They come in the order of their places, or of their keys.
    """
    table = shown_records.c
    query = select(table.record_id, table.shown).where(
        table.vertical == vertical, table.shown_from <= moment, table.shown_until > moment
    )
    bounds: list[ColumnElement[bool]] = []
    if after is not None and by_key:
        bounds.append(table.record_id > after[1])
    elif after is not None:
        bounds.append(tuple_(table.place, table.record_id) > tuple_(to_micros(after[0]), after[1]))
    if place_from is not None:
        bounds.append(table.place >= to_micros(place_from))
    if place_to is not None:
        bounds.append(table.place < to_micros(place_to))
    order = (table.record_id,) if by_key else (table.place, table.record_id)
    rows: Any = await connection.execute(query.where(*bounds).order_by(*order).limit(limit))
    return [(row.record_id, zstandard.decompress(row.shown, max_output_size=LONGEST_SHOWN)) for row in rows]
