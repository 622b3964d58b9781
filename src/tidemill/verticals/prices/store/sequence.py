"""Numbers for changes in the order of their commits: what a reader who follows along goes by.

Keys are handed out in blocks, so that a later commit may hold an earlier key. These numbers are drawn from one row
that stays locked until the transaction ends: whoever has seen number 7 will never miss a number 6.
"""

from collections.abc import Iterator

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_NEXT = text(
    "INSERT INTO id_blocks (name, next_id) VALUES ('price_changes', 1 + :count)"
    " ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + :count RETURNING next_id"
)


async def next_changes(connection: AsyncConnection, count: int) -> Iterator[int]:
    """The next `count` numbers; also with none, whoever comes after waits until this transaction is over."""
    end = int((await connection.execute(_NEXT, {"count": count})).scalar_one())
    return iter(range(end - count, end))
