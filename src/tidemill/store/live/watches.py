"""Watches as jobs: opened for whatever should be watched and is not, claimed, renewed each hour, ended with counts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, bindparam, exists, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job, JobStatus, Urgency
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.outcome import Stage
from tidemill.core.run import Trigger
from tidemill.core.vertical import Vertical
from tidemill.pipeline.dispatch import RANK_STEP, OpenedRun
from tidemill.pipeline.live_ports import LIVE_LANE, EndedWatch
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.run_counts import RunCounts, settle_runs
from tidemill.store.schema import IS_OPEN, jobs, live_pages, live_things, runs, sources, targets
from tidemill.store.sources.adapters import is_off
from tidemill.store.upkeep.audit import take_keys

OPENED_AT_ONCE = 1_000
_WATCHED = exists().where(jobs.c.target_id == targets.c.id, IS_OPEN)
_TELLS_OF_A_THING = exists().where(live_pages.c.target_id == targets.c.id)
_ANCHORS_A_THING = exists().where(
    live_things.c.anchor_id == targets.c.id, live_things.c.lifecycle != Lifecycle.ARCHIVED
)
_other = targets.alias("other")
_other_source = sources.alias("other_source")
_A_SITE_IS_ON = exists(
    select(live_pages.c.target_id)
    .select_from(live_pages)
    .join(live_things, live_things.c.id == live_pages.c.thing_id)
    .join(_other, _other.c.id == live_pages.c.target_id)
    .join(_other_source, _other_source.c.id == live_pages.c.source_id)
    .where(live_things.c.anchor_id == targets.c.id)
    .where(_other.c.enabled, _other_source.c.enabled, ~_other_source.c.auto_disabled)
)
_IS_ON: ColumnElement[bool] = targets.c.enabled & sources.c.enabled & ~sources.c.auto_disabled
_IS_LIST = ~_TELLS_OF_A_THING & _IS_ON & ~is_off(targets.c.adapter_id)
_MISSING = (
    select(targets, sources.c.vertical, sources.c.adapter_id.label("source_adapter"))
    .select_from(targets)
    .join(sources, sources.c.id == targets.c.source_id)
    .where(sources.c.vertical.in_(bindparam("b_verticals", expanding=True)), ~_WATCHED)
    .where(or_(_IS_LIST, _ANCHORS_A_THING & _A_SITE_IS_ON))
    .order_by(targets.c.id)
    .limit(OPENED_AT_ONCE)
)
_OPEN_WATCH = select(jobs.c.id).where(IS_OPEN, jobs.c.lane == LIVE_LANE).limit(1)
_LOCK = (
    select(targets.c.id)
    .where(targets.c.id.in_(bindparam("b_targets", expanding=True)))
    .order_by(targets.c.id)
    .with_for_update()
)
"""Held while jobs are opened; only a question asked after this one sees what others have committed meanwhile."""
_OF_THIS_HOUR = select(jobs.c.target_id).where(
    jobs.c.target_id.in_(bindparam("b_targets", expanding=True)), jobs.c.due_at == bindparam("b_hour")
)
_NOT_DISPATCHED = (
    update(targets).where(targets.c.id.in_(bindparam("b_targets", expanding=True))).values(next_due_at=None)
)
_END = (
    update(jobs)
    .where(jobs.c.id == bindparam("b_id"))
    .values(
        status=JobStatus.DONE,
        current_stage=Stage.COMPLETED,
        completed_at=bindparam("b_now"),
        leased_by=None,
        fence=jobs.c.fence + 1,
    )
)
_FENCED = (
    select(jobs, runs.c.adapter_version, runs.c.scope, runs.c.adapter_id.label("run_adapter"))
    .select_from(jobs)
    .join(runs, runs.c.id == jobs.c.run_id)
    .where(jobs.c.id.in_(bindparam("b_ids", expanding=True)))
    .order_by(jobs.c.id)
    .with_for_update(of=jobs)
)


def hour_of(moment: datetime) -> datetime:
    """Return the hour that a moment falls in."""
    return moment.replace(minute=0, second=0, microsecond=0)


class WatchJobs:
    """Opens and ends the jobs that watches are."""

    def __init__(self, database: Database, ids: Ids, verticals: Mapping[str, Vertical]) -> None:
        """`verticals` by name; those that are not live have no watches."""
        self._database = database
        self._ids = ids
        self._verticals = {name: each for name, each in verticals.items() if each.live is not None}

    async def has_any(self) -> bool:
        """Whether anything is watched, by whomever, or should be."""
        async with self._database.glance() as connection:
            if (await connection.execute(_OPEN_WATCH)).first() is not None:
                return True
            names = {"b_verticals": sorted(self._verticals)}
            return (await connection.execute(_MISSING.limit(1), names)).first() is not None

    async def open_missing(self, now: datetime) -> list[OpenedRun]:
        """Open this hour's watch for every list and thing that should be watched and is not.

        Two who do it at once make one: whoever comes second waits for the first one's rows, and then finds the job.
        """
        names = {"b_verticals": sorted(self._verticals)}
        async with self._database.glance() as connection:
            found = [row["id"] for row in (await connection.execute(_MISSING, names)).mappings()]
        if not found:
            return []
        keys = iter(await take_keys(self._ids, 2 * OPENED_AT_ONCE))
        async with self._database.write() as connection:
            await connection.execute(_LOCK, {"b_targets": found})
            rows = (await connection.execute(_MISSING, names)).mappings().all()
            return await self._open(connection, [row for row in rows if row["id"] in set(found)], keys, now)

    async def _open(
        self, connection: AsyncConnection, rows: Sequence[Any], keys: Any, now: datetime
    ) -> list[OpenedRun]:
        if not rows:
            return []
        targets_of = {"b_targets": [row["id"] for row in rows]}
        hour = {**targets_of, "b_hour": hour_of(now)}
        taken = set((await connection.execute(_OF_THIS_HOUR, hour)).scalars())
        opened, job_rows, run_rows = [], [], []
        for row in rows:
            run_id = next(keys)
            due_at = now if row["id"] in taken else hour_of(now)
            adapter = self._verticals[row["vertical"]].adapters.get(row["adapter_id"])
            job_rows.append(_job_row(next(keys), run_id, row, due_at, now))
            run_rows.append(_run_row(run_id, row, row["source_adapter"], adapter.version if adapter else "", now))
            opened.append(OpenedRun(run_id, row["source_id"], Trigger.SCHEDULED, 1))
        await connection.execute(runs.insert(), run_rows)
        await connection.execute(jobs.insert(), job_rows)
        await connection.execute(_NOT_DISPATCHED, targets_of)
        return opened

    async def end(
        self, ended: Sequence[EndedWatch], worker_id: int, now: datetime
    ) -> tuple[dict[int, Job], tuple[int, ...]]:
        """End watches that are still ours, with the counts of their runs, and open the next hour's in our hands."""
        by_id = {each.job.id: each for each in ended}
        keys = iter(await take_keys(self._ids, 2 * len(by_id)))
        async with self._database.write() as connection:
            rows = (await connection.execute(_FENCED, {"b_ids": sorted(by_id)})).mappings().all()
            ours = [row for row in rows if row["fence"] == by_id[row["id"]].job.fence]
            await write_each(connection, _END, [{"b_id": row["id"], "b_now": now} for row in ours])
            finished = await settle_runs(
                connection, {row["run_id"]: tally_of(by_id[row["id"]]) for row in ours}
            )  # fmt: skip
            renewed = await self._renew(
                connection, [row for row in ours if by_id[row["id"]].is_renewed], worker_id, keys, now
            )
        return renewed, finished

    async def _renew(
        self, connection: AsyncConnection, rows: Sequence[Any], worker_id: int, keys: Any, now: datetime
    ) -> dict[int, Job]:
        job_rows, run_rows, renewed = [], [], {}
        for row in rows:
            run_id, job_id = next(keys), next(keys)
            held = {"status": JobStatus.LEASED, "fence": 1, "leased_by": worker_id, "leased_at": now, "started_at": now}
            job_rows.append(_job_row(job_id, run_id, row, hour_of(now), now) | held)
            run_rows.append(_run_row(run_id, row, row["run_adapter"], row["adapter_version"], now))
            renewed[row["id"]] = Job(
                id=job_id, run_id=run_id, source_id=row["source_id"], target_id=row["target_id"],
                vertical=row["vertical"], lane=LIVE_LANE, host=row["host"], url=row["url"], stage=Stage.WATCH, fence=1,
                adapter_id=row["run_adapter"],
            )  # fmt: skip
        if job_rows:
            await connection.execute(runs.insert(), run_rows)
            await connection.execute(jobs.insert(), job_rows)
        return renewed


def tally_of(watch: EndedWatch, ended: int = 1) -> RunCounts:
    """A watch's counts as its run has them.

    Polls are the URLs. The thing itself is one record: seen (again) if any page was read, however often it changed, so
    that a quiet hour is no shortfall beside a busy one.
    """
    counts, tally = watch.counts, RunCounts()
    tally.ended = ended
    tally.add(
        urls_attempted=counts.polls,
        urls_succeeded=counts.good,
        urls_failed=counts.failed,
        urls_refused=counts.refused,
        urls_drifted=counts.drifted,
        pages_unchanged=counts.unchanged,
        records_read=counts.changes + counts.ignored,
        records_accepted=counts.changes,
        records_updated=counts.changes,
        records_repeated=counts.changes,
        records_dropped=counts.ignored,
        records_seen_again=counts.listed or int(counts.good > 0),
        truncated_pages=counts.truncated,
    )
    return tally


def _job_row(key: int, run_id: int, row: Any, due_at: datetime, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        "run_id": run_id,
        "source_id": row["source_id"],
        "target_id": row.get("target_id", row["id"]),
        "vertical": row["vertical"],
        "adapter_id": row["adapter_id"],
        "lane": LIVE_LANE,
        "host": row["host"],
        "url": row["url"],
        "trigger": Trigger.SCHEDULED,
        "due_at": due_at,
        "current_stage": Stage.WATCH,
        "status": JobStatus.READY,
        "rank": Urgency.LIVE.rank * RANK_STEP,
        "created_at": now,
    }


def _run_row(run_id: int, row: Any, adapter_id: str, version: str, now: datetime) -> dict[str, Any]:
    return {
        "id": run_id,
        "source_id": row["source_id"],
        "vertical": row["vertical"],
        "adapter_id": adapter_id,
        "adapter_version": version,
        "trigger": Trigger.SCHEDULED,
        "open_jobs": 1,
        "started_at": now,
        "scope": row["scope"],
    }


def at_page(job: Job, source_id: int, target_id: int, host: str, url: str) -> Job:
    """A watch's job, at one of its pages."""
    return msgspec.structs.replace(job, source_id=source_id, target_id=target_id, host=host, url=url)
