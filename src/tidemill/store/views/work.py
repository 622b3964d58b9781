"""Runs, jobs, dead letters, ticks and workers, read for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, TextClause, case, func, select, text, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.outcome import Stage
from tidemill.core.views import (
    DeadLetterDetail,
    DeadLetterFilter,
    DeadLetterView,
    JobDetail,
    JobFilter,
    JobView,
    ReadingView,
    RunDetail,
    RunView,
    StageCount,
    TickView,
    WorkerView,
)
from tidemill.store.database.counting import bounded_count
from tidemill.store.schema import dead_letters, jobs, raw_records, runs, sources, staged_records, tick_slots, workers
from tidemill.store.schema.view_columns import view_columns
from tidemill.store.schema.work import IS_OPEN

JOBS_SHOWN = 500
"""A run's jobs that are listed with it; the rest is asked for page by page."""

_NAMED = func.coalesce(sources.c.name, "").label("source_name")
"""A source may have been removed since."""


_RUNS = select(*view_columns(RunView, runs), _NAMED).select_from(
    runs.outerjoin(sources, sources.c.id == runs.c.source_id)
)
_JOBS = select(*view_columns(JobView, jobs, stage=jobs.c.current_stage, error=jobs.c.last_error), _NAMED).select_from(
    jobs.outerjoin(sources, sources.c.id == jobs.c.source_id)
)
_LETTERS = select(
    *view_columns(DeadLetterView, dead_letters), dead_letters.c.payload, dead_letters.c.error_stack, _NAMED
).select_from(dead_letters.outerjoin(sources, sources.c.id == dead_letters.c.source_id))


async def list_runs(
    connection: AsyncConnection, source_id: int | None, status: str | None, before: int | None, limit: int
) -> list[RunView]:
    """The newest runs first."""
    query = _RUNS.order_by(runs.c.id.desc()).limit(limit)
    if source_id is not None:
        query = query.where(runs.c.source_id == source_id)
    if status is not None:
        query = query.where(runs.c.status == status)
    if before is not None:
        query = query.where(runs.c.id < before)
    return [RunView(**row) for row in (await connection.execute(query)).mappings()]


async def one_run(connection: AsyncConnection, run_id: int) -> RunDetail | None:
    """A run with its jobs, stage by stage; those that failed stand first."""
    row = (await connection.execute(_RUNS.where(runs.c.id == run_id))).mappings().first()
    if row is None:
        return None
    counted = (
        select(jobs.c.current_stage, jobs.c.status, jobs.c.failure, func.count())
        .where(jobs.c.run_id == run_id)
        .group_by(jobs.c.current_stage, jobs.c.status, jobs.c.failure)
    )
    stages: dict[tuple[str, str], int] = {}
    failures: dict[str, int] = {}
    for stage, status, failure, count in await connection.execute(counted):
        stages[stage, status] = stages.get((stage, status), 0) + count
        if failure is not None:
            failures[failure] = failures.get(failure, 0) + count
    return RunDetail(
        run=RunView(**row),
        stages=[StageCount(*key, count) for key, count in sorted(stages.items())],
        failures=failures,
        jobs=await _failed_first(connection, run_id),
    )


async def _failed_first(connection: AsyncConnection, run_id: int) -> list[JobView]:
    first = case((jobs.c.failure.is_not(None), 0), else_=1)
    query = _JOBS.where(jobs.c.run_id == run_id).order_by(first, jobs.c.id).limit(JOBS_SHOWN)
    return [JobView(**row) for row in (await connection.execute(query)).mappings()]


async def list_jobs(connection: AsyncConnection, which: JobFilter, before: int | None, limit: int) -> list[JobView]:
    """The newest jobs first."""
    conditions = [*_job_conditions(which), *([] if before is None else [jobs.c.id < before])]
    if arms := _STATUSES_OF_STAGE.get(which.stage or Stage.COMPLETED, _UNDER_WAY):
        found = [
            select(jobs.c.id).where(arm, *conditions).order_by(_newest_of(arm).desc()).limit(limit) for arm in arms
        ]
        conditions = [jobs.c.id.in_(union_all(*(select(each.subquery()) for each in found)))]
    query = _JOBS.where(*conditions).order_by(jobs.c.id.desc()).limit(limit)
    return [JobView(**row) for row in (await connection.execute(query)).mappings()]


_UNDER_WAY = (IS_OPEN, text("pipeline_jobs.status = 'stale'"))
_STATUSES_OF_STAGE: Mapping[str, tuple[TextClause, ...]] = {
    Stage.COMPLETED: (), Stage.DEAD_LETTER: (text("pipeline_jobs.status = 'dead'"),),
}  # fmt: skip
"""The states in which a job may stand at a stage, each with an index of its own: nearly all jobs ever made are
completed, and those few at another stage would be sought among them. What is common is soon found without."""


def _newest_of(arm: TextClause) -> ColumnElement[int]:
    """What to order by: open jobs are few, but SQLite would go along all jobs for an order that their key has."""
    return jobs.c.id + 0 if arm is IS_OPEN else jobs.c.id


def _job_conditions(which: JobFilter) -> Iterator[Any]:
    columns = {"stage": jobs.c.current_stage}
    for name in which.__struct_fields__:
        if (value := getattr(which, name)) is not None:
            yield columns.get(name, jobs.c.get(name)) == value


async def one_job(connection: AsyncConnection, job_id: int) -> JobDetail | None:
    """A job with what its stages left behind."""
    row = (await connection.execute(_JOBS.where(jobs.c.id == job_id))).mappings().first()
    if row is None:
        return None
    letter = (await connection.execute(_LETTERS.where(dead_letters.c.job_id == job_id))).mappings().first()
    return JobDetail(
        job=JobView(**row),
        reading=await reading_of(connection, row["page_id"]),
        letter=None if letter is None else _letter(letter),
    )


async def reading_of(connection: AsyncConnection, page_id: int | None) -> ReadingView | None:
    """What was made of a page, if it was read at all."""
    judged = (staged_records.c.accepted, staged_records.c.dropped, staged_records.c.quarantined)
    query = (
        select(*view_columns(ReadingView, raw_records), *judged)
        .select_from(raw_records.outerjoin(staged_records, staged_records.c.page_id == raw_records.c.page_id))
        .where(raw_records.c.page_id == page_id)
    )
    row = (await connection.execute(query)).mappings().first() if page_id is not None else None
    return None if row is None else ReadingView(**row)


async def list_letters(
    connection: AsyncConnection, which: DeadLetterFilter, before: int | None, limit: int
) -> list[DeadLetterView]:
    """The newest dead letters first."""
    query = _LETTERS.where(*_letter_conditions(which)).order_by(dead_letters.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(dead_letters.c.id < before)
    return [_letter(row) for row in (await connection.execute(query)).mappings()]


async def count_letters(connection: AsyncConnection, which: DeadLetterFilter, most: int) -> int:
    """How many dead letters a filter means; at most one more than `most` is counted."""
    query = select(dead_letters.c.id).where(*_letter_conditions(which))
    return await bounded_count(connection, query, most)


def _letter_conditions(which: DeadLetterFilter) -> Iterator[Any]:
    for name in which.__struct_fields__:
        if (value := getattr(which, name)) is not None:
            yield dead_letters.c[name] == value


async def one_letter(connection: AsyncConnection, letter_id: int) -> DeadLetterDetail | None:
    """A dead letter with its stack and the payload to retry from."""
    row = (await connection.execute(_LETTERS.where(dead_letters.c.id == letter_id))).mappings().first()
    if row is None:
        return None
    return DeadLetterDetail(letter=_letter(row), error_stack=row["error_stack"], payload=row["payload"])


def _letter(row: Any) -> DeadLetterView:
    values = {name: row[name] for name in DeadLetterView.__struct_fields__ if name != "url"}
    return DeadLetterView(url=row["payload"].get("url", ""), **values)


async def list_ticks(connection: AsyncConnection) -> list[TickView]:
    """Every piece of periodic work that ever ran: its last slot, and when it last went well."""
    went_well = case((tick_slots.c.status == "ok", tick_slots.c.finished_at))
    newest = (
        select(tick_slots.c.name, func.max(tick_slots.c.slot).label("slot"), func.max(went_well).label("success"))
        .group_by(tick_slots.c.name)
        .subquery()
    )
    same = (newest.c.name == tick_slots.c.name) & (newest.c.slot == tick_slots.c.slot)
    query = (
        select(*view_columns(TickView, tick_slots), newest.c.success.label("last_success"))
        .join_from(tick_slots, newest, same)
        .order_by(tick_slots.c.name)
    )
    return [TickView(**row) for row in (await connection.execute(query)).mappings()]


async def list_workers(connection: AsyncConnection, limit: int) -> list[WorkerView]:
    """Workers, those at work first, then the newest."""
    held = (
        select(jobs.c.leased_by, func.count().label("held"))
        .where(text("pipeline_jobs.status = 'leased'"))
        .group_by(jobs.c.leased_by)
        .subquery()
    )
    query: Select[Any] = (
        select(*view_columns(WorkerView, workers), func.coalesce(held.c.held, 0).label("jobs"))
        .select_from(workers.outerjoin(held, held.c.leased_by == workers.c.id))
        .order_by(workers.c.ended_at.is_not(None), workers.c.id.desc())
        .limit(limit)
    )
    return [WorkerView(**row) for row in (await connection.execute(query)).mappings()]


async def counted(connection: AsyncConnection, column: Any, *conditions: Any) -> dict[str, int]:
    """How many rows there are for each value of a column."""
    query = select(column, func.count()).where(*conditions).group_by(column).order_by(column)
    return {value: count for value, count in await connection.execute(query)}  # noqa: C416 - rows are not tuples
