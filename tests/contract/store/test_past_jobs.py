"""What looks for leased jobs every few seconds looks at those alone, however many are past."""

from typing import Any

import pytest
from sqlalchemy import Engine, event

from rig.clock import NOON
from tidemill.store.database.database import open_database
from tidemill.store.ledger import workers
from tidemill.store.live import leases


@pytest.mark.shows("O6")
@pytest.mark.parametrize(
    ("statement", "given"),
    [(workers._STUCK, {"b_since": NOON}), (leases._LOST, {"b_since": NOON, "b_past": NOON})],
    ids=["stuck", "lost"],
)
async def test_no_statement_over_leased_jobs_walks_through_the_past_ones(migrated_sqlite_url, statement, given):
    database = open_database(migrated_sqlite_url)
    asked: list[tuple[str, Any]] = []

    def note(_connection, _cursor, written, values, *_rest):
        asked.append((written, values))

    try:
        async with database.read() as connection:
            event.listen(Engine, "before_cursor_execute", note)
            try:
                await connection.execute(statement, given)
            finally:
                event.remove(Engine, "before_cursor_execute", note)
            ((written, values),) = [each for each in asked if "pipeline_jobs" in each[0]]
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {written}", values)
            steps = [str(row) for row in plan]
        assert any("SCAN pipeline_jobs USING INDEX ix_jobs_leased" in step for step in steps), steps
    finally:
        await database.close()
