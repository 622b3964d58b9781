from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Table, delete, select, update

from rig.clock import NOON
from rig.rows import a_job, a_letter, a_page, a_run, changing_pages, content_of, keep_pages, put, the_usual, wire_of
from tidemill.core.checks.retention import DEFAULT_RULES
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies, body_key
from tidemill.store.pages.compaction import compact
from tidemill.store.schema import (
    audit_log,
    dead_letters,
    jobs,
    metadata,
    objective_hours,
    page_bodies,
    pages,
    raw_records,
    record_history,
    rejected_records,
    runs,
    staged_records,
    targets,
    tick_slots,
    workers,
)
from tidemill.store.upkeep.retention import RULES, _end_of_walk, prune

pytestmark = pytest.mark.shows("D1")

DAY = timedelta(days=1)
NOW = NOON + 1_000 * DAY
WEEK = dict.fromkeys(DEFAULT_RULES, timedelta(days=7))
YESTERDAY = NOW - DAY


async def keys(database: Database, table: Table) -> list[Any]:
    column = next(iter(table.primary_key.columns))
    async with database.read() as connection:
        return list((await connection.execute(select(column).order_by(column))).scalars())


async def keep(database: Database, bodies: Bodies, *rows: dict[str, Any]) -> None:
    contents = [f"page {row['id']}".encode() for row in rows]
    named = [row | {"body_key": body_key(wire_of(content))} for row, content in zip(rows, contents, strict=True)]
    await keep_pages(database, bodies, contents, named)


def old_page(key: int, **other: Any) -> dict[str, Any]:
    return a_page(key, b"", NOON, **other)


async def test_old_pages_go_with_their_bodies_and_young_ones_stay(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    await keep(database, bodies, old_page(1), old_page(2), a_page(3, b"", YESTERDAY))
    removed = await prune(database, bodies, WEEK, NOW)
    assert (removed["raw_pages"], removed["page_bodies"]) == (2, 2)
    assert await keys(database, pages) == [3]
    assert await content_of(database, bodies, b"page 3") == b"page 3"
    assert await content_of(database, bodies, b"page 1") is None


async def test_a_target_never_loses_the_page_that_it_compares_with(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    await keep(database, bodies, old_page(1), old_page(2))
    await put(database, raw_records, *(raw(key) for key in (1, 2)))
    await put(database, staged_records, *(staged(key) for key in (1, 2)))
    async with database.write() as connection:
        await connection.execute(update(targets).values(good_page_id=2))
    await prune(database, bodies, WEEK, NOW)
    assert await keys(database, pages) == [2]
    assert await keys(database, raw_records) == [2]
    assert await keys(database, staged_records) == [2]


def raw(key: int) -> dict[str, Any]:
    row = {"page_id": key, "job_id": key, "adapter_id": "a", "adapter_version": "1", "strategy": "json-ld"}
    return row | {"records": 0, "found": b"{}", "created_at": NOON}


def staged(key: int) -> dict[str, Any]:
    row = {"page_id": key, "job_id": key, "accepted": 0, "dropped": 0, "quarantined": 0}
    return row | {"staged": b"{}", "created_at": NOON}


@pytest.mark.parametrize("status", ["ready", "waiting", "leased"])
async def test_what_an_open_job_needs_stays(database: Database, bodies: Bodies, status: str) -> None:
    await the_usual(database)
    await keep(database, bodies, old_page(1), old_page(2), old_page(3))
    await put(database, raw_records, raw(1), raw(2))
    await put(database, jobs, a_job(1, status=status, current_stage="parse", completed_at=None, page_id=3), a_job(2))
    await prune(database, bodies, WEEK, NOW)
    assert await keys(database, pages) == [1, 3]
    assert await keys(database, raw_records) == [1]
    assert await keys(database, jobs) == [1]


async def test_what_a_dead_letter_needs_stays_until_it_is_settled(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    statuses = ["pending", "retrying", "resolved", "discarded"]
    numbered = list(enumerate(statuses, start=1))
    await keep(database, bodies, *(old_page(key) for key, _ in numbered))
    await put(database, staged_records, *(staged(key) for key, _ in numbered))
    await put(database, jobs, *(a_job(key, status="dead", current_stage="dead_letter") for key, _ in numbered))
    await put(database, dead_letters, *(a_letter(key, status=status) for key, status in numbered))
    await prune(database, bodies, WEEK, NOW)
    for table in (pages, staged_records, jobs, dead_letters):
        assert await keys(database, table) == [1, 2], table.name


async def test_jobs_of_a_run_that_goes_on_stay(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    await put(database, runs, a_run(2, status="RUNNING"))
    await put(database, jobs, a_job(1), a_job(2, run_id=2))
    await prune(database, bodies, WEEK, NOW)
    assert await keys(database, jobs) == [2]


async def test_every_source_keeps_its_last_run_and_those_that_go_on(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    await put(database, runs, a_run(2, status="RUNNING"), a_run(3, started_at=NOON + DAY))
    await prune(database, bodies, WEEK, NOW)
    assert await keys(database, runs) == [2, 3]


async def test_quarantined_records_wait_for_a_person_with_their_page(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    await keep(database, bodies, old_page(1), old_page(2))
    await put(database, rejected_records, rejected(1, "dropped"), rejected(2, "quarantined"))
    await prune(database, bodies, WEEK, NOW)
    assert await keys(database, rejected_records) == [2]
    assert await keys(database, pages) == [2]


def rejected(key: int, verdict: str) -> dict[str, Any]:
    row = {"id": key, "job_id": key, "run_id": 1, "source_id": 1, "page_id": key, "position": 0, "vertical": "events"}
    return row | {"verdict": verdict, "reason": "no date", "raw": {}, "created_at": NOON}


async def test_the_last_success_of_periodic_work_stays_known(database: Database, bodies: Bodies) -> None:
    slots = [
        {"name": name, "slot": NOON + hours * timedelta(hours=1), "worker_id": 1, "started_at": NOON, "status": status}
        for name, hours, status in [
            ("dispatch", 1, "ok"),
            ("dispatch", 2, "ok"),
            ("dispatch", 3, "failed"),
            ("x", 1, "ok"),
        ]
    ]
    await put(database, tick_slots, *slots)
    removed = await prune(database, bodies, WEEK, NOW)
    assert removed["tick_slots"] == 2
    async with database.read() as connection:
        left = {(row.name, row.slot) for row in await connection.execute(select(tick_slots))}
    assert left == {("dispatch", NOON + timedelta(hours=2)), ("x", NOON + timedelta(hours=1))}
    async with database.write() as connection:
        await connection.execute(delete(tick_slots))
    assert (await prune(database, bodies, WEEK, NOW))["tick_slots"] == 0


async def test_history_audit_and_workers_age_by_their_own_rules(database: Database, bodies: Bodies) -> None:
    history = {"vertical": "events", "record_id": 1, "run_id": 1, "kind": "changed", "changes": {}}
    audit = {"actor": "ans", "action": "x", "subject": "y", "detail": {}}
    moments = {1: NOON, 2: YESTERDAY}
    await put(database, record_history, *({"id": key, **history, "created_at": at} for key, at in moments.items()))
    await put(database, audit_log, *({"id": key, **audit, "created_at": at} for key, at in moments.items()))
    await put(
        database,
        workers,
        *({"id": key, "name": "w", "pid": 1, "started_at": NOON, "seen_at": at} for key, at in moments.items()),
    )
    removed = await prune(database, bodies, {"record_history": DAY * 7, "workers": DAY * 7}, NOW)
    assert removed == {"record_history": 1, "workers": 1, "page_bodies": 0}
    assert await keys(database, audit_log) == [1, 2]


async def test_a_root_stays_as_long_as_a_kept_page_leans_on_it(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    contents = changing_pages(3)
    days = [NOON, NOON + DAY, YESTERDAY]
    rows = [a_page(key, content, at) for key, (content, at) in enumerate(zip(contents, days, strict=True), start=1)]
    await keep_pages(database, bodies, contents, rows)
    await compact(database, bodies, NOW + DAY)
    removed = await prune(database, bodies, WEEK, NOW)
    assert (removed["raw_pages"], removed["page_bodies"]) == (2, 1)
    assert await content_of(database, bodies, contents[2]) == contents[2]
    removed = await prune(database, bodies, WEEK, NOW + 30 * DAY)
    assert (removed["raw_pages"], removed["page_bodies"]) == (1, 1)
    assert (await prune(database, bodies, WEEK, NOW + 30 * DAY))["page_bodies"] == 1
    assert await keys(database, page_bodies) == []


async def test_a_body_that_a_young_page_shares_stays(database: Database, bodies: Bodies) -> None:
    await the_usual(database)
    await keep_pages(database, bodies, [b"same"] * 2, [a_page(1, b"same", NOON), a_page(2, b"same", YESTERDAY)])
    removed = await prune(database, bodies, WEEK, NOW)
    assert (removed["raw_pages"], removed["page_bodies"]) == (1, 0)
    assert await content_of(database, bodies, b"same") == b"same"


async def test_a_body_that_becomes_wanted_while_orphans_are_removed_stays(
    database: Database, bodies: Bodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is written after the orphans were listed and before they are removed."""
    await the_usual(database)
    await keep(database, bodies, old_page(1))
    async with database.write() as connection:
        await connection.execute(delete(pages))
    meanwhile = [a_page(2, b"page 1", NOW)]
    reading = database.read

    def read_then_write() -> Any:
        return Interlude(reading(), lambda: keep_pages(database, bodies, [b"page 1"], [meanwhile.pop()]))

    monkeypatch.setattr("tidemill.store.upkeep.retention._needed_pages", nothing_needed)
    monkeypatch.setattr(database, "read", read_then_write)
    untidied: Any = Untidied()
    removed = await prune(database, untidied, {}, NOW)
    monkeypatch.undo()
    assert removed == {"page_bodies": 0}
    assert await content_of(database, bodies, b"page 1") == b"page 1"


async def nothing_needed(_: Database) -> frozenset[int]:
    return frozenset()


class Untidied:
    """Bodies that are left alone."""

    async def tidy(self, _now: Any) -> int:
        return 0


class Interlude:
    """A reading that is followed by a deed before anybody goes on."""

    def __init__(self, inner: Any, deed: Any) -> None:
        self._inner, self._deed = inner, deed

    async def __aenter__(self) -> Any:
        return await self._inner.__aenter__()

    async def __aexit__(self, *problem: object) -> None:
        await self._inner.__aexit__(*problem)
        await self._deed()


async def test_thousands_of_rows_go_in_short_transactions(
    database: Database, bodies: Bodies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemill.store.upkeep.retention.AT_ONCE", 100)
    monkeypatch.setattr("tidemill.store.upkeep.retention.ORPHANS_AT_ONCE", 100)
    await the_usual(database)
    await keep(database, bodies, *(old_page(key) for key in range(1, 551)))
    async with database.write() as connection:
        await connection.execute(update(targets).values(good_page_id=77))
    removed = await prune(database, bodies, WEEK, NOW)
    assert (removed["raw_pages"], removed["page_bodies"]) == (549, 549)


@pytest.mark.shows("X4")
async def test_the_usual_rules_run_and_hours_of_objectives_age(database: Database, bodies: Bodies) -> None:
    hours = [
        {"objective": name, "hour": NOW - age, "counted": 1, "bad": 0, "updated_at": NOW}
        for name in ("a", "b") for age in (DAY, 400 * DAY)
    ]  # fmt: skip
    await put(database, objective_hours, *hours)
    removed = await prune(database, bodies, DEFAULT_RULES, NOW)
    assert set(removed) == {*DEFAULT_RULES, "page_bodies"}
    async with database.read() as connection:
        kept = (await connection.execute(select(objective_hours.c.hour))).scalars().all()
    assert kept == [NOW - DAY, NOW - DAY]


async def test_a_rule_for_a_table_that_has_none_is_refused(database: Database, bodies: Bodies) -> None:
    with pytest.raises(ValueError, match="no retention for events; the tables are actor_runs, alert_outbox, audit_log"):
        await prune(database, bodies, {"events": DAY}, NOW)


def test_the_usual_rules_name_tables_that_exist() -> None:
    assert set(DEFAULT_RULES) <= set(metadata.tables)


async def test_the_walk_ends_with_the_last_old_key_and_not_with_the_table(database: Database, bodies: Bodies) -> None:
    """Workers hand out keys in blocks, so that an old row may have a later key than a young one."""
    await the_usual(database)
    old, slow, young = {"created_at": NOON}, {"created_at": NOON, "completed_at": NOW}, {"created_at": YESTERDAY}
    rows = [(1, old), (2, young | {"completed_at": YESTERDAY}), (3, slow), (4, old), (5, young | {"completed_at": NOW})]
    await put(database, jobs, *(a_job(key, due_at=NOON + key * DAY, **times) for key, times in rows))
    walked = await _end_of_walk(database, RULES["pipeline_jobs"], NOW - 7 * DAY)
    assert str(walked.compile(compile_kwargs={"literal_binds": True})) == "pipeline_jobs.id <= 4"
    assert (await prune(database, bodies, WEEK, NOW))["pipeline_jobs"] == 2
    assert await keys(database, jobs) == [2, 3, 5]
    assert not (await prune(database, bodies, WEEK, NOW))["pipeline_jobs"]


async def test_bodies_go_in_portions(database: Database, bodies: Bodies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemill.store.upkeep.retention.ORPHANS_AT_ONCE", 3)
    await the_usual(database)
    await keep(database, bodies, *(old_page(key) for key in range(1, 11)), a_page(11, b"", YESTERDAY))
    assert (await prune(database, bodies, WEEK, NOW))["page_bodies"] == 10
    assert len(await keys(database, page_bodies)) == 1
