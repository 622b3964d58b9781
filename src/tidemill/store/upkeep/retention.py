"""Retention: what is old enough goes, table by table; what somebody still needs stays however old it is."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Column, ColumnElement, Table, and_, delete, exists, false, func, or_, select, true
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.checks.retention import DEFAULT_RULES
from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.job import OPEN
from tidemill.core.run import RunStatus
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies
from tidemill.store.schema import (
    IS_OPEN,
    actor_runs,
    alert_outbox,
    audit_log,
    dead_letters,
    incidents,
    jobs,
    objective_hours,
    page_bodies,
    page_screenshots,
    pages,
    raw_records,
    record_changes,
    record_history,
    rejected_records,
    replay_pages,
    replays,
    run_rounds,
    runs,
    scraper_errors,
    scraper_health_log,
    seen_records,
    shown_records,
    staged_records,
    target_pages,
    targets,
    tick_slots,
    webhook_deliveries,
    workers,
)

AT_ONCE = 1_000
"""Rows per transaction: short enough that nobody who writes has to wait for long."""

ORPHANS_AT_ONCE = 2_000
CANDIDATES_AT_ONCE = 100_000
"""Keys of bodies that are looked for at once: each look may walk through all pages."""

RECENT = timedelta(hours=6)
"""Pages written while orphans are being looked for are no older than this."""


class RetentionRule(msgspec.Struct, frozen=True):
    """How a table ages: its key, the column that tells a row's age, and which rows may go at all.

    `born` is a moment with an index that is no later than the age, where a row has one: it says where to stop looking.
    """

    table: Table
    key: Column[Any]
    age: Column[Any]
    may_go: ColumnElement[bool]
    born: Column[Any] | None = None


def _open_job(job_id: Column[Any]) -> ColumnElement[bool]:
    return exists().where(jobs.c.id == job_id, jobs.c.status.in_(OPEN))


def _open_letter(job_id: Column[Any]) -> ColumnElement[bool]:
    waits = dead_letters.c.status.in_((DeadLetterStatus.PENDING, DeadLetterStatus.RETRYING))
    return exists().where(dead_letters.c.job_id == job_id, waits)


def _on_good_page(page_id: Column[Any]) -> ColumnElement[bool]:
    """Whether the page is what its target compares the next one with."""
    good = and_(targets.c.id == pages.c.target_id, targets.c.good_page_id == pages.c.id)
    later = and_(target_pages.c.target_id == pages.c.target_id, target_pages.c.good_page_id == pages.c.id)
    return or_(*(
        exists(select(1).select_from(pages.join(table, match)).where(pages.c.id == page_id))
        for table, match in ((targets, good), (target_pages, later))
    ))  # fmt: skip


def _output(table: Table) -> RetentionRule:
    needed = or_(_on_good_page(table.c.page_id), _open_job(table.c.job_id), _open_letter(table.c.job_id))
    return RetentionRule(table, table.c.page_id, table.c.created_at, ~needed)


_newer = runs.alias("newer")
_good_page = or_(
    exists().where(targets.c.id == pages.c.target_id, targets.c.good_page_id == pages.c.id),
    exists().where(target_pages.c.target_id == pages.c.target_id, target_pages.c.good_page_id == pages.c.id),
)
_later_run = exists().where(_newer.c.source_id == runs.c.source_id, _newer.c.started_at > runs.c.started_at)
_running = exists().where(runs.c.id == jobs.c.run_id, runs.c.status == RunStatus.RUNNING)
_settled = dead_letters.c.status.in_((DeadLetterStatus.RESOLVED, DeadLetterStatus.DISCARDED))
_without_replay = ~exists().where(replays.c.id == replay_pages.c.replay_id)
_ended = ~jobs.c.status.in_(OPEN)

RULES: Mapping[str, RetentionRule] = {
    rule.table.name: rule
    for rule in (
        RetentionRule(pages, pages.c.id, pages.c.created_at,
             ~or_(_good_page, _open_job(pages.c.job_id), _open_letter(pages.c.job_id)), pages.c.created_at),
        RetentionRule(page_screenshots, page_screenshots.c.page_id, page_screenshots.c.created_at, true()),
        _output(raw_records),
        _output(staged_records),
        RetentionRule(rejected_records, rejected_records.c.id, rejected_records.c.created_at,
             or_(rejected_records.c.verdict == "dropped", rejected_records.c.review.is_not(None))),
        RetentionRule(jobs, jobs.c.id, jobs.c.completed_at, and_(_ended, ~_running, ~_open_letter(jobs.c.id)),
             jobs.c.created_at),
        RetentionRule(runs, runs.c.id, runs.c.started_at, and_(runs.c.status != RunStatus.RUNNING, _later_run)),
        RetentionRule(dead_letters, dead_letters.c.id, dead_letters.c.updated_at, _settled),
        RetentionRule(record_history, record_history.c.id, record_history.c.created_at, true()),
        RetentionRule(seen_records, seen_records.c.id, seen_records.c.seen_at, true()),
        RetentionRule(shown_records, shown_records.c.id, shown_records.c.shown_until, true()),
        RetentionRule(record_changes, record_changes.c.seq, record_changes.c.created_at, true(),
             record_changes.c.created_at),
        RetentionRule(workers, workers.c.id, workers.c.seen_at, true()),
        RetentionRule(audit_log, audit_log.c.id, audit_log.c.created_at, true()),
        RetentionRule(actor_runs, actor_runs.c.job_id, actor_runs.c.started_at, actor_runs.c.ended_at.is_not(None)),
        RetentionRule(webhook_deliveries, webhook_deliveries.c.id, webhook_deliveries.c.created_at,
             webhook_deliveries.c.status != "pending"),
        RetentionRule(incidents, incidents.c.id, incidents.c.last_seen_at, incidents.c.closed_at.is_not(None)),
        RetentionRule(alert_outbox, alert_outbox.c.id, alert_outbox.c.created_at, true()),
        RetentionRule(run_rounds, run_rounds.c.id, run_rounds.c.created_at, true()),
        RetentionRule(objective_hours, objective_hours.c.hour, objective_hours.c.hour, true()),
        RetentionRule(scraper_health_log, scraper_health_log.c.id, scraper_health_log.c.timestamp, true()),
        RetentionRule(scraper_errors, scraper_errors.c.id, scraper_errors.c.timestamp, true()),
        RetentionRule(replays, replays.c.id, replays.c.created_at, replays.c.change != "waiting"),
        RetentionRule(replay_pages, replay_pages.c.replay_id, replay_pages.c.fetched_at, _without_replay),
    )
}  # fmt: skip
"""Quarantined records wait for a person, letters for an answer, and every source keeps its last run.

Prices are not here: they only grow."""


async def prune(database: Database, bodies: Bodies, rules: Mapping[str, timedelta], now: datetime) -> dict[str, int]:
    """Remove what is older than its table's rule says; answers how many rows went from each table."""
    unknown = set(rules) - set(RULES) - {tick_slots.name}
    if unknown:
        msg = f"no retention for {', '.join(sorted(unknown))}; the tables are {', '.join(sorted(DEFAULT_RULES))}"
        raise ValueError(msg)
    removed: dict[str, int] = {}
    needed = await _needed_pages(database)
    for name, rule in RULES.items():
        if name in rules:
            spared = needed if rule.table is pages else frozenset[int]()
            removed[name] = await _prune_table(database, rule, now - rules[name], spared)
    if tick_slots.name in rules:
        removed[tick_slots.name] = await _prune_slots(database, now - rules[tick_slots.name])
    removed[page_bodies.name] = await _prune_bodies(database, now)
    await bodies.tidy(now)
    return removed


async def _needed_pages(database: Database) -> frozenset[int]:
    """Pages that open jobs work on though another job fetched them, and those of records that await a person."""
    at_work = select(jobs.c.page_id).where(IS_OPEN, jobs.c.page_id.is_not(None))
    waits = (rejected_records.c.verdict == "quarantined", rejected_records.c.review.is_(None))
    in_doubt = select(rejected_records.c.page_id).where(*waits).distinct()
    async with database.read() as connection:
        return frozenset(
            [*(await connection.execute(at_work)).scalars(), *(await connection.execute(in_doubt)).scalars()]
        )


async def _prune_table(database: Database, rule: RetentionRule, before: datetime, spared: Collection[int]) -> int:
    """Walk a table by key, a short transaction at a time, no further than anything old can be."""
    removed, beyond, within = 0, true(), await _end_of_walk(database, rule, before)
    while True:
        old = select(rule.key).where(beyond, within, rule.age < before, rule.may_go)
        query = old.order_by(rule.key).limit(AT_ONCE)
        async with database.write() as connection:
            found = list((await connection.execute(query)).scalars())
            going = [key for key in found if key not in spared]
            if going:
                await connection.execute(delete(rule.table).where(rule.key.in_(going)))
        removed += len(going)
        if len(found) < AT_ONCE:
            return removed
        beyond = rule.key > found[-1]


async def _end_of_walk(database: Database, rule: RetentionRule, before: datetime) -> ColumnElement[bool]:
    """Up to which key there can be old rows; a walk to the end would look at every young row in vain, each night."""
    if rule.born is None:
        return true()
    last = select(func.max(rule.key + 0)).where(rule.born < before)  # a sum: else it is sought from the young end
    async with database.read() as connection:
        end = (await connection.execute(last)).scalar()
    return false() if end is None else rule.key <= end


async def _prune_slots(database: Database, before: datetime) -> int:
    """Periodic work's old slots, but for the last success of each: how long it has been silent must stay known."""
    newest = (
        select(tick_slots.c.name, func.max(tick_slots.c.slot).label("slot"))
        .where(tick_slots.c.status == "ok")
        .group_by(tick_slots.c.name)
    )
    async with database.write() as connection:
        kept = {(row.name, row.slot) for row in await connection.execute(newest)}
        last = (and_(tick_slots.c.name == name, tick_slots.c.slot == slot) for name, slot in kept)
        old = delete(tick_slots).where(tick_slots.c.slot < before, ~or_(false(), *last))
        return int((await connection.execute(old)).rowcount)


async def _prune_bodies(database: Database, now: datetime) -> int:
    """Bodies that no page names and no packed body leans on, looked for so many at a time, as there may be millions."""
    removed, keys = 0, await _unnamed_after(database, b"")
    while keys:
        for start in range(0, len(keys), ORPHANS_AT_ONCE):
            async with database.write() as connection:
                going = await _orphans(connection, keys[start : start + ORPHANS_AT_ONCE], now)
                if going:
                    await connection.execute(delete(page_bodies).where(page_bodies.c.key.in_(going)))
            removed += len(going)
        keys = await _unnamed_after(database, keys[-1]) if len(keys) == CANDIDATES_AT_ONCE else []
    return removed


async def _unnamed_after(database: Database, key: bytes) -> list[bytes]:
    """The next keys of bodies that no page names, in order."""
    unnamed = (
        select(page_bodies.c.key)
        .outerjoin(pages, pages.c.body_key == page_bodies.c.key)
        .where(pages.c.id.is_(None), page_bodies.c.key > key)
        .order_by(page_bodies.c.key)
        .limit(CANDIDATES_AT_ONCE)
    )
    async with database.read() as connection:
        return list((await connection.execute(unnamed)).scalars())


async def _orphans(connection: AsyncConnection, candidates: list[bytes], now: datetime) -> list[bytes]:
    """The candidates that are orphans still.

    Held first, then asked about: whoever wants to name one meanwhile waits for us, and whoever came before us is seen
    by the questions that follow.
    """
    held = select(page_bodies.c.key).where(page_bodies.c.key.in_(candidates)).order_by(page_bodies.c.key)
    keys = set((await connection.execute(held.with_for_update(skip_locked=True))).scalars())
    named = select(pages.c.body_key).where(pages.c.created_at >= now - RECENT, pages.c.body_key.in_(keys))
    roots = select(page_bodies.c.base_key).where(page_bodies.c.base_key.in_(keys))
    for query in (named, roots):
        keys -= set((await connection.execute(query)).scalars())
    return sorted(keys)
