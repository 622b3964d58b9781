"""The ledger's side of dispatch: what is due, what waits, and new runs with their jobs in one transaction."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

import msgspec
from sqlalchemy import bindparam, case, exists, func, literal, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.admission import Backoff, Backoffs
from tidemill.core.outcome import Stage
from tidemill.core.run import Trigger
from tidemill.core.source import Source
from tidemill.core.target import TargetStatus
from tidemill.pipeline.dispatch import ASKED_SOON, SMALLEST_SLICE, DueTarget, JobPlan, OpenedRun, RunPlan
from tidemill.store.database.batches import portions, write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.claims import mark_work
from tidemill.store.schema import IS_OPEN, adapter_status, breakers, engine_state, hosts, jobs, runs, sources, targets
from tidemill.store.schema.rows import source_of, target_of
from tidemill.store.sources.adapters import is_off
from tidemill.store.upkeep.audit import take_keys

BACKOFFS = "adapter_backoffs"
HELD = timedelta(minutes=1)
"""A host that opens later than this has asked to be left alone: its targets stay due, not enqueued."""

_OF_SOURCE = [column.name for column in sources.columns]
_OF_TARGET = [column.name for column in targets.columns]
_TARGETS = select(sources, targets).select_from(targets).join(sources, sources.c.id == targets.c.source_id)
_WORKING = exists().where(jobs.c.target_id == targets.c.id, IS_OPEN)
_BARRED = (breakers.c.state == "OPEN") & (breakers.c.cooldown_until > bindparam("b_now"))
_DUE_STATUS = (TargetStatus.ACTIVE, TargetStatus.BROKEN)
_waiting = (
    select(jobs.c.host, func.count().label("waiting"))
    .where(text("pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage = 'fetch'"))
    .group_by(jobs.c.host)
    .subquery("waiting")
)
_crawl_delay = func.coalesce(hosts.c.crawl_delay_ms, 0)
_interval = case((_crawl_delay > hosts.c.interval_ms, _crawl_delay), else_=hosts.c.interval_ms)
_per_interval = literal(ASKED_SOON // timedelta(milliseconds=1)) // func.nullif(_interval, 0)
_slice = case(
    (or_(hosts.c.host.is_(None), _interval <= 0), bindparam("b_limit")),
    (_per_interval < SMALLEST_SLICE, SMALLEST_SLICE),
    else_=_per_interval,
)
"""How many jobs of a host may wait: what it can be asked for soon. A host without spacing takes all there is."""
_place = func.row_number().over(partition_by=targets.c.host, order_by=(targets.c.next_due_at, targets.c.id))
_due = (
    select(
        targets.c.id.label("due_id"),
        _place.label("place"),
        (_slice - func.coalesce(_waiting.c.waiting, 0)).label("room"),
    )
    .select_from(targets)
    .join(sources, sources.c.id == targets.c.source_id)
    .outerjoin(breakers, breakers.c.source_id == sources.c.id)
    .outerjoin(hosts, hosts.c.host == targets.c.host)
    .outerjoin(_waiting, _waiting.c.host == targets.c.host)
    .where(text("scrape_targets.enabled"), targets.c.next_due_at <= bindparam("b_now"))
    .where(targets.c.status.in_(_DUE_STATUS))
    .where(sources.c.enabled, ~sources.c.auto_disabled, ~_WORKING, ~is_off(targets.c.adapter_id))
    .where(or_(breakers.c.source_id.is_(None), ~_BARRED))
    .where(or_(hosts.c.host.is_(None), hosts.c.opens_at <= bindparam("b_held")))
    .where(targets.c.adapter_id.not_in(bindparam("b_paused", expanding=True)))
)


def _slices(due: Any) -> Any:
    """The due targets, a slice of each host, the first of every host before the second of any."""
    numbered = due.subquery("due")
    return (
        _TARGETS.join(numbered, numbered.c.due_id == targets.c.id)
        .where(numbered.c.place <= numbered.c.room)
        .order_by(numbered.c.place, targets.c.next_due_at, targets.c.id)
        .limit(bindparam("b_limit"))
    )


_PENDING = tuple(
    select(jobs.c.adapter_id, func.count().label("waiting")).where(text(condition)).group_by(jobs.c.adapter_id)
    for condition in (
        "pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage = 'fetch'",
        "pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage <> 'fetch'",
        "pipeline_jobs.status = 'waiting'",
    )
)
_READY = (
    select(jobs.c.lane, func.count())
    .where(text("pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage = 'fetch'"))
    .group_by(jobs.c.lane),
    select(jobs.c.lane, func.count())
    .where(text("pipeline_jobs.status = 'ready' AND pipeline_jobs.current_stage <> 'fetch'"))
    .group_by(jobs.c.lane),
)
"""Spelled out, not bound, so that each is answered from its own partial index."""
_OFF = select(adapter_status.c.adapter_id).where(~adapter_status.c.enabled)
_BACKOFFS = select(engine_state.c.value).where(engine_state.c.name == BACKOFFS)


class DispatchRepository:
    """Reads what is due and writes runs."""

    def __init__(self, database: Database, ids: Ids, verticals: Collection[str] | None = None) -> None:
        """`verticals` are those that are installed, None for any: the others' targets stay due and are let be."""
        self._database = database
        self._ids = ids
        self._due = _slices(_due if verticals is None else _due.where(sources.c.vertical.in_(sorted(verticals))))

    async def due(self, now: datetime, limit: int, paused: Collection[str] = ()) -> list[DueTarget]:
        """Targets that are due, of sources that may be asked and adapters that are not paused."""
        asked = {"b_now": now, "b_held": now + HELD, "b_limit": limit, "b_paused": sorted(paused)}
        return await self._dues(self._due, asked)

    async def of_source(self, source_id: int) -> list[DueTarget]:
        """Every target of a source that is switched on and not at work: what a manual run takes."""
        return await self._dues(_TARGETS.where(sources.c.id == source_id, targets.c.enabled, ~_WORKING))

    async def of_targets(self, target_ids: Sequence[int]) -> list[DueTarget]:
        """These targets, unless they are at work."""
        return await self._dues(_TARGETS.where(targets.c.id.in_(target_ids), ~_WORKING))

    async def pending(self) -> tuple[Mapping[str, int], int]:
        """Jobs that wait, per adapter and in all."""
        counts: dict[str, int] = {}
        async with self._database.glance() as connection:
            for query in _PENDING:
                for adapter_id, waiting in await connection.execute(query):
                    counts[adapter_id] = counts.get(adapter_id, 0) + waiting
        return counts, sum(counts.values())

    async def ready_by_lane(self) -> Mapping[str, int]:
        """Jobs that could be taken now, by lane; the queue's limits bound how many there are to count."""
        counts: dict[str, int] = {}
        async with self._database.glance() as connection:
            for query in _READY:
                for lane, ready in await connection.execute(query):
                    counts[lane] = counts.get(lane, 0) + ready
        return counts

    async def disabled_adapters(self) -> frozenset[str]:
        """Adapters that drift detection or a person switched off."""
        async with self._database.glance() as connection:
            return frozenset((await connection.execute(_OFF)).scalars())

    async def backoffs(self) -> Backoffs:
        """The adapters whose scheduling is paused, or was in the last cycle."""
        async with self._database.glance() as connection:
            value = (await connection.execute(_BACKOFFS)).scalar_one_or_none()
        return {} if value is None else msgspec.convert(value, dict[str, Backoff])

    async def set_backoffs(self, backoffs: Backoffs, now: datetime) -> None:
        """Remember the pauses; nothing is written when there are none and were none."""
        if not backoffs and not await self.backoffs():
            return
        row = {"name": BACKOFFS, "value": msgspec.to_builtins(dict(backoffs)), "updated_at": now}
        statement = self._database.insert(engine_state)
        fresh = {name: statement.excluded[name] for name in ("value", "updated_at")}
        async with self._database.write() as connection:
            await connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=fresh), [row])

    async def open(self, plans: Sequence[RunPlan], now: datetime) -> list[OpenedRun]:
        """Write runs and jobs in one transaction; a target is never enqueued twice for one due time.

        A target that was due already when a run of its source began, which still goes on, is added to that run: a
        source of which a slice was admitted at a time is still seen whole by one run.
        """
        keys = iter(await take_keys(self._ids, 2 * len(plans) + sum(len(plan.jobs) for plan in plans)))
        async with self._database.write() as connection:
            going_on = await _running(connection, plans)
            keyed = [each for plan in plans for each in _with_keys(plan, going_on, keys)]
            line = [(job.target.id, next(keys), run_id, plan, job) for run_id, plan in keyed for job in plan.jobs]
            line.sort(key=itemgetter(0))  # in one order, so that two schedulers never wait for each other
            fresh: Counter[int] = Counter()
            for some in portions(_job_row(key, run_id, plan, job, now) for _, key, run_id, plan, job in line):
                fresh.update(await self._insert_jobs(connection, some))
            old = {run_id for run_id, _ in going_on.values()}
            opened = [
                OpenedRun(run_id, plan.source.id, plan.trigger, fresh[run_id], run_id in old)
                for run_id, plan in keyed
                if run_id in fresh
            ]
            await write_each(connection, _MORE, [
                {"b_id": each.run_id, "b_jobs": each.jobs} for each in opened if each.joined
            ])  # fmt: skip
            rows = [
                _run_row(run_id, plan, fresh[run_id], now)
                for run_id, plan in keyed
                if run_id in fresh and run_id not in old
            ]
            await write_each(connection, runs.insert(), rows)
            await _move_on(connection, [job for *_, job in line if job.next_due_at is not None])
            await mark_work(connection, {job.target.host for plan in plans for job in plan.jobs})
        return opened

    async def _insert_jobs(self, connection: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> Iterable[int]:
        """Insert the jobs that do not exist yet; answers the run of each."""
        each_once = ["target_id", "due_at", "page_number"]
        statement = self._database.insert(jobs).on_conflict_do_nothing(index_elements=each_once)
        return (await connection.execute(statement.returning(jobs.c.run_id), rows)).scalars()

    async def _dues(self, query: Any, parameters: Mapping[str, Any] | None = None) -> list[DueTarget]:
        async with self._database.glance() as connection:
            rows = await connection.execute(query, parameters)
            known: dict[int, Source] = {}
            found = []
            for row in rows:
                target = target_of(dict(zip(_OF_TARGET, row[len(_OF_SOURCE) :], strict=True)))
                if target.source_id not in known:
                    known[target.source_id] = source_of(dict(zip(_OF_SOURCE, row, strict=False)))
                found.append(DueTarget(known[target.source_id], target))
        return found


RunOfScope = tuple[int, str]
"""A source and a scope of it."""
_RUNNING = (
    select(runs.c.id, runs.c.source_id, runs.c.scope, runs.c.started_at)
    .where(text("scrape_runs.status = 'RUNNING'"), runs.c.open_jobs > 0, runs.c.trigger == Trigger.SCHEDULED)
    .where(runs.c.source_id.in_(bindparam("b_sources", expanding=True)))
    .order_by(runs.c.id)
    .with_for_update()
)
_MORE = update(runs).where(runs.c.id == bindparam("b_id")).values(open_jobs=runs.c.open_jobs + bindparam("b_jobs"))


async def _running(connection: AsyncConnection, plans: Sequence[RunPlan]) -> dict[RunOfScope, tuple[int, datetime]]:
    """The scheduled runs of these sources that go on, by source and scope, and when each began; the newest of several.

    They are held: none of them ends while it gets more jobs.
    """
    asked = {plan.source.id for plan in plans if plan.trigger is Trigger.SCHEDULED}
    if not asked:
        return {}
    rows = await connection.execute(_RUNNING, {"b_sources": sorted(asked)})
    return {(row.source_id, row.scope): (row.id, row.started_at) for row in rows}


def _with_keys(
    plan: RunPlan, going_on: Mapping[RunOfScope, tuple[int, datetime]], keys: Iterator[int]
) -> Iterator[tuple[int, RunPlan]]:
    """The plan under the key of its run, or in two: what belongs to a run that goes on, and what is new."""
    known = going_on.get((plan.source.id, plan.scope)) if plan.trigger is Trigger.SCHEDULED else None
    if known is None:
        yield next(keys), plan
        return
    run_id, began = known
    if joining := [job for job in plan.jobs if job.due_at <= began]:
        yield run_id, msgspec.structs.replace(plan, jobs=joining)
    if new := [job for job in plan.jobs if job.due_at > began]:
        yield next(keys), msgspec.structs.replace(plan, jobs=new)


def _run_row(run_id: int, plan: RunPlan, count: int, now: datetime) -> dict[str, Any]:
    return {
        "id": run_id,
        "source_id": plan.source.id,
        "vertical": plan.source.vertical,
        "adapter_id": plan.source.adapter_id,
        "adapter_version": plan.adapter_version,
        "trigger": plan.trigger,
        "open_jobs": count,
        "started_at": now,
        "scope": plan.scope,
    }


def _job_row(key: int, run_id: int, plan: RunPlan, job: JobPlan, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        "run_id": run_id,
        "source_id": plan.source.id,
        "target_id": job.target.id,
        "vertical": plan.source.vertical,
        "adapter_id": job.target.adapter_id,
        "lane": job.lane or plan.source.fetcher,
        "host": job.target.host,
        "url": job.target.url,
        "trigger": plan.trigger,
        "due_at": job.due_at,
        "current_stage": Stage.FETCH,
        "status": "ready",
        "rank": job.rank,
        "priority": job.priority,
        "created_at": now,
    }


# Only if nobody has moved it on meanwhile: a scheduler that was slow to write must not turn a target's time back.
_NEXT = (
    update(targets)
    .where(targets.c.id == bindparam("b_id"))
    .where(or_(targets.c.next_due_at == bindparam("b_was"), targets.c.next_due_at.is_(None)))
    .values(next_due_at=bindparam("b_due"), adapted_seconds=bindparam("b_adapted"))
)


async def _move_on(connection: AsyncConnection, plans: Iterable[JobPlan]) -> None:
    """Write when targets are due next."""
    rows = (
        {
            "b_id": plan.target.id,
            "b_was": plan.target.next_due_at,  # not when the job is due: what a person asks for is due now
            "b_due": plan.next_due_at,
            "b_adapted": plan.adapted_seconds,
        }
        for plan in plans
    )
    for some in portions(rows):
        await write_each(connection, _NEXT, some)
