"""Which records were seen or looked up at which moment: how sure we were of them in the past."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from itertools import accumulate, pairwise

import msgspec
import zstandard
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.schema import seen_records

LONGEST_LIST = 64 * 1024 * 1024
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[int]).decode


class Seen(StrEnum):
    """How a record was known to be there: a page of its source showed it, or it was looked up by itself."""

    SHOWN = "shown"
    LOOKED_UP = "looked_up"


async def note_seen(
    connection: AsyncConnection, key: int, vertical: str, how: Seen, records: Iterable[int], now: datetime
) -> None:
    """Keep which records were seen now, in one row: sorted keys differ little, so each takes a byte or two."""
    known = sorted(set(records))
    if not known:
        return
    steps = [known[0], *(after - before for before, after in pairwise(known))]
    row = {"id": key, "vertical": vertical, "how": how, "seen_at": now, "records": zstandard.compress(_encode(steps))}
    await connection.execute(seen_records.insert(), [row])


async def seen_between(
    connection: AsyncConnection, vertical: str, begin: datetime, end: datetime
) -> Mapping[Seen, Mapping[int, datetime]]:
    """Return when each record was seen last after `begin` and not after `end`, by how it was."""
    query = (
        select(seen_records.c.how, seen_records.c.seen_at, seen_records.c.records)
        .where(seen_records.c.vertical == vertical)
        .where(seen_records.c.seen_at > begin, seen_records.c.seen_at <= end)
        .order_by(seen_records.c.seen_at, seen_records.c.id)
    )
    found: dict[Seen, dict[int, datetime]] = {how: {} for how in Seen}
    for row in await connection.execute(query):
        steps = _decode(zstandard.decompress(row.records, max_output_size=LONGEST_LIST))
        found[Seen(row.how)].update(dict.fromkeys(accumulate(steps), row.seen_at))
    return found
