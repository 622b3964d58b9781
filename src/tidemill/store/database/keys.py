"""Keys, handed out in blocks: unique across processes, small, in order, known before anything is written."""

from sqlalchemy import BigInteger, Column, Table, Text, select, update

from tidemill.store.database.database import Database
from tidemill.store.database.metadata import metadata

BLOCK = 100_000
"""Keys taken at once. A group of pages asks for the most that it may need, thousands; a block lasts for many groups."""
NAME = "ledger"

id_blocks = Table(
    "id_blocks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("next_id", BigInteger, nullable=False),
)


class Ids:
    """A process's supply of keys. A block that a crash leaves half used is simply skipped."""

    def __init__(self, database: Database) -> None:
        """Start with an empty block; the first `take` reserves one."""
        self._database = database
        self._next = 0
        self._end = 0

    async def reserve(self, count: int) -> None:
        """Make sure that `take` can give `count` keys without asking the database."""
        if self._end - self._next < count:
            self._next, self._end = await self._grab(max(BLOCK, count))

    def take(self) -> int:
        """The next key; `reserve` must have been asked for enough of them."""
        return self.take_many(1).start

    def take_many(self, count: int) -> range:
        """The next so many keys."""
        first, after = self._next, self._next + count
        if after > self._end:
            msg = "no keys left: reserve before taking"
            raise RuntimeError(msg)
        self._next = after
        return range(first, after)

    async def _grab(self, count: int) -> tuple[int, int]:
        async with self._database.write() as connection:
            row = self._database.insert(id_blocks).values(name=NAME, next_id=1)
            await connection.execute(row.on_conflict_do_nothing())
            current = select(id_blocks.c.next_id).where(id_blocks.c.name == NAME).with_for_update()
            start = int((await connection.execute(current)).scalar_one())
            await connection.execute(update(id_blocks).where(id_blocks.c.name == NAME).values(next_id=start + count))
        return start, start + count
