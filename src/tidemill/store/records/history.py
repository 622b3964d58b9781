"""What happened to a record, line by line: the same for every vertical."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.hot_statements import HotRows
from tidemill.store.database.keys import Ids
from tidemill.store.schema import record_history


class HistoryLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line: what kind of thing happened, in which run, and field by field what it was and what it is.

    `replay_id` names the report of a replay that corrected the record; it was not seen then.
    """

    record_id: int
    kind: str
    run_id: int = 0
    page_id: int | None = None
    changes: Mapping[str, Any] = msgspec.field(default_factory=dict)
    replay_id: int | None = None


INSERT_HISTORY = HotRows("history.insert", codecs_of(record_history), "INSERT INTO record_history ({columns}) {rows}")


async def write_history(
    connection: AsyncConnection, ids: Ids, vertical: str, lines: Sequence[HistoryLine], now: datetime
) -> None:
    """Keep what happened; a key for each line must have been reserved."""
    rows = [
        {"id": ids.take(), "vertical": vertical, "created_at": now, **msgspec.structs.asdict(line)} for line in lines
    ]
    await INSERT_HISTORY.write(connection, rows)
