"""What happened to records after a moment, so that it can be undone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views.past import PastLine
from tidemill.store.schema import record_history


async def lines_after(
    connection: AsyncConnection, vertical: str, records: Sequence[int], moment: datetime
) -> Mapping[int, Sequence[PastLine]]:
    """Return the lines of these records after a moment, the newest first; `records` fit into one statement."""
    query = (
        select(*(record_history.c[name] for name in ("record_id", "kind", "run_id", "changes")))
        .where(record_history.c.vertical == vertical, record_history.c.record_id.in_(records))
        .where(record_history.c.created_at > moment)
        .order_by(record_history.c.id.desc())
    )
    found: dict[int, list[PastLine]] = defaultdict(list)
    for row in await connection.execute(query):
        found[row.record_id].append(PastLine(row.kind, row.run_id, row.changes))
    return found
