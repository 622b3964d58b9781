"""Every hot statement does on both databases what its caller relies on: with NULLs, with nothing, with many rows."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Table, select

import tidemill.bootstrap
import tidemill.verticals.events.store.publishing
from rig.clock import NOON
from tidemill.store.database.codecs import Codec, codecs_of
from tidemill.store.database.database import Database, open_database
from tidemill.store.database.hot_statements import FEW, SIZES, HotQuery, HotRows, ListOf
from tidemill.store.ledger import claims_sql, effects_sql, run_counts
from tidemill.store.live import changes
from tidemill.store.pages import bodies
from tidemill.store.schema import (
    breakers,
    hosts,
    jobs,
    live_pages,
    page_bodies,
    pages,
    raw_records,
    record_changes,
    record_history,
    runs,
    sources,
    staged_records,
    targets,
)
from tidemill.verticals.events.store import repository_sql
from tidemill.verticals.events.store.tables import event_candidates, event_cards, event_links, event_words, events

COUNTS = (0, 1, FEW - 1, FEW, SIZES[-1] + 44)
"""Sizes of the sets: nothing, one by one, in one statement, in more than one."""
Row = dict[str, Any]


def hot_in(module: ModuleType) -> Iterator[HotQuery | HotRows]:
    for value in vars(module).values():
        for each in value.values() if isinstance(value, dict) else (value,):
            if isinstance(each, HotQuery | HotRows):
                yield each


LOADED = [module for name, module in [*sys.modules.items()] if name.startswith(tidemill.__name__)]
EVERY = {id(each): each for module in LOADED for each in hot_in(module)}
HOT = {each.name: each for each in EVERY.values()}


def value(codec: Codec, number: int) -> Any:
    """Some value of the type, another for each number."""
    return {
        "bigint": number,
        "integer": number,
        "double precision": number / 4,
        "text": f"word {number} ë",
        "bytea": number.to_bytes(16, "big"),
        "boolean": number % 2 == 0,
        "timestamptz": NOON + timedelta(seconds=number),
        "jsonb": {"number": [number, None, "ë"]},
    }[codec.postgres_type]


def row_for(table: Table, columns: Mapping[str, Codec], number: int) -> Row:
    """A row with something in every column; of those that may be NULL, each is so in every third row."""
    row = {name: value(codec, number) for name, codec in columns.items()}
    may_be_null = [name for name in columns if name in table.c and table.c[name].nullable]
    return row | {name: None for place, name in enumerate(may_be_null) if (place + number) % 3 == 0}


async def fill(database: Database, table: Table, numbers: Sequence[int], **changes: Callable[[int], Any]) -> None:
    rows = [
        row_for(table, codecs_of(table), number) | {name: change(number) for name, change in changes.items()}
        for number in numbers
    ]
    async with database.write() as connection:
        await connection.execute(table.insert(), rows)


async def kept(database: Database, table: Table, key: str) -> dict[Any, Row]:
    async with database.read() as connection:
        return {row[key]: dict(row) for row in (await connection.execute(select(table))).mappings()}


INSERTS: dict[str, tuple[Table, str]] = {
    "pages.insert": (pages, "id"),
    "bodies.insert": (page_bodies, "key"),
    "bodies.places": (page_bodies, "key"),
    "outputs.replace_found": (raw_records, "page_id"),
    "outputs.replace_staged": (staged_records, "page_id"),
    "history.insert": (record_history, "id"),
    "changes.insert": (record_changes, "seq"),
    "events.insert": (events, "id"),
    "event_cards.put": (event_cards, "id"),
    "event_links.put": (event_links, "event_id"),
    "event_words.insert": (event_words, "card_id"),
    "event_candidates.insert": (event_candidates, "event_id"),
    "breakers.record": (breakers, "source_id"),
}


@pytest.mark.parametrize("name", INSERTS)
async def test_an_insert_keeps_what_it_is_given(database: Database, name: str) -> None:
    statement, (table, key) = HOT[name], INSERTS[name]
    assert isinstance(statement, HotRows)
    if table is breakers:
        await fill(database, sources, range(sum(COUNTS)))
    first = 0
    written: dict[Any, Any] = {}
    for count in COUNTS:
        rows = [row_for(table, statement.columns, number) for number in range(first, first + count)]
        async with database.write() as connection:
            await statement.write_at_commit(connection, rows)
        first += count
        written |= {row[key]: row for row in rows}
    found = await kept(database, table, key)
    assert {one: {each: row[each] for each in statement.columns} for one, row in found.items()} == written


REPLACING = [name for name in INSERTS if name.startswith(("outputs.", "breakers.", "event_cards.", "event_links."))]


@pytest.mark.parametrize("name", REPLACING)
async def test_what_a_former_try_left_is_replaced(database: Database, name: str) -> None:
    statement, (table, key) = HOT[name], INSERTS[name]
    assert isinstance(statement, HotRows)
    if table is breakers:
        await fill(database, sources, range(300))
    for other in (5_000, 0):
        rows = [row_for(table, statement.columns, number + other) | {key: number} for number in range(300)]
        async with database.write() as connection:
            await statement.write_at_commit(connection, rows)
    found = await kept(database, table, key)
    assert [{each: found[number][each] for each in statement.columns} for number in range(300)] == rows


async def test_a_body_that_is_kept_already_stays_as_it_is(database: Database) -> None:
    statement = bodies.INSERT_BODIES
    async with database.write() as connection:
        await statement.write(connection, [row_for(page_bodies, statement.columns, number) for number in range(10)])
        before = dict((await connection.execute(select(page_bodies.c.key, page_bodies.c.body))).all())
        again = [
            row_for(page_bodies, statement.columns, number) | {"body": b"", "length": 0} for number in range(300)
        ]  # fmt: skip
        await statement.write(connection, again)
        after = dict((await connection.execute(select(page_bodies.c.key, page_bodies.c.body))).all())
    assert len(after) == 300
    assert {key: after[key] for key in before} == before


def moved_onward(_before: Row, row: Row) -> Row:
    return row | dict.fromkeys(("not_before", "failure", "last_error", "completed_at"))


def moved_away(before: Row, row: Row) -> Row:
    return row | {"leased_by": None, "fence": before["fence"] + 1}


def settled_target(before: Row, row: Row) -> Row:
    written = {name: row[name] for name in effects_sql.SETTLE_TARGETS.columns if name in before}
    if before["status"] == "PAUSED":
        del written["status"]
    if row["is_well"] and before["status"] == "BROKEN":
        return written | {"next_due_at": row["at_once"]}
    if row["breaks"] and before["status"] != "BROKEN":
        return written | {"next_due_at": row["recheck"]}
    return written


def settled_source(before: Row, row: Row) -> Row:
    well = row["is_well"]
    return {
        "last_scraped_at": row["ended_at"],
        "last_success_at": row["ended_at"] if well else before["last_success_at"],
        "consecutive_failures": 0 if well else before["consecutive_failures"] + row["failures"],
    }


def settled_host(before: Row, row: Row) -> Row:
    is_later = {name: before[name] and row[name] and before[name] > row[name] for name in ("tab_at", "opens_at")}
    return row | {name: before[name] for name, later in is_later.items() if later}


def added_to_run(before: Row, row: Row) -> Row:
    counts = {name: before[name] + row[name] for name in run_counts.COUNTED}
    total = (before["claimed_total"] or 0) + row["total"] if row["total"] > 0 else before["claimed_total"]
    fields = row["field_counts"] if row["counts_fields"] else before["field_counts"]
    open_jobs = before["open_jobs"] - row["fewer"]
    return {**counts, "claimed_total": total, "field_counts": fields, "open_jobs": open_jobs}


def updated_event(before: Row, row: Row) -> Row:
    return {**row, "times_seen": before["times_seen"] + 1, "missed_runs": 0, "gone_at": None}


def written_as_given(_before: Row, row: Row) -> Row:
    return row


def checked_page(before: Row, row: Row) -> Row:
    counted = ("polls", "changes", "ignored", "total_failures")
    return row | {name: before[name] + row[name] for name in counted}


UPDATES: dict[str, tuple[Table, str, Callable[[Row, Row], Row]]] = {
    "checkpoints.move_onward": (jobs, "id", moved_onward),
    "checkpoints.move_away": (jobs, "id", moved_away),
    "checkpoints.settle_targets": (targets, "id", settled_target),
    "checkpoints.settle_sources": (sources, "id", settled_source),
    "checkpoints.settle_hosts": (hosts, "host", settled_host),
    "claims.charge_hosts": (hosts, "host", written_as_given),
    "runs.add": (runs, "id", added_to_run),
    "events.update": (events, "id", updated_event),
    changes.CHECKED.name: (live_pages, "target_id", checked_page),
}
STANDINGS = ("ACTIVE", "PAUSED", "BROKEN", "STALE")


@pytest.mark.parametrize("name", UPDATES)
async def test_an_update_writes_its_rows_and_no_others(database: Database, name: str) -> None:
    statement, (table, key, changed) = HOT[name], UPDATES[name]
    assert isinstance(statement, HotRows)
    numbers = range(sum(COUNTS) + 3)
    if table in {runs, targets, live_pages}:
        await fill(database, sources, numbers)
    if table is live_pages:
        await fill(database, targets, numbers)
    changes = {"status": lambda number: STANDINGS[number % 4]} if table is targets else {}
    await fill(database, table, numbers, **changes)
    expected, first = await kept(database, table, key), 0
    for count in COUNTS:
        rows = []
        for number in range(first, first + count):
            row = row_for(table, statement.columns, abs(number + (-5, 0, 5)[number % 3]))  # earlier, the same, later
            row |= {key: value(statement.columns[key], number)}
            row |= {each: 5 for each in ("total", "failures") if each in row and number % 5}
            expected[row[key]] |= changed(expected[row[key]], row)
            rows.append(row)
        async with database.write() as connection:
            await statement.write_at_commit(connection, rows)
        first += count
    assert await kept(database, table, key) == expected


BY_KEY: dict[str, tuple[Table, str]] = {
    "claims.jobs_by_id": (jobs, "id"),
    "claims.sources_by_id": (sources, "id"),
    "claims.targets_by_id": (targets, "id"),
    "claims.breakers_by_source": (breakers, "source_id"),
    "claims.paces_by_host": (hosts, "host"),
    "checkpoints.fences": (jobs, "id"),
    "checkpoints.hold_sources": (sources, "id"),
    "checkpoints.hold_hosts": (hosts, "host"),
    "runs.hold": (runs, "id"),
    "breakers.hold": (breakers, "source_id"),
    "events.before": (events, "id"),
    "outputs.found_of_page": (raw_records, "page_id"),
    "outputs.staged_of_page": (staged_records, "page_id"),
}


@pytest.mark.parametrize("name", BY_KEY)
async def test_rows_are_read_by_key_as_their_columns_have_them(database: Database, name: str) -> None:
    statement, (table, key) = HOT[name], BY_KEY[name]
    assert isinstance(statement, HotQuery)
    if table in {runs, targets, breakers}:
        await fill(database, sources, range(300))
    await fill(database, table, range(300))
    ((parameter, kind),) = statement.takes.items()
    codec = codecs_of(table, key)[key]
    for asked in ([], [7], list(range(50, 400))):
        keys = [value(codec, number) for number in asked]
        async with database.write() as connection:
            if isinstance(kind, ListOf):
                found = await statement.fetch(connection, **{parameter: keys})
            else:
                found = [row for one in keys for row in await statement.fetch(connection, **{parameter: one})]
        gives = list(found[0]) if found else []
        async with database.read() as connection:
            rows = (await connection.execute(select(table).where(table.c[key].in_(keys)))).mappings()
            expected = {row[key]: {each: row[each] for each in gives} for row in rows}
        assert len(found) == len(expected)
        assert all(row in expected.values() for row in found)
        if "hold" in name or "fences" in name:
            assert [row[key] for row in found] == sorted(row[key] for row in found)


async def test_known_events_are_found_by_source_and_hash(database: Database) -> None:
    await fill(database, events, range(300), source_id=lambda number: number % 7)
    for count in COUNTS:
        keys = [{"source_id": number % 7, "identity_hash": number} for number in range(290, 290 + count)]
        keys += [{"source_id": 8, "identity_hash": 1}]
        async with database.write() as connection:
            found = await repository_sql.KNOWN_EVENTS.fetch(connection, keys)
        assert sorted(row["id"] for row in found) == list(range(290, min(300, 290 + count)))
        assert {row["identity"] for row in found} == {f"word {row['id']} ë" for row in found}


async def test_events_are_seen_again_by_key_and_by_hash(database: Database) -> None:
    await fill(database, events, range(300), source_id=lambda number: number % 2)
    later, by_key, by_hash = NOON + timedelta(days=1), repository_sql.SEE_EVENTS, repository_sql.SEE_EVENTS_OF_SOURCE
    expected = await kept(database, events, "id")
    for number in (*range(299), *range(1, 300, 2)):
        expected[number] |= {"last_seen_at": later, "missed_runs": 0, "gone_at": None}
        expected[number]["times_seen"] += 1
    async with database.write() as connection:
        assert await by_key.execute(connection, now=later, ids=[]) == 0
        assert await by_key.execute(connection, now=later, ids=list(range(299))) == 299
        assert await by_hash.execute(connection, now=later, source_id=1, hashes=[]) == 0
        assert await by_hash.execute(connection, now=later, source_id=1, hashes=list(range(400))) == 150
    assert await kept(database, events, "id") == expected


async def test_events_that_a_run_did_not_see_are_those_of_its_own_source(database: Database) -> None:
    await fill(database, sources, range(4))
    await fill(
        database, runs, range(4), source_id=lambda number: number, started_at=lambda _: NOON + timedelta(hours=1)
    )
    future, past = NOON + timedelta(days=9), NOON - timedelta(days=9)
    await fill(
        database, events, range(40), source_id=lambda number: number % 4, gone_at=lambda _: None,
        event_date=lambda number: past if number % 8 == 1 else future,
        last_seen_at=lambda number: NOON + timedelta(hours=2 * (number > 35)),
    )  # fmt: skip
    query = repository_sql.UNSEEN_EVENTS
    async with database.write() as connection:
        found = await query.fetch(connection, runs=[1, 2], now=NOON, each=5_000)
        assert await query.fetch(connection, runs=[], now=NOON, each=5_000) == []
        few = await query.fetch(connection, runs=[1], now=NOON, each=2)
    unseen = [number for number in range(36) if number % 4 in {1, 2} and number % 8 != 1]
    assert [(row["id"], row["run_id"]) for row in found] == [(number, number % 4) for number in unseen]
    assert [row["id"] for row in few] == [number for number in unseen if number % 4 == 1][:2]


async def test_bodies_that_are_kept_are_told_however_many_are_asked_for(database: Database) -> None:
    await fill(database, page_bodies, range(0, 600, 2))
    for count in COUNTS:
        keys = [value(codecs_of(page_bodies, "key")["key"], number) for number in range(count)]
        async with database.write() as connection:
            found = await bodies.KEPT_BODIES.fetch(connection, [{"key": key} for key in keys])
        assert sorted(row["key"] for row in found) == keys[::2]


CLAIMING = [
    name
    for name, each in HOT.items()
    if name.startswith("claims.") and isinstance(each, HotQuery) and name not in BY_KEY
]


@pytest.mark.parametrize("name", CLAIMING)
async def test_a_claim_on_an_empty_ledger_finds_and_changes_nothing(database: Database, name: str) -> None:
    """What these do to a full one is shown by the tests of claims."""
    statement = HOT[name]
    assert isinstance(statement, HotQuery)
    asked = {
        each: [] if isinstance(kind, ListOf) else value(kind, 5) for each, kind in statement.takes.items()
    }  # fmt: skip
    async with database.write() as connection:
        if statement.sqlite.startswith("UPDATE"):
            assert await statement.execute(connection, **asked) == 0
        else:
            found = await statement.fetch(connection, **asked)
            assert not any(any(row.values()) for row in found)


async def test_jobs_are_promoted_and_leased_by_key(database: Database) -> None:
    await fill(
        database, jobs, range(300), not_before=lambda _: NOON, started_at=lambda number: NOON if number % 2 else None
    )
    expected, later = await kept(database, jobs, "id"), NOON + timedelta(hours=1)
    for number in range(250):
        leased = {"status": "leased", "leased_by": 9, "leased_at": later, "fence": expected[number]["fence"] + 1}
        expected[number] |= leased | {"not_before": None, "started_at": expected[number]["started_at"] or later}
    async with database.write() as connection:
        assert await claims_sql.PROMOTE.execute(connection, ids=list(range(250))) == 250
        assert await claims_sql.LEASE.execute(connection, ids=list(range(250)), worker=9, now=later) == 250
    assert await kept(database, jobs, "id") == expected


async def test_hosts_are_marked_and_cleared_by_name(database: Database) -> None:
    await fill(database, hosts, range(300), has_work=lambda number: number < 100)
    names = [f"word {number} ë" for number in range(50, 300)]
    async with database.write() as connection:
        assert await claims_sql.MARK_WORK.execute(connection, hosts=names) == 200
        assert await claims_sql.CLEAR_IDLE.execute(connection, hosts=names[:10]) == 10
    found = await kept(database, hosts, "host")
    assert sum(row["has_work"] for row in found.values()) == 290


def test_every_hot_statement_has_its_place_here() -> None:
    told = {*INSERTS, *UPDATES, *BY_KEY, *CLAIMING}
    told |= {"events.known", "events.see", "events.see_of_source", "events.unseen", "bodies.kept"}
    told |= {"bodies.objects", "shown.insert"}  # test_object_bodies and test_past hold them on both
    assert told == set(HOT)
    assert len(HOT) == len(EVERY), "two statements have one name"


HOLDING = ["checkpoints.fences", "checkpoints.hold_sources", "checkpoints.hold_hosts", "runs.hold", "breakers.hold",
           "events.before"]  # fmt: skip


@pytest.mark.parametrize("name", HOLDING)
async def test_on_postgres_rows_are_held_until_the_transaction_ends(migrated_postgres_url: str, name: str) -> None:
    """Two transactions that want the same rows wait one for the other; nobody gets what is held."""
    statement, (table, key) = HOT[name], BY_KEY[name]
    assert isinstance(statement, HotQuery)
    database = open_database(migrated_postgres_url)
    await fill(database, sources, range(6))
    if table is not sources:
        await fill(database, table, range(6))
    (parameter,) = statement.takes
    keys = [value(codecs_of(table, key)[key], number) for number in (4, 1)]
    free = select(table.c[key]).order_by(table.c[key]).with_for_update(skip_locked=True)
    async with database.write() as first, database.write() as second:
        assert [row[key] for row in await statement.fetch(first, **{parameter: keys})] == sorted(keys)
        left = (await second.execute(free)).scalars().all()
        assert len(left) == 4
        assert not set(left) & set(keys)
    await database.close()
