"""Rows that take the place of what is there: the statement, once for each database and not for each connection."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite


def upsert(table: Table, keys: Sequence[str], columns: Collection[str] = ()) -> dict[str, Any]:
    """By dialect, an INSERT that writes these columns where the keys are known already; all others unless it says."""
    written = columns or [column.name for column in table.columns if column.name not in keys]
    return {
        kind.dialect.name: (statement := kind.insert(table)).on_conflict_do_update(
            index_elements=list(keys), set_={name: statement.excluded[name] for name in written}
        )
        for kind in (sqlite, postgresql)
    }
