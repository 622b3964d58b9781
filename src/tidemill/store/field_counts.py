"""How many of a run's records had each field: what shows that a field silently disappeared upstream (B7)."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.bulk import read_all, write_last
from tidemill.store.schema import runs

MOST_FIELDS = 100
"""Names kept per run; pages do not choose field names, adapters do, and none has as many."""

_COUNTED = (
    select(runs.c.id, runs.c.field_counts)
    .where(runs.c.id.in_(bindparam("b_keys", expanding=True)))
    .order_by(runs.c.id)
    .with_for_update()
)
_COUNT = update(runs).where(runs.c.id == bindparam("b_id")).values(field_counts=bindparam("b_counts"))


async def add(connection: AsyncConnection, found: Mapping[int, Counter[str]]) -> None:
    """Add a batch's counts to its runs."""
    if not found:
        return
    rows = await read_all(connection, _COUNTED, {"b_keys": sorted(found)})
    counts = [{"b_id": row["id"], "b_counts": merged(row["field_counts"] or {}, found[row["id"]])} for row in rows]
    await write_last(connection, _COUNT, counts)


def merged(before: Mapping[str, int], now: Counter[str]) -> dict[str, int]:
    """Both counts together, the commonest fields first."""
    return dict((Counter(before) + now).most_common(MOST_FIELDS))
