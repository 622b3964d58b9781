"""Drift, kept: what is held against each adapter, what is blessed, and the incidents that are open (R5, B7)."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.drift import (
    ALL,
    BATCH,
    WINDOW,
    Baseline,
    Finding,
    Judgement,
    Rule,
    Standing,
    baseline_of,
    batch_size,
    failure_rate,
    judge_fields,
    judge_run,
)
from tidemill.core.run import Counts, Noticed
from tidemill.store.audit import write_audit
from tidemill.store.bulk import read_all, write_many
from tidemill.store.ids import Ids
from tidemill.store.schema import (
    adapter_status,
    drift_standings,
    field_baselines,
    quality_incidents,
    runs,
    sources,
)
from tidemill.store.upserts import upsert

WATCHER = "drift detection"
DRIFT_DETECTED = "DRIFT_DETECTED"
MOST_BATCHES = 100
KEYS_PER_RUN = 200
"""Keys that judging a run may take: an incident per rule and field, and an entry in the audit log."""

_WHO = (drift_standings.c.adapter_id == bindparam("b_adapter"), drift_standings.c.source_id == bindparam("b_source"))
_STANDING = select(drift_standings).where(*_WHO).with_for_update()
_BLESSED = select(field_baselines.c.field, field_baselines.c.share).where(
    field_baselines.c.source_id == bindparam("b_source")
)
_BATCHES = (
    select(*(runs.c[name] for name in Counts.__struct_fields__))
    .where(runs.c.source_id == bindparam("b_source"), runs.c.adapter_id == bindparam("b_adapter"))
    .where(runs.c.started_at >= bindparam("b_since"), runs.c.id != bindparam("b_run"), runs.c.completed_at.is_not(None))
    .where(runs.c.urls_succeeded + runs.c.urls_failed >= BATCH)
    .order_by(runs.c.started_at.desc())
    .limit(MOST_BATCHES)
)
_OPEN = select(quality_incidents.c.id, quality_incidents.c.rule, quality_incidents.c.field).where(
    quality_incidents.c.adapter_id == bindparam("b_adapter"),
    quality_incidents.c.source_id == bindparam("b_source"),
    quality_incidents.c.closed_at.is_(None),
)
_AGAIN = (
    update(quality_incidents)
    .where(quality_incidents.c.id == bindparam("b_id"))
    .values(times=quality_incidents.c.times + 1, last_seen_at=bindparam("b_now"), detail=bindparam("b_detail"))
)
_CLOSE = (
    update(quality_incidents)
    .where(quality_incidents.c.id.in_(bindparam("b_ids", expanding=True)))
    .values(closed_at=bindparam("b_now"), closed_by=bindparam("b_by"))
)
_OTHERS = (
    select(func.count())
    .select_from(sources)
    .where(sources.c.adapter_id == bindparam("b_adapter"), sources.c.id != bindparam("b_source"))
    .where(sources.c.enabled, ~sources.c.auto_disabled)
)
_SOURCE_OFF = update(sources).where(sources.c.id == bindparam("b_source")).values(
    auto_disabled=True, updated_at=bindparam("b_now")
)  # fmt: skip
_STANDINGS = upsert(
    drift_standings,
    ["adapter_id", "source_id"],
    ["failed_batches", "empty_runs", "zero_price_runs", "watched", "last_run_id", "updated_at"],
)
_BATCH_NOTED = upsert(
    adapter_status,
    ["adapter_id"],
    [
        "baseline_failure_rate", "baseline_yield_rate", "baseline_sample_size", "baseline_updated_at",
        "consecutive_failed_batches", "last_batch_failure_rate", "updated_at",
    ],
)  # fmt: skip
_SWITCHED = upsert(
    adapter_status, ["adapter_id"], ["enabled", "disabled_at", "disabled_reason", "disabled_by", "updated_at"]
)


async def watch_run(
    connection: AsyncConnection, ids: Ids, run: Mapping[Any, Any], counts: Counts, now: datetime, short: str | None
) -> tuple[Noticed, ...]:
    """Judge a run that has just ended; answers what a person should be told, each thing once.

    `short` says how a scope's list fell far short (B6), is '' if it was complete, None if nobody can say.
    """
    who = {"b_adapter": run["adapter_id"], "b_source": run["source_id"]}
    standing = standing_of(next(iter(await read_all(connection, _STANDING, who)), None))
    baseline = await _baseline(connection, run, counts, now)
    judged = judge_run(counts, standing, baseline)
    fields = await _judge_fields(connection, run)
    if judged.standing != standing or batch_size(counts) >= BATCH:
        await _note_standing(connection, run, judged.standing, now)
    if batch_size(counts) >= BATCH:
        await _note_batch(connection, run, counts, judged, baseline, now)
    if short:
        judged = msgspec.structs.replace(judged, findings=(*judged.findings, _short_list(run, short)))
    told = await _incidents(connection, ids, run, judged, fields, now, is_whole=short == "")
    if reason := next((each for each in judged.findings if each.disables), None):
        told += (await _switch_off(connection, ids, run, reason, now),)
    return told


def _short_list(run: Mapping[Any, Any], words: str) -> Finding:
    return Finding(Rule.SHORT_LIST, f"{run['scope']}: {words}; nothing was taken off", field=run["scope"])


def standing_of(row: Mapping[Any, Any] | None) -> Standing:
    """What is held against an adapter, from its row."""
    if row is None:
        return Standing()
    return Standing(**{name: row[name] for name in Standing.__struct_fields__})


async def _baseline(connection: AsyncConnection, run: Mapping[Any, Any], counts: Counts, now: datetime) -> Baseline:
    """What is usual; not asked for a small run, which is compared with nothing."""
    if batch_size(counts) < BATCH:
        return Baseline()
    since = {"b_since": now - WINDOW, "b_run": run["id"]}
    who = {"b_adapter": run["adapter_id"], "b_source": run["source_id"]}
    return baseline_of([Counts(**row) for row in await read_all(connection, _BATCHES, who | since)])


async def _judge_fields(connection: AsyncConnection, run: Mapping[Any, Any]) -> tuple[Finding, ...] | None:
    """What is off a blessed baseline; None when there is nothing to say: too few records, or nobody has blessed any."""
    counts = run["field_counts"] or {}
    if counts.get(ALL, 0) < BATCH:
        return None
    rows = await read_all(connection, _BLESSED, {"b_source": run["source_id"]})
    blessed = {row["field"]: row["share"] for row in rows}
    return judge_fields(counts, blessed) if blessed else None


async def _note_standing(
    connection: AsyncConnection, run: Mapping[Any, Any], standing: Standing, now: datetime
) -> None:
    row = {
        "adapter_id": run["adapter_id"],
        "source_id": run["source_id"],
        "last_run_id": run["id"],
        "updated_at": now,
        **msgspec.structs.asdict(standing),
    }
    await write_many(connection, _STANDINGS[connection.dialect.name], [row])


async def _note_batch(
    connection: AsyncConnection,
    run: Mapping[Any, Any],
    counts: Counts,
    judged: Judgement,
    baseline: Baseline,
    now: datetime,
) -> None:
    """Keep the figures where the runbook looks for them."""
    row = {
        "adapter_id": run["adapter_id"],
        "baseline_failure_rate": baseline.failure_rate if baseline.is_established else None,
        "baseline_yield_rate": baseline.yield_rate if baseline.is_established else None,
        "baseline_sample_size": baseline.runs,
        "baseline_updated_at": now,
        "consecutive_failed_batches": judged.standing.failed_batches,
        "last_batch_failure_rate": failure_rate(counts),
        "updated_at": now,
    }
    await write_many(connection, _BATCH_NOTED[connection.dialect.name], [row])


async def _incidents(
    connection: AsyncConnection,
    ids: Ids,
    run: Mapping[Any, Any],
    judged: Judgement,
    fields: tuple[Finding, ...] | None,
    now: datetime,
    *,
    is_whole: bool,
) -> tuple[Noticed, ...]:
    """Open an incident for what is new, count what goes on, close what is over; only the first and last are told."""
    who = {"b_adapter": run["adapter_id"], "b_source": run["source_id"]}
    known = {(row["rule"], row["field"]): row["id"] for row in await read_all(connection, _OPEN, who)}
    found = {(each.rule.value, each.field): each for each in (*judged.findings, *(fields or ()))}
    new = {key: each for key, each in found.items() if key not in known}
    again = [{"b_id": known[key], "b_now": now, "b_detail": found[key].detail} for key in found if key in known]
    whole = run["scope"] if is_whole else None
    over = [key for key in known if key not in found and _is_over(key, judged.well, fields, whole)]
    if new:
        rows = [_incident_row(ids.take(), run, each, now) for each in new.values()]
        await connection.execute(quality_incidents.insert(), rows)
    if again:
        await connection.execute(_AGAIN, again)
    if over:
        await connection.execute(_CLOSE, {"b_ids": [known[key] for key in over], "b_now": now, "b_by": WATCHER})
    opened = tuple(Noticed(each.rule, each.field, each.detail) for each in new.values())
    return opened + tuple(Noticed(rule, field, "as it should be again", is_over=True) for rule, field in over)


def _is_over(
    key: tuple[str, str], well: Collection[Rule], fields: tuple[Finding, ...] | None, whole: str | None
) -> bool:
    if key[0] == Rule.SHORT_LIST:
        return key[1] == whole
    return fields is not None if key[0] == Rule.FIELD_SHARE else key[0] in well


def _incident_row(key: int, run: Mapping[Any, Any], finding: Finding, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        "adapter_id": run["adapter_id"],
        "source_id": run["source_id"],
        "rule": finding.rule,
        "field": finding.field,
        "detail": finding.detail,
        "run_id": run["id"],
        "opened_at": now,
        "last_seen_at": now,
    }


async def _switch_off(
    connection: AsyncConnection, ids: Ids, run: Mapping[Any, Any], reason: Finding, now: datetime
) -> Noticed:
    """Switch off the adapter; where it still serves other sources, only the source that it no longer fits."""
    adapter, source = run["adapter_id"], run["source_id"]
    who = {"b_adapter": adapter, "b_source": source}
    others = (await connection.execute(_OTHERS, who)).scalar_one()
    scope = "source" if others else "adapter"
    if others:
        await connection.execute(_SOURCE_OFF, {"b_source": source, "b_now": now})
    else:
        off = {"adapter_id": adapter, "enabled": False, "disabled_at": now, "disabled_by": WATCHER, "updated_at": now}
        row = {**off, "disabled_reason": f"{DRIFT_DETECTED}: {reason.detail}"}
        await connection.execute(_SWITCHED[connection.dialect.name], [row])
    subject = f"source {run['source_name']}" if others else f"adapter {adapter}"
    note = AuditEntry(WATCHER, f"{scope}.disable", subject, {"rule": reason.rule.value, "detail": reason.detail})
    await write_audit(connection, [(ids.take(), note)], now)
    return Noticed(reason.rule, "", reason.detail, disabled=scope)
