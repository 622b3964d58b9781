"""Periodic work, one row per (name, slot): two schedulers never do it twice, and silence shows (B2, D-10)."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select, update

from tidemill.store.database import Database
from tidemill.store.schema import tick_slots


class Slots:
    """Who did which piece of periodic work, and when it last went well."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database

    async def take(self, name: str, slot: datetime, worker_id: int, now: datetime) -> bool:
        """Whether the slot is ours; whoever comes second leaves it alone."""
        row = {"name": name, "slot": slot, "worker_id": worker_id, "started_at": now}
        statement = self._database.insert(tick_slots).on_conflict_do_nothing(index_elements=["name", "slot"])
        async with self._database.write() as connection:
            taken = await connection.execute(statement.returning(tick_slots.c.name), [row])
            return taken.first() is not None

    async def finish(self, name: str, slot: datetime, status: str, detail: str, now: datetime) -> None:
        """Write down how it went."""
        mine = update(tick_slots).where(tick_slots.c.name == name, tick_slots.c.slot == slot)
        async with self._database.write() as connection:
            await connection.execute(mine.values(finished_at=now, status=status, detail=detail[:2_000]))

    async def last_success(self, names: Sequence[str]) -> dict[str, datetime]:
        """When each piece of work last went well; those that never did are absent."""
        query = (
            select(tick_slots.c.name, func.max(tick_slots.c.slot))
            .where(tick_slots.c.name.in_(names), tick_slots.c.status == "ok")
            .group_by(tick_slots.c.name)
        )
        async with self._database.glance() as connection:
            return {name: slot for name, slot in await connection.execute(query)}  # noqa: C416 - rows are not tuples

    async def since(self) -> datetime | None:
        """The earliest slot on record of anything: from then on, silence counts."""
        async with self._database.read() as connection:
            earliest: datetime | None = (await connection.execute(select(func.min(tick_slots.c.slot)))).scalar()
        return earliest
