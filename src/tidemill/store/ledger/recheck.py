"""How a source and its target stand at this moment: asked once more as a request leaves."""

import asyncio
from collections.abc import Iterable
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.pipeline.dependencies import CurrentState
from tidemill.store.database.database import Database
from tidemill.store.ledger.claims_sql import BREAKERS_BY_SOURCE, SOURCES_BY_ID, TARGETS_BY_ID
from tidemill.store.schema.rows import breaker_of, source_of, target_of

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

    async def current_of(self, pairs: Iterable[Pair]) -> dict[Pair, CurrentState]:
        """The same for many at once; those that were removed are left out."""
        async with self._database.glance() as connection:
            return await _present(connection, dict.fromkeys(pairs))

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
    source_rows = await SOURCES_BY_ID.fetch(connection, ids=source_keys)
    target_rows = await TARGETS_BY_ID.fetch(connection, ids=target_keys)
    breaker_rows = await BREAKERS_BY_SOURCE.fetch(connection, ids=source_keys)
    known = {row["id"]: source_of(row) for row in source_rows}
    aims = {row["id"]: target_of(row) for row in target_rows}
    tripped = {row["source_id"]: breaker_of(row) for row in breaker_rows}
    return {
        (one, other): CurrentState(known[one], aims[other], tripped.get(one) or breaker_of(None))
        for one, other in pairs
        if one in known and other in aims
    }
