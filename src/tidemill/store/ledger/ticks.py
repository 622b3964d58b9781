"""Periodic work, one row per (name, slot): two schedulers never do it twice, and silence shows."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ScalarSelect, bindparam, func, select, update

from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.schema import tick_slots

LONGEST_DETAIL = 2_000


_FINISH = (
    update(tick_slots)
    .where(tick_slots.c.name == bindparam("b_name"), tick_slots.c.slot == bindparam("b_slot"))
    .values(finished_at=bindparam("b_now"), status=bindparam("b_status"), detail=bindparam("b_detail"))
)


class TickSlots:
    """Who did which piece of periodic work, and when it last went well."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database
        row: dict[str, Any] = {name: bindparam(f"b_{name}") for name in ("name", "slot", "worker_id", "started_at")}
        free = database.insert(tick_slots).values(row).on_conflict_do_nothing(index_elements=["name", "slot"])
        self._take = free.returning(tick_slots.c.name)

    async def take(self, name: str, slot: datetime, worker_id: int, now: datetime) -> bool:
        """Whether the slot is ours; whoever comes second leaves it alone."""
        row = {"b_name": name, "b_slot": slot, "b_worker_id": worker_id, "b_started_at": now}
        async with self._database.write() as connection:
            return (await connection.execute(self._take, row)).first() is not None

    async def finish(self, name: str, slot: datetime, status: str, detail: str, now: datetime) -> None:
        """Write down how it went."""
        words = {"b_name": name, "b_slot": slot, "b_status": status, "b_detail": storable(detail, LONGEST_DETAIL)}
        async with self._database.write() as connection:
            await connection.execute(_FINISH, {**words, "b_now": now})

    async def last_success(self, names: Sequence[str]) -> dict[str, datetime]:
        """When each piece of work last went well, one step down the key each; those that never did are absent."""
        latest = [_last_good(name).label(f"tick_{number}") for number, name in enumerate(names)]
        async with self._database.glance() as connection:
            found = (await connection.execute(select(*latest))).one()
        return {name: slot for name, slot in zip(names, found, strict=True) if slot is not None}

    async def since(self) -> datetime | None:
        """When anything was first done: from then on, silence counts."""
        async with self._database.read() as connection:
            first: datetime | None = (await connection.execute(select(func.min(tick_slots.c.started_at)))).scalar()
        return first


def _last_good(name: str) -> ScalarSelect[datetime]:
    good = select(tick_slots.c.slot).where(tick_slots.c.name == name, tick_slots.c.status == "ok")
    return good.order_by(tick_slots.c.slot.desc()).limit(1).scalar_subquery()
