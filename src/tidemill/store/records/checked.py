"""How many of a vertical's records were checked lately, source by source: what freshness objectives count."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Select

from tidemill.core.objectives.objective import CheckedRecords
from tidemill.store.database.database import Database


class CheckedRecordCounter(msgspec.Struct, frozen=True):
    """The statement answers source, active records, and those checked at `b_since` or later; `b_now` is the moment.

    Active is what readers are shown and what checking can still tell something about.
    """

    statement: Select[Any]


async def count_checked(
    database: Database, counter: CheckedRecordCounter, sources: Collection[int], since: datetime, now: datetime
) -> CheckedRecords:
    """Count the records of these sources."""
    async with database.read() as connection:
        rows = (await connection.execute(counter.statement, {"b_since": since, "b_now": now})).all()
    mine = [row for row in rows if row[0] in sources]
    return CheckedRecords(sum(row[1] for row in mine), sum(row[2] for row in mine))
