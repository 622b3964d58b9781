"""Browser pools in the database: how each process's stands, and what people ask of all of them."""

import os
import socket
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, select

from tidemill.core.views.browsers import PoolState, PoolView, RecycleRequest
from tidemill.store.database.database import Database
from tidemill.store.schema import engine_state

PREFIX = "browsers of "
WISH = "browser recycle"
FRESH = timedelta(minutes=2)
"""A pool that was not heard of for so long is gone, with its process."""

_NAMED = select(engine_state).where(engine_state.c.name == bindparam("b_name"))
_POOLS = (
    select(engine_state)
    .where(engine_state.c.name.startswith(PREFIX), engine_state.c.updated_at >= bindparam("b_since"))
    .order_by(engine_state.c.name)
)
_DROP = delete(engine_state).where(engine_state.c.name == bindparam("b_name"))
_DROP_OLD = delete(engine_state).where(
    engine_state.c.name.startswith(PREFIX), engine_state.c.updated_at < bindparam("b_before")
)


class BrowserRepository:
    """Where pools are published and wishes are kept."""

    def __init__(self, database: Database, process: str | None = None) -> None:
        """`process` is what this one is called."""
        self._database = database
        self._process = process or f"{socket.gethostname()}:{os.getpid()}"

    async def publish(self, state: PoolState, now: datetime) -> None:
        """How this process's pool stands; pools that were not heard of for long are forgotten."""
        await self._put(PREFIX + self._process, msgspec.to_builtins(state), now)
        async with self._database.write() as connection:
            await connection.execute(_DROP_OLD, {"b_before": now - FRESH})

    async def withdraw(self) -> None:
        """This process has no pool any more."""
        async with self._database.write() as connection:
            await connection.execute(_DROP, {"b_name": PREFIX + self._process})

    async def pools(self, now: datetime) -> list[PoolView]:
        """The pools of all processes."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_POOLS, {"b_since": now - FRESH})).all()
        return [
            PoolView(
                process=row.name.removeprefix(PREFIX),
                seen_at=row.updated_at,
                state=msgspec.convert(row.value, PoolState),
            )
            for row in rows
        ]

    async def wish(self) -> RecycleRequest | None:
        """The last wish that browsers be replaced."""
        async with self._database.read() as connection:
            row = (await connection.execute(_NAMED, {"b_name": WISH})).one_or_none()
        return None if row is None else RecycleRequest(row.updated_at, row.value["by"])

    async def ask_to_recycle(self, by: str, now: datetime) -> None:
        """Every pool that sees this replaces its browser."""
        await self._put(WISH, {"by": by}, now)

    async def _put(self, name: str, value: Any, now: datetime) -> None:
        statement = self._database.insert(engine_state)
        fresh = {"value": statement.excluded.value, "updated_at": statement.excluded.updated_at}
        async with self._database.write() as connection:
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["name"], set_=fresh),
                [{"name": name, "value": value, "updated_at": now}],
            )
