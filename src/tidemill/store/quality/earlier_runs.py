"""The runs before a run, for several runs at once and no more than so many of each."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, bindparam, select, true

from tidemill.store.schema import runs


def of_each_run(
    earlier: FromClause, columns: Sequence[ColumnElement[Any]], matching: Sequence[ColumnElement[bool]], limit: int
) -> dict[bool, Select[Any]]:
    """By whether it is for SQLite: of every run named, the last `limit` of its source's that match, the last first.

    `earlier` stands for the runs looked for, `runs` for those named by `b_ids`; each row says by `run_id` whose it is.
    """
    last = (
        select(earlier.c.id)
        .where(earlier.c.source_id == runs.c.source_id, *matching)
        .order_by(earlier.c.started_at.desc())
        .limit(limit)
        .correlate(runs)
    )
    found = runs.alias("found")
    named = [found.c[column.name] for column in columns]
    lateral = last.lateral("last")
    joined = {
        True: runs.join(found, found.c.id.in_(last.scalar_subquery())),
        False: runs.join(lateral, true()).join(found, found.c.id == lateral.c.id),
    }
    return {
        on_sqlite: select(runs.c.id.label("run_id"), *named)
        .select_from(tables)
        .where(runs.c.id.in_(bindparam("b_ids", expanding=True)))
        .order_by(runs.c.id, found.c.started_at.desc())
        for on_sqlite, tables in joined.items()
    }
