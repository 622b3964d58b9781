"""A batch's counts reach their runs as one set: nothing twice, nothing lost, and a run's end is told once."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from tidemill.store.ledger.run_counts import RunCounts, settle_runs
from tidemill.store.schema import runs, sources

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
async def runs_of_three_jobs(database):
    """Two running runs that each wait for three jobs, and one that has been closed."""
    source = {
        "id": 1, "name": "agenda", "vertical": "events", "base_url": "https://a.test", "adapter_id": "events.generic",
        "created_at": NOON, "updated_at": NOON,
    }  # fmt: skip
    open_run = {"source_id": 1, "vertical": "events", "adapter_id": "events.generic", "trigger": "MANUAL",
                "open_jobs": 3, "started_at": NOON}  # fmt: skip
    rows = [{"id": key, "status": status, **open_run} for key, status in ((1, "RUNNING"), (2, "RUNNING"), (3, "DONE"))]
    async with database.write() as connection:
        await connection.execute(sources.insert(), [source])
        await connection.execute(runs.insert(), rows)
    return database


def tally(ended=0, followed=0, total=0, fields=None, **counts):
    made = RunCounts()
    made.ended, made.total, made.fields = ended, total, Counter(fields or {})
    made.add(pages_followed=followed, **counts)
    return made


async def settled(database, tallies):
    async with database.write() as connection:
        return await settle_runs(connection, tallies)


async def row_of(database, key):
    async with database.read() as connection:
        return (await connection.execute(select(runs).where(runs.c.id == key))).mappings().one()


async def test_counts_of_several_batches_add_up(runs_of_three_jobs):
    await settled(runs_of_three_jobs, {1: tally(ended=1, records_read=16, total=45), 2: tally(records_read=2)})
    await settled(runs_of_three_jobs, {1: tally(ended=1, records_read=4, total=5)})
    row = await row_of(runs_of_three_jobs, 1)
    assert (row["open_jobs"], row["records_read"], row["claimed_total"]) == (1, 20, 50)
    assert (await row_of(runs_of_three_jobs, 2))["records_read"] == 2


async def test_fields_are_counted_beside_what_was_counted_before(runs_of_three_jobs):
    await settled(runs_of_three_jobs, {1: tally(fields={"*": 2, "title": 2, "ends": 1})})
    await settled(runs_of_three_jobs, {1: tally(ended=1)})
    await settled(runs_of_three_jobs, {1: tally(fields={"*": 1, "title": 1})})
    assert (await row_of(runs_of_three_jobs, 1))["field_counts"] == {"*": 3, "title": 3, "ends": 1}


async def test_a_run_whose_records_nobody_has_counted_stays_without_counts(runs_of_three_jobs):
    await settled(runs_of_three_jobs, {1: tally(ended=1), 2: tally(fields={"*": 1})})
    async with runs_of_three_jobs.read() as connection:
        without = (await connection.execute(select(runs.c.id).where(runs.c.field_counts.is_(None)))).scalars().all()
    assert sorted(without) == [1, 3]


async def test_a_run_is_told_as_finished_with_its_last_job_and_not_before(runs_of_three_jobs):
    assert await settled(runs_of_three_jobs, {1: tally(ended=2), 2: tally(ended=3)}) == (2,)
    assert await settled(runs_of_three_jobs, {1: tally(ended=1)}) == (1,)


async def test_a_page_that_leads_to_another_keeps_its_run_open(runs_of_three_jobs):
    assert await settled(runs_of_three_jobs, {1: tally(ended=3, followed=1)}) == ()
    assert (await row_of(runs_of_three_jobs, 1))["open_jobs"] == 1


async def test_a_closed_run_does_not_finish_again(runs_of_three_jobs):
    assert await settled(runs_of_three_jobs, {3: tally(ended=3)}) == ()


async def test_nothing_to_count_asks_nothing(runs_of_three_jobs):
    before = await row_of(runs_of_three_jobs, 1)
    assert await settled(runs_of_three_jobs, {1: tally()}) == ()
    assert await row_of(runs_of_three_jobs, 1) == before


async def test_more_runs_than_one_statement_holds_are_all_counted(runs_of_three_jobs):
    more = {"source_id": 1, "vertical": "events", "adapter_id": "events.generic", "trigger": "MANUAL", "open_jobs": 1,
            "started_at": NOON}  # fmt: skip
    async with runs_of_three_jobs.write() as connection:
        await connection.execute(runs.insert(), [{"id": key, **more} for key in range(10, 310)])
    finished = await settled(runs_of_three_jobs, {key: tally(ended=1) for key in range(10, 310)})
    assert finished == tuple(range(10, 310))
