"""How a source and its target stand at this moment: asked once more as a request leaves."""

import asyncio
from typing import Any

from sqlalchemy import BindParameter, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.pipeline.dependencies import CurrentState
from tidemill.store.database.bulk import read_all
from tidemill.store.database.database import Database
from tidemill.store.schema import breakers, sources, targets
from tidemill.store.schema.rows import breaker_of, source_of, target_of

_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_SOURCES = select(sources).where(sources.c.id.in_(_KEYS))
_TARGETS = select(targets).where(targets.c.id.in_(_KEYS))
_BREAKERS = select(breakers).where(breakers.c.source_id.in_(_KEYS))

Pair = tuple[int, int]
"""A source's key and its target's."""


class CurrentStateReader:
    """Answers many who ask at once with the same three questions to the database."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database
        self._asked: dict[Pair, asyncio.Future[CurrentState | None]] = {}
        self._looks: set[asyncio.Task[None]] = set()

    async def current(self, source_id: int, target_id: int) -> CurrentState | None:
        """The source, target and breaker as they stand now; None when one of the two was removed."""
        pair = source_id, target_id
        if not self._asked:
            task = asyncio.get_running_loop().create_task(self._answer())
            self._looks.add(task)
            task.add_done_callback(self._looks.discard)
        future = self._asked.get(pair)
        if future is None:
            future = self._asked[pair] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(future)

    async def _answer(self) -> None:
        """Answer everyone who has asked since the last time."""
        asked, self._asked = self._asked, {}
        try:
            async with self._database.glance() as connection:
                found = await _present(connection, asked)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who asked must hear of it
            for future in asked.values():
                if not future.done():
                    future.set_exception(error)
            return
        for pair, future in asked.items():
            if not future.done():
                future.set_result(found.get(pair))


async def _present(connection: AsyncConnection, pairs: dict[Pair, Any]) -> dict[Pair, CurrentState]:
    source_keys, target_keys = sorted({one for one, _ in pairs}), sorted({other for _, other in pairs})
    source_rows = await read_all(connection, _SOURCES, {"b_keys": source_keys})
    target_rows = await read_all(connection, _TARGETS, {"b_keys": target_keys})
    breaker_rows = await read_all(connection, _BREAKERS, {"b_keys": source_keys})
    known = {row["id"]: source_of(row) for row in source_rows}
    aims = {row["id"]: target_of(row) for row in target_rows}
    tripped = {row["source_id"]: breaker_of(row) for row in breaker_rows}
    return {
        (one, other): CurrentState(known[one], aims[other], tripped.get(one) or breaker_of(None))
        for one, other in pairs
        if one in known and other in aims
    }
