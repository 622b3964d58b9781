"""What made records what they became between two moments: runs that read them, replays that corrected them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import FromClause, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views.past import Cause
from tidemill.store.database.batches import portions
from tidemill.store.schema import record_history, runs

NEW = "new"
"""The cause of a record that was seen for the first time."""


async def causes_between(
    connection: AsyncConnection, vertical: str, table: FromClause, keys: Sequence[int], begin: datetime, end: datetime
) -> Mapping[int, Sequence[Cause]]:
    """Return what happened to these records after `begin` and not after `end`, the first sight of each included.

    `table` says which source saw each first, and when.
    """
    found: dict[int, list[Cause]] = defaultdict(list)
    line = record_history.c
    for some in portions(keys):
        first = select(table.c.id, table.c.source_id, table.c.first_seen_at).where(
            table.c.id.in_(some), table.c.first_seen_at > begin, table.c.first_seen_at <= end
        )
        for key, source_id, seen_at in (await connection.execute(first)).all():
            run = await _run_at(connection, source_id, seen_at)
            found[key].append(Cause(kind=NEW, run_id=run, at=seen_at))
        query = (
            select(line.record_id, line.kind, line.run_id, line.replay_id, line.created_at)
            .where(line.vertical == vertical, line.record_id.in_(some))
            .where(line.created_at > begin, line.created_at <= end)
            .order_by(line.id)
        )
        for row in await connection.execute(query):
            cause = Cause(kind=row.kind, run_id=row.run_id, replay_id=row.replay_id, at=row.created_at)
            found[row.record_id].append(cause)
    return found


async def _run_at(connection: AsyncConnection, source_id: int, moment: datetime) -> int:
    """Return the last run of a source that had begun at a moment, 0 if it is not kept any more."""
    query = select(runs.c.id).where(runs.c.source_id == source_id, runs.c.started_at <= moment)
    return int((await connection.execute(query.order_by(runs.c.started_at.desc()).limit(1))).scalar() or 0)
