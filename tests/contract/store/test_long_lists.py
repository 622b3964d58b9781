"""Lists that are filtered by what few rows have take no more steps when the table is twenty times as long."""

from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from rig.clock import NOON
from rig.rows import a_job, a_letter, a_run, a_source, a_target, put
from rig.steps import count_steps, steps_of
from tidemill.core.views import JobFilter, TargetFilter
from tidemill.store.database.database import Database
from tidemill.store.schema import dead_letters, jobs, runs, sources, targets
from tidemill.store.views.sources import count_targets, list_targets
from tidemill.store.views.waiting import waiting_for_a_person
from tidemill.store.views.work import list_jobs

FEW, MANY = 200, 4_000
Question = Callable[[AsyncConnection], Awaitable[object]]
QUESTIONS: dict[str, Question] = {
    "jobs at a stage": lambda to: list_jobs(to, JobFilter(stage="fetch"), None, 5),
    "jobs at a stage of a run": lambda to: list_jobs(to, JobFilter(stage="parse", run_id=1), None, 5),
    "targets by a part of their address": lambda to: list_targets(to, TargetFilter(text="theatre-7"), 0, 5),
    "how many targets have it": lambda to: count_targets(to, TargetFilter(text="theatre-7"), 100),
    "what waits for a person": waiting_for_a_person,
}


async def pile_up(database: Database, first: int, past: int) -> None:
    keys = range(first, past + 1)
    await put(database, targets, *(a_target(key) for key in keys))
    await put(database, jobs, *(a_job(key, run_id=key, target_id=key) for key in keys))
    await put(database, dead_letters, *(a_letter(key, status="resolved") for key in keys))


async def asked(database: Database, question: str) -> None:
    """Ask on the connection whose steps are counted."""
    async with database.glance() as connection:
        await QUESTIONS[question](connection)


@pytest.mark.shows("A2")
@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_list_of_few_among_many_takes_no_more_steps(sqlite_database: Database, question: str) -> None:
    few = a_target(900_001, url="https://a.example/theatre-7", canonical_url="https://a.example/theatre-7")
    await put(sqlite_database, sources, a_source())
    await put(sqlite_database, runs, a_run())
    await put(sqlite_database, targets, few)
    open_job = {"target_id": 900_001, "completed_at": None, "created_at": NOON}
    await put(
        sqlite_database,
        jobs,
        *(a_job(key, status="waiting", current_stage="fetch", **open_job) for key in (900_001, 900_002)),
        a_job(900_003, status="stale", current_stage="parse", **open_job),
    )
    await pile_up(sqlite_database, 1, FEW)
    took: list[int] = []
    count = await count_steps(sqlite_database)
    await asked(sqlite_database, question)
    with steps_of(count, took):
        await asked(sqlite_database, question)
    await pile_up(sqlite_database, FEW + 1, MANY)
    with steps_of(count, took):
        await asked(sqlite_database, question)
    young, old = took
    assert young > 0
    assert old <= young * 1.5 + 100, f"{young} steps among {FEW}, {old} among {MANY}"


async def test_jobs_at_a_stage_are_those_that_stand_there(database: Database) -> None:
    """The states that a stage is sought by leave none out."""
    await put(database, sources, a_source())
    stood = [("ready", "fetch"), ("waiting", "fetch"), ("leased", "parse"), ("stale", "fetch"), ("done", "completed"),
             ("refused", "completed"), ("dead", "dead_letter"), ("leased", "watch")]  # fmt: skip
    rows = [a_job(key, status=status, current_stage=stage) for key, (status, stage) in enumerate(stood, start=1)]
    await put(database, jobs, *rows)
    for stage in {stage for _, stage in stood}:
        async with database.read() as connection:
            found = await list_jobs(connection, JobFilter(stage=stage), None, 100)
            first = await list_jobs(connection, JobFilter(stage=stage), None, 1)
            after = await list_jobs(connection, JobFilter(stage=stage), found[-1].id, 100)
        assert [each.id for each in found] == [key for key in range(len(stood), 0, -1) if stood[key - 1][1] == stage], (
            stage
        )
        assert (first, after) == (found[:1], []), stage
