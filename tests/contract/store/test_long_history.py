"""What the engine asks at every tick costs the same after a million jobs as after a thousand."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import select, text

from rig.clock import NOON, SettableClock
from rig.mill import Mill
from rig.rows import a_job, a_run, a_source, a_target, put
from rig.steps import count_steps, steps_of
from tidemill.store.database.database import Database, open_database
from tidemill.store.ledger.scheduling import _WORKING
from tidemill.store.ledger.stale_jobs import StaleJobs
from tidemill.store.ledger.sweeps import Sweeps
from tidemill.store.schema import jobs, runs, sources, targets

TARGETS, FEW, MANY = 20, 5, 100
LATER = NOON + timedelta(days=30)
Question = Callable[[Mill], Awaitable[object]]
QUESTIONS: dict[str, Question] = {
    "what is due": lambda mill: mill.agenda.due(LATER, 5_000),
    "what waits": lambda mill: mill.agenda.pending(),
    "what a manual run takes": lambda mill: mill.agenda.of_source(1),
    "what waited too long": lambda mill: Sweeps(mill.database).stale(timedelta(hours=24), LATER),
    "what was never dispatched": lambda mill: Sweeps(Database(mill.database.engine)).undispatched(
        timedelta(hours=1), LATER
    ),
    "what may be taken up again": lambda mill: StaleJobs(mill.database, mill.ids).requeue(None, LATER),
}


async def pile_up(database: Database, first: int, past: int) -> None:
    """Past jobs of every target, all ended."""
    keys = range(first, first + TARGETS * past)
    ages = [NOON - timedelta(minutes=key) for key in keys]
    rows = [
        a_job(key, target_id=1 + key % TARGETS, due_at=age, created_at=age)
        for key, age in zip(keys, ages, strict=True)
    ]  # fmt: skip
    await put(database, jobs, *rows)


@pytest.fixture
async def mill(sqlite_database: Database, clock: SettableClock) -> Mill:
    made = Mill(sqlite_database, clock)
    await put(sqlite_database, sources, a_source())
    await put(sqlite_database, targets, *(a_target(key, next_due_at=NOON) for key in range(1, 1 + TARGETS)))
    await put(sqlite_database, runs, a_run())
    await pile_up(sqlite_database, 1, FEW)
    return made


@pytest.mark.shows("O4")
@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_question_of_every_tick_takes_no_more_steps_after_a_long_history(mill: Mill, question: str) -> None:
    took: list[int] = []
    count = await count_steps(mill.database)
    await QUESTIONS[question](mill)  # what is made once per process
    with steps_of(count, took):
        await QUESTIONS[question](mill)
    await pile_up(mill.database, 1 + TARGETS * FEW, MANY)
    with steps_of(count, took):
        await QUESTIONS[question](mill)
    young, old = took
    assert young > 0
    assert old <= young * 1.1 + 50, f"{young} steps at {FEW} past jobs per target, {old} at {FEW + MANY}"


async def test_postgresql_answers_whether_a_target_is_at_work_by_the_index_of_open_jobs(
    migrated_postgres_url: str,
) -> None:
    opened = open_database(migrated_postgres_url)
    try:
        await put(opened, sources, a_source())
        await put(opened, targets, *(a_target(key, next_due_at=NOON) for key in range(1, 1 + TARGETS)))
        await pile_up(opened, 1, MANY)
        asked = str(select(targets.c.id).where(_WORKING).compile(opened.engine.sync_engine))
        async with opened.write() as connection:
            await connection.execute(text("ANALYZE"))
            plan = "\n".join((await connection.exec_driver_sql(f"EXPLAIN {asked}")).scalars())
    finally:
        await opened.close()
    assert "ix_jobs_open" in plan
