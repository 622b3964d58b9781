"""Drift, kept: what is held against each adapter, what is blessed, and the incidents that are open."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.alerts.incidents import adapter_cause, drift_alert
from tidemill.core.alerts.table import ALERTS
from tidemill.core.audit import AuditEntry
from tidemill.core.checks.secrets import redact_text
from tidemill.core.quality.drift import (
    ALL_RECORDS,
    BASELINE_WINDOW,
    DEFAULT_ALARM,
    MIN_BATCH,
    Baseline,
    DriftFinding,
    DriftJudgement,
    DriftRule,
    DriftStrikes,
    baseline_of,
    batch_size,
    failure_rate,
    judge_fields,
    judge_run,
)
from tidemill.core.run import Counts, DriftNotice
from tidemill.store.database.batches import write_each
from tidemill.store.database.keys import Ids
from tidemill.store.database.upserts import upsert
from tidemill.store.quality.earlier_runs import of_each_run
from tidemill.store.quality.poorer_readings import poorer_readings
from tidemill.store.schema import (
    adapter_status,
    drift_standings,
    field_baselines,
    incidents,
    runs,
    sources,
)
from tidemill.store.upkeep.audit import write_audit

WATCHER = "drift detection"
DRIFT_DETECTED = "DRIFT_DETECTED"
MOST_BATCHES = 100
KEYS_PER_RUN = 200
"""Keys that judging a run may take: an incident per rule and field, and an entry in the audit log."""

_SOURCES: BindParameter[Any] = bindparam("b_sources", expanding=True)
_ADAPTERS: BindParameter[Any] = bindparam("b_adapters", expanding=True)
_STANDING = (
    select(drift_standings)
    .where(drift_standings.c.adapter_id.in_(_ADAPTERS), drift_standings.c.source_id.in_(_SOURCES))
    .order_by(drift_standings.c.adapter_id, drift_standings.c.source_id)
    .with_for_update()
)
_BLESSED = select(field_baselines.c.source_id, field_baselines.c.field, field_baselines.c.share).where(
    field_baselines.c.source_id.in_(_SOURCES)
)
_batches = runs.alias("batches")
_BATCHES = of_each_run(
    _batches,
    [_batches.c[name] for name in Counts.__struct_fields__],
    (
        _batches.c.adapter_id == runs.c.adapter_id,
        _batches.c.started_at >= bindparam("b_since"),
        _batches.c.id != runs.c.id,
        _batches.c.completed_at.is_not(None),
        _batches.c.urls_succeeded + _batches.c.urls_failed >= MIN_BATCH,
    ),
    limit=MOST_BATCHES,
)
_OPEN = select(*(incidents.c[name] for name in ("id", "adapter_id", "source_id", "rule", "field"))).where(
    incidents.c.adapter_id.in_(_ADAPTERS),
    incidents.c.source_id.in_(_SOURCES),
    incidents.c.closed_at.is_(None),
    incidents.c.rule != "",
)
_AGAIN = (
    update(incidents)
    .where(incidents.c.id == bindparam("b_id"))
    .values(times=incidents.c.times + 1, last_seen_at=bindparam("b_now"), detail=bindparam("b_detail"))
)
_CLOSE = (
    update(incidents)
    .where(incidents.c.id.in_(bindparam("b_ids", expanding=True)))
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


class Watched(msgspec.Struct, frozen=True):
    """A run that has just ended; `short` says how a scope's list fell far short.

    It is '' if the list was complete, None if nobody can say. `poorer_pages` were read worse than their last good one.
    """

    run: Mapping[Any, Any]
    counts: Counts
    short: str | None
    poorer_pages: int = 0

    @property
    def who(self) -> tuple[str, int]:
        """The adapter and the source that it is held against."""
        return self.run["adapter_id"], self.run["source_id"]

    @property
    def is_batch(self) -> bool:
        """Whether it is large enough to say something about its adapter."""
        return batch_size(self.counts) >= MIN_BATCH


class JudgedRun(msgspec.Struct, frozen=True):
    """A run and what it says: what is held against its adapter now, and which blessed fields are off.

    `fields` is None when there is nothing to say of them: too few records, or nobody has blessed any.
    """

    watched: Watched
    baseline: Baseline
    before: DriftStrikes
    judgement: DriftJudgement
    fields: tuple[DriftFinding, ...] | None


async def watch_runs(
    connection: AsyncConnection, ids: Ids, ended: Sequence[Watched], now: datetime, alarms: Mapping[str, str]
) -> dict[int, tuple[DriftNotice, ...]]:
    """Judge runs that have just ended, each of another source; answers by run what a person should be told, once."""
    judged = await _judge(connection, ended, now, alarms)
    await _note_standings(connection, judged, now)
    await _note_batches(connection, judged, now)
    told = await _incidents(connection, ids, judged, now)
    for each in judged:
        if reason := next((finding for finding in each.judgement.findings if finding.disables), None):
            told[each.watched.run["id"]] += (await _switch_off(connection, ids, each.watched.run, reason, now),)
    return told


async def _judge(
    connection: AsyncConnection, ended: Sequence[Watched], now: datetime, alarms: Mapping[str, str]
) -> list[JudgedRun]:
    found = (await connection.execute(_STANDING, _those(ended))).mappings()
    rows = {(row["adapter_id"], row["source_id"]): row for row in found}
    usual = await _baselines(connection, ended, now)
    fields = await _judge_fields(connection, ended)
    poorer = await poorer_readings(connection, ended)
    judged = []
    for each in ended:
        before, baseline = standing_of(rows.get(each.who)), usual.get(each.run["id"], Baseline())
        judgement = judge_run(each.counts, before, baseline, alarms.get(each.run["vertical"], DEFAULT_ALARM))
        if each.short:
            findings = (*judgement.findings, _short_list(each.run, each.short))
            judgement = msgspec.structs.replace(judgement, findings=findings)
        judgement = with_poorer_readings(judgement, each, poorer)
        judged.append(JudgedRun(each, baseline, before, judgement, fields.get(each.run["id"])))
    return judged


def with_poorer_readings(judgement: DriftJudgement, ended: Watched, poorer: Mapping[int, str]) -> DriftJudgement:
    """Return the judgement with what was read worse; where all is read well again, its incident is over."""
    if words := poorer.get(ended.run["source_id"], ""):
        found = DriftFinding(DriftRule.POORER_READING, words)
        return msgspec.structs.replace(judgement, findings=(*judgement.findings, found))
    if not ended.counts.urls_succeeded:
        return judgement
    return msgspec.structs.replace(judgement, cleared=judgement.cleared | {DriftRule.POORER_READING})


def _those(ended: Sequence[Watched]) -> dict[str, list[Any]]:
    """The adapters and the sources of these runs; between them lie more pairs than there are runs."""
    adapters, sources = zip(*(each.who for each in ended), strict=True)
    return {"b_adapters": sorted(set(adapters)), "b_sources": sorted(set(sources))}


def _short_list(run: Mapping[Any, Any], words: str) -> DriftFinding:
    return DriftFinding(DriftRule.SHORT_LIST, f"{run['scope']}: {words}; nothing was taken off", field=run["scope"])


def standing_of(row: Mapping[Any, Any] | None) -> DriftStrikes:
    """What is held against an adapter, from its row."""
    if row is None:
        return DriftStrikes()
    return DriftStrikes(**{name: row[name] for name in DriftStrikes.__struct_fields__})


async def _baselines(connection: AsyncConnection, ended: Sequence[Watched], now: datetime) -> dict[int, Baseline]:
    """By run, what is usual; not asked for small ones, which are compared with nothing."""
    large = [each.run["id"] for each in ended if each.is_batch]
    if not large:
        return {}
    batches: dict[int, list[Counts]] = {key: [] for key in large}
    statement = _BATCHES[connection.dialect.name == "sqlite"]
    for row in (await connection.execute(statement, {"b_ids": large, "b_since": now - BASELINE_WINDOW})).mappings():
        batches[row["run_id"]].append(Counts(**{name: row[name] for name in Counts.__struct_fields__}))
    return {key: baseline_of(found) for key, found in batches.items()}


async def _judge_fields(connection: AsyncConnection, ended: Sequence[Watched]) -> dict[int, tuple[DriftFinding, ...]]:
    """By run, what is off a blessed baseline; runs with too few records, or without a baseline, are not among them."""
    counted = {
        each.run["id"]: each.run for each in ended if (each.run["field_counts"] or {}).get(ALL_RECORDS, 0) >= MIN_BATCH
    }
    if not counted:
        return {}
    blessed: dict[int, dict[str, float]] = {}
    sources = {"b_sources": sorted({run["source_id"] for run in counted.values()})}
    for row in await connection.execute(_BLESSED, sources):
        blessed.setdefault(row.source_id, {})[row.field] = row.share
    return {
        key: judge_fields(run["field_counts"], blessed[run["source_id"]])
        for key, run in counted.items()
        if run["source_id"] in blessed
    }


async def _note_standings(connection: AsyncConnection, judged: Sequence[JudgedRun], now: datetime) -> None:
    rows = [
        {
            "adapter_id": each.watched.run["adapter_id"],
            "source_id": each.watched.run["source_id"],
            "last_run_id": each.watched.run["id"],
            "updated_at": now,
            **msgspec.structs.asdict(each.judgement.strikes),
        }
        for each in judged
        if each.watched.is_batch or each.judgement.strikes != each.before
    ]
    await write_each(connection, _STANDINGS[connection.dialect.name], rows)


async def _note_batches(connection: AsyncConnection, judged: Sequence[JudgedRun], now: datetime) -> None:
    """Keep the figures where the runbook looks for them: of an adapter's batches, the last."""
    rows = {
        each.watched.run["adapter_id"]: {
            "adapter_id": each.watched.run["adapter_id"],
            "baseline_failure_rate": each.baseline.failure_rate if each.baseline.is_established else None,
            "baseline_yield_rate": each.baseline.yield_rate if each.baseline.is_established else None,
            "baseline_sample_size": each.baseline.runs,
            "baseline_updated_at": now,
            "consecutive_failed_batches": each.judgement.strikes.failed_batches,
            "last_batch_failure_rate": failure_rate(each.watched.counts),
            "updated_at": now,
        }
        for each in judged
        if each.watched.is_batch
    }
    await write_each(connection, _BATCH_NOTED[connection.dialect.name], [rows[key] for key in sorted(rows)])


class SortedFindings(msgspec.Struct, frozen=True):
    """What a run's findings mean for the incidents of its adapter on its source, which are known by rule and field."""

    run: Mapping[Any, Any]
    new: Sequence[DriftFinding]
    again: Sequence[tuple[int, DriftFinding]]
    over: Sequence[tuple[int, str, str]]


async def _incidents(
    connection: AsyncConnection, ids: Ids, judged: Sequence[JudgedRun], now: datetime
) -> dict[int, tuple[DriftNotice, ...]]:
    """Open an incident for what is new, count what goes on, close what is over; only the first and last are told."""
    known: dict[tuple[str, int], dict[tuple[str, str], int]] = {}
    for row in (await connection.execute(_OPEN, _those([each.watched for each in judged]))).mappings():
        known.setdefault((row["adapter_id"], row["source_id"]), {})[row["rule"], row["field"]] = row["id"]
    found = [_sorted_out(each, known.get(each.watched.who, {})) for each in judged]
    if new := [_incident_row(ids.take(), each.run, finding, now) for each in found for finding in each.new]:
        await connection.execute(incidents.insert(), new)
    if again := [(key, finding) for each in found for key, finding in each.again]:
        rows = [{"b_id": key, "b_now": now, "b_detail": finding.detail} for key, finding in again]
        await connection.execute(_AGAIN, rows)
    if over := [key for each in found for key, _, _ in each.over]:
        await connection.execute(_CLOSE, {"b_ids": over, "b_now": now, "b_by": WATCHER})
    return {each.run["id"]: _told(each) for each in found}


def _sorted_out(judged: JudgedRun, known: Mapping[tuple[str, str], int]) -> SortedFindings:
    run, judgement = judged.watched.run, judged.judgement
    found = {(each.rule.value, each.field): each for each in (*judgement.findings, *(judged.fields or ()))}
    whole = run["scope"] if judged.watched.short == "" else None
    return SortedFindings(
        run,
        [each for key, each in found.items() if key not in known],
        [(known[key], each) for key, each in found.items() if key in known],
        [
            (known[key], *key)
            for key in known
            if key not in found and _is_over(key, judgement.cleared, judged.fields, whole)
        ],
    )


def _told(found: SortedFindings) -> tuple[DriftNotice, ...]:
    opened = tuple(DriftNotice(each.rule, each.field, each.detail) for each in found.new)
    return opened + tuple(
        DriftNotice(rule, field, "as it should be again", is_over=True) for _, rule, field in found.over
    )


def _is_over(
    key: tuple[str, str], well: Collection[DriftRule], fields: tuple[DriftFinding, ...] | None, whole: str | None
) -> bool:
    if key[0] == DriftRule.SHORT_LIST:
        return key[1] == whole
    return fields is not None if key[0] == DriftRule.FIELD_SHARE else key[0] in well


def alert_columns(rule: DriftRule, adapter_id: str, vertical: str, source: str) -> dict[str, Any]:
    """What makes an incident of drift one of the alerts: its name, urgency and cause, and whom it is about."""
    alert = drift_alert(rule)
    return {
        "alert": alert,
        "severity": ALERTS[alert].severity,
        "cause": adapter_cause(adapter_id),
        "vertical": vertical,
        "subjects": [source] if source else [],
    }


def _incident_row(key: int, run: Mapping[Any, Any], finding: DriftFinding, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        **alert_columns(finding.rule, run["adapter_id"], run["vertical"], run["source_name"] or ""),
        "adapter_id": run["adapter_id"],
        "source_id": run["source_id"],
        "rule": finding.rule,
        "field": finding.field,
        "detail": redact_text(finding.detail),
        "run_id": run["id"],
        "opened_at": now,
        "last_seen_at": now,
    }


async def _switch_off(
    connection: AsyncConnection, ids: Ids, run: Mapping[Any, Any], reason: DriftFinding, now: datetime
) -> DriftNotice:
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
    return DriftNotice(reason.rule, "", reason.detail, disabled=scope)
