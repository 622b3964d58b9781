"""Sources, targets, breakers, hosts and adapters, read for people."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.health.sources import LastRun, SourceFacts, SourceStanding, source_standing
from tidemill.core.run import RunStatus
from tidemill.core.tags import tags_of
from tidemill.core.target import TargetStatus
from tidemill.core.views import (
    AdapterView,
    BreakerView,
    HostView,
    JobFilter,
    SourceDetail,
    SourceView,
    TargetDetail,
    TargetFilter,
    TargetView,
)
from tidemill.store.database.counting import bounded_count
from tidemill.store.database.text_search import few_with_text
from tidemill.store.schema import adapter_status, breakers, dead_letters, hosts, jobs, runs, sources, targets
from tidemill.store.schema.rows import source_of, target_of
from tidemill.store.schema.view_columns import view_columns
from tidemill.store.sources.upgrades import upgrade_of
from tidemill.store.views import work as views_work

RUNS_SHOWN = 10
JOBS_SHOWN = 10

_BREAKERS = select(
    *view_columns(BreakerView, breakers),
    sources.c.name.label("source_name"),
).join_from(breakers, sources, sources.c.id == breakers.c.source_id)
_TARGETS = select(
    *view_columns(TargetView, targets),
    sources.c.name.label("source_name"),
).join_from(targets, sources, sources.c.id == targets.c.source_id)
_HOSTS = select(*view_columns(HostView, hosts))
_ADAPTERS = select(*view_columns(AdapterView, adapter_status))


Approvals = Mapping[str, bool]
"""The installed verticals, and whether their sources need terms that a person approved."""

_SWITCHED_OFF = select(adapter_status.c.adapter_id).where(~adapter_status.c.enabled)
_LATEST = (
    select(runs.c.id)
    .where(runs.c.source_id == sources.c.id, runs.c.status != RunStatus.RUNNING.value)
    .order_by(runs.c.started_at.desc())
    .limit(1)
    .correlate(sources)
    .scalar_subquery()
)
"""The latest run of a source that has ended: one step down an index for each source, however many runs there are."""
_LETTERS = (
    select(dead_letters.c.source_id, func.count().label("letters"))
    .where(text("dead_letter_queue.status = 'pending'"))
    .group_by(dead_letters.c.source_id)
    .subquery()
)
_OF_RUN = ("status", "urls_attempted", "urls_failed", "records_accepted", "records_seen_again", "records_quarantined",
           "complete")  # fmt: skip


_SAME = ("id", "name", "vertical", "base_url", "adapter_id", "fetcher", "tier", "city", "enabled", "auto_disabled",
         "last_scraped_at", "last_success_at", "reliability")  # fmt: skip
_JUDGED = ("consecutive_failures", "historical_count", "tags", "tos_reviewed_at", "tos_approved_by", "robots_compliant")
_SHOWN = tuple(sources.c[name] for name in (*_SAME, *_JUDGED))
"""Only what is shown: the settings of ten thousand sources would be as many JSON documents to read."""


async def list_sources(
    connection: AsyncConnection,
    now: datetime,
    vertical: str | None = None,
    which: int | str | None = None,
    approvals: Approvals | None = None,
    keys: Collection[int] | None = None,
) -> list[SourceView]:
    """All sources by name, or those of a vertical, those with these keys, or the one that `which` names or numbers."""
    among = [] if keys is None else [targets.c.source_id.in_(sorted(keys))]
    own = (
        select(
            targets.c.source_id,
            func.count().label("targets"),
            func.count().filter(targets.c.enabled).label("on"),
            func.count().filter(targets.c.enabled, targets.c.adapter_id.not_in(_SWITCHED_OFF)).label("read"),
            func.count().filter(targets.c.status == TargetStatus.BROKEN.value).label("broken"),
            func.count().filter(targets.c.enabled, targets.c.robots_path_blocked).label("barred"),
        )
        .where(*among)
        .group_by(targets.c.source_id)
        .subquery()
    )
    query = (
        select(
            *_SHOWN,
            own.c.targets,
            own.c.on,
            own.c.read,
            own.c.broken,
            own.c.barred,
            breakers.c.state,
            breakers.c.cooldown_until,
            _LETTERS.c.letters,
            *(runs.c[name].label(f"run_{name}") for name in _OF_RUN),
        )
        .select_from(sources)
        .outerjoin(runs, runs.c.id == _LATEST)
        .outerjoin(_LETTERS, _LETTERS.c.source_id == sources.c.id)
        .outerjoin(own, own.c.source_id == sources.c.id)
        .outerjoin(breakers, breakers.c.source_id == sources.c.id)
        .order_by(sources.c.name)
    )
    if vertical is not None:
        query = query.where(sources.c.vertical == vertical)
    if keys is not None:
        query = query.where(sources.c.id.in_(sorted(keys)))
    if which is not None:
        query = query.where((sources.c.id if isinstance(which, int) else sources.c.name) == which)
    return [_source_view(row, now, approvals) for row in (await connection.execute(query)).mappings()]


def _source_view(row: Any, now: datetime, approvals: Approvals | None) -> SourceView:
    standing, reason = source_standing(_facts(row, approvals), now)
    is_available = standing not in {SourceStanding.OFF, SourceStanding.HELD_BACK}
    return SourceView(
        **{name: row[name] for name in _SAME},
        cooldown_until=row["cooldown_until"],
        circuit_state=row["state"] or "CLOSED",
        targets=row["targets"] or 0,
        targets_on=row["on"] or 0,
        targets_broken=row["broken"] or 0,
        failures=row["consecutive_failures"],
        records=row["historical_count"],
        is_available=is_available,
        reason="" if is_available else reason,
        standing=standing,
        standing_reason=reason,
        targets_read=row["read"] or 0,
        targets_barred=row["barred"] or 0,
        tags=tags_of(row["tags"]),
    )


def _facts(row: Any, approvals: Approvals | None) -> SourceFacts:
    approved = row["tos_reviewed_at"] is not None and row["tos_approved_by"] is not None
    return SourceFacts(
        enabled=row["enabled"],
        auto_disabled=row["auto_disabled"],
        installed=approvals is None or row["vertical"] in approvals,
        robots_compliant=row["robots_compliant"],
        needs_approval=not approved and approvals is not None and approvals.get(row["vertical"], False),
        breaker_state=row["state"] or "CLOSED",
        cooldown_until=row["cooldown_until"],
        targets=row["targets"] or 0,
        targets_on=row["on"] or 0,
        targets_read=row["read"] or 0,
        targets_barred=row["barred"] or 0,
        targets_broken=row["broken"] or 0,
        adapter_id=row["adapter_id"],
        records=row["historical_count"],
        letters=row["letters"] or 0,
        last_run=_last_run(row),
    )


def _last_run(row: Any) -> LastRun | None:
    if row["run_status"] is None:
        return None
    return LastRun(
        status=row["run_status"],
        attempted=row["run_urls_attempted"],
        failed=row["run_urls_failed"],
        yielded=row["run_records_accepted"] + row["run_records_seen_again"],
        set_aside=row["run_records_quarantined"],
        complete=bool(row["run_complete"]),
    )


async def one_source(
    connection: AsyncConnection, which: int | str, now: datetime, approvals: Approvals | None = None
) -> SourceDetail | None:
    """A source with everything around it."""
    found = await list_sources(connection, now, which=which, approvals=approvals)
    if not found:
        return None
    key = found[0].id
    row = (await connection.execute(select(sources).where(sources.c.id == key))).mappings().one()
    places = select(targets.c.host, targets.c.adapter_id).where(targets.c.source_id == key).distinct()
    around = [tuple(each) for each in await connection.execute(places)]
    adapters = {found[0].adapter_id, *(adapter for _, adapter in around)}
    due = select(func.min(targets.c.next_due_at)).where(targets.c.source_id == key, targets.c.enabled)
    waits = select(func.min(jobs.c.not_before)).where(jobs.c.source_id == key, text("pipeline_jobs.status = 'waiting'"))
    return SourceDetail(
        view=found[0],
        source=source_of(row),
        breaker=next(iter(await list_breakers(connection, key)), None),
        adapters=await list_adapters(connection, adapters),
        hosts=await list_hosts(connection, {host for host, _ in around}),
        jobs=await views_work.counted(connection, jobs.c.status, jobs.c.source_id == key),
        letters=await views_work.counted(connection, dead_letters.c.status, dead_letters.c.source_id == key),
        runs=await views_work.list_runs(connection, key, None, None, RUNS_SHOWN),
        due_at=(await connection.execute(due)).scalar(),
        waits_until=(await connection.execute(waits)).scalar(),
        upgrade=await upgrade_of(connection, key),
    )


async def source_keys(connection: AsyncConnection) -> dict[str, int]:
    """The key of every source by its name."""
    return {row.name: row.id for row in await connection.execute(select(sources.c.name, sources.c.id))}


async def list_breakers(connection: AsyncConnection, source_id: int | None = None) -> list[BreakerView]:
    """Every breaker that has ever been asked, the open ones first."""
    query = _BREAKERS.order_by(breakers.c.state == "CLOSED", sources.c.name)
    if source_id is not None:
        query = query.where(breakers.c.source_id == source_id)
    return [BreakerView(**row) for row in (await connection.execute(query)).mappings()]


async def list_hosts(connection: AsyncConnection, names: Collection[str] | None, limit: int = 1_000) -> list[HostView]:
    """Hosts by name; None means all."""
    query = _HOSTS.order_by(hosts.c.host).limit(limit)
    if names is not None:
        query = query.where(hosts.c.host.in_(sorted(names)))
    return [HostView(**row) for row in (await connection.execute(query)).mappings()]


async def list_adapters(connection: AsyncConnection, names: Collection[str] | None) -> list[AdapterView]:
    """Adapters that have a row, by name; None means all."""
    query = _ADAPTERS.order_by(adapter_status.c.adapter_id)
    if names is not None:
        query = query.where(adapter_status.c.adapter_id.in_(sorted(names)))
    return [AdapterView(**row) for row in (await connection.execute(query)).mappings()]


async def list_targets(connection: AsyncConnection, which: TargetFilter, after: int, limit: int) -> list[TargetView]:
    """A page of targets in order of key."""
    conditions = await _with_text(connection, which)
    query = _TARGETS.where(targets.c.id > after, *conditions).order_by(targets.c.id).limit(limit)
    return [TargetView(**row) for row in (await connection.execute(query)).mappings()]


async def count_targets(connection: AsyncConnection, which: TargetFilter, most: int) -> int:
    """How many targets a filter means; at most one more than `most` is counted."""
    return await bounded_count(connection, select(targets.c.id).where(*await _with_text(connection, which)), most)


async def _with_text(connection: AsyncConnection, which: TargetFilter) -> list[Any]:
    """What a filter means, with the few targets whose address holds the words named first."""
    conditions = list(_conditions(which))
    few = None if which.text is None else await few_with_text(connection, targets, {"url": which.text})
    return conditions if few is None else [*conditions, targets.c.id.in_(few)]


def _conditions(which: TargetFilter) -> Iterator[Any]:
    for name in ("source_id", "status", "enabled", "host"):
        if (value := getattr(which, name)) is not None:
            yield targets.c[name] == value
    if which.text is not None:
        yield targets.c.url.contains(which.text, autoescape=True)


async def one_target(
    connection: AsyncConnection, target_id: int, now: datetime, approvals: Approvals | None = None
) -> TargetDetail | None:
    """A target with its source, its host and its latest jobs."""
    row = (await connection.execute(select(targets).where(targets.c.id == target_id))).mappings().first()
    source = await one_source(connection, row["source_id"], now, approvals) if row is not None else None
    if row is None or source is None:
        return None
    view = (await connection.execute(_TARGETS.where(targets.c.id == target_id))).mappings().one()
    return TargetDetail(
        view=TargetView(**view),
        target=target_of(row),
        source=source,
        host=next(iter(await list_hosts(connection, {row["host"]})), None),
        adapter=next(iter(await list_adapters(connection, {row["adapter_id"]})), None),
        jobs=await views_work.list_jobs(connection, JobFilter(target_id=target_id), None, JOBS_SHOWN),
    )
