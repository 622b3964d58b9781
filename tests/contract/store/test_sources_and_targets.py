"""Sources, targets and hosts on the repository, and the operations that people do with them, on both databases."""

import threading
from collections.abc import AsyncIterator, Collection
from datetime import timedelta
from typing import ClassVar

import pytest
from sqlalchemy import func, insert, select, update

from rig.clock import SettableClock
from tidemill.core.audit import AuditEntry
from tidemill.core.pacing import Pace
from tidemill.core.source import Coordinates, Source
from tidemill.core.target import Target, TargetStatus
from tidemill.operations.importing import ImportCounts, Importer
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.operations.plans import KnownAdapters
from tidemill.operations.sources import SourceActions
from tidemill.operations.targets import TargetActions
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.pages.output_files import RowOutputs
from tidemill.store.schema import breakers, drift_standings, hosts, sources, targets
from tidemill.store.schema.rows import pace_of
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.views.views import Views

KNOWN = KnownAdapters({"events": {"events.generic", "events.selectors"}})
FILE = """\
- name: jazzclub
  vertical: events
  base_url: https://jazzclub.example
  adapter: events.generic
  latitude: 52.09
  longitude: 5.12
  pace: {interval_seconds: 1.5, burst: 3, parallel: 2}
  timeout_seconds: 12.5
  headers: {Accept-Language: nl}
  tos: {reviewed_at: 2026-01-05, approved_by: Ans}
  settings: {selectors: {card: .event}}
  targets: [/agenda, {url: /kids, schedule: every 6h, priority: 3}]
- name: theater
  vertical: events
  base_url: https://theater.example
  adapter: events.generic
  settings: {domains: [jazzclub.example]}
  targets: [/agenda, https://shared.jazzclub.example/theater]
"""


@pytest.fixture
def source_shelf(database: Database, ids: Ids) -> SourceRepository:
    return SourceRepository(database, ids)


@pytest.fixture
def target_shelf(database: Database, ids: Ids) -> TargetRepository:
    return TargetRepository(database, ids)


@pytest.fixture
def importer(source_shelf: SourceRepository, target_shelf: TargetRepository, clock: SettableClock) -> Importer:
    return Importer(source_shelf, target_shelf, clock, KNOWN)


@pytest.fixture
def source_desk(source_shelf: SourceRepository, clock: SettableClock) -> SourceActions:
    return SourceActions(source_shelf, clock, KNOWN)


@pytest.fixture
def target_desk(source_shelf: SourceRepository, target_shelf: TargetRepository, clock: SettableClock) -> TargetActions:
    return TargetActions(source_shelf, target_shelf, clock, KNOWN)


async def paces(database: Database) -> dict[str, Pace]:
    async with database.read() as connection:
        return {row["host"]: pace_of(row) for row in (await connection.execute(select(hosts))).mappings()}


@pytest.mark.shows("S1")
async def test_a_source_comes_back_as_it_was_brought_in(importer: Importer, source_shelf: SourceRepository) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    source = await source_shelf.find("jazzclub")
    assert source is not None
    assert source.coordinates == Coordinates(52.09, 5.12)
    assert source.pace == Pace(timedelta(seconds=1.5), 3, 2)
    assert source.timeout == timedelta(seconds=12.5)
    assert source.headers == {"Accept-Language": "nl"}
    assert source.adapter_settings == {"selectors": {"card": ".event"}}
    assert source.tos_approved_by == "Ans"
    assert await source_shelf.find(source.id) == source
    assert await source_shelf.find("nobody") is None


@pytest.mark.shows("S1", "R4")
async def test_importing_twice_changes_nothing(importer: Importer, database: Database) -> None:
    first = await importer.sources_file(FILE.encode(), "ans")
    assert (first.sources, first.targets) == (ImportCounts(created=2), ImportCounts(created=4))
    second = await importer.sources_file(FILE.encode(), "ans")
    assert (second.sources, second.targets) == (ImportCounts(unchanged=2), ImportCounts(unchanged=4))
    assert (second.created, second.updated, second.unchanged) == (0, 0, 6)
    async with database.read() as connection:
        assert (await connection.execute(select(func.count()).select_from(targets))).scalar_one() == 4


@pytest.mark.shows("S1")
async def test_an_import_changes_only_what_it_speaks_of(
    importer: Importer, source_desk: SourceActions, clock: SettableClock
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    await source_desk.disable("theater", "ans")
    clock.advance(timedelta(hours=1))
    changed = await importer.sources_file(FILE.replace("every 6h", "every 3h").encode(), "ans")
    assert (changed.sources, changed.targets) == (ImportCounts(unchanged=2), ImportCounts(updated=1, unchanged=3))
    assert not (await source_desk.find("theater")).enabled


async def test_a_target_whose_schedule_changed_is_due_at_once(
    importer: Importer, target_desk: TargetActions, clock: SettableClock
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    later = clock.advance(timedelta(hours=1))
    await importer.sources_file(FILE.replace("every 6h", "every 3h").encode(), "ans")
    assert (await target_desk.find("https://jazzclub.example/kids")).next_due_at == later
    assert (await target_desk.find("https://jazzclub.example/agenda")).next_due_at == later - timedelta(hours=1)


@pytest.mark.shows("F6")
async def test_a_host_keeps_the_slowest_pace_of_its_sources(importer: Importer, database: Database) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    assert await paces(database) == {"jazzclub.example": Pace(timedelta(seconds=2), 1, 1), "theater.example": Pace()}


async def test_a_pace_that_a_person_changes_reaches_the_host(
    importer: Importer, database: Database, source_desk: SourceActions
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    await source_desk.remove("theater", "ans")
    assert (await paces(database))["jazzclub.example"] == Pace(timedelta(seconds=1.5), 3, 2)
    await importer.sources_file(FILE.replace("1.5", "9").encode(), "ans")
    assert (await paces(database))["jazzclub.example"].interval == timedelta(seconds=9)


async def test_hosts_keep_what_they_owe_when_sources_are_imported_again(
    importer: Importer, database: Database, clock: SettableClock
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    later = clock.now() + timedelta(minutes=5)
    async with database.write() as connection:
        await connection.execute(update(hosts).values(opens_at=later, tab_at=later))
    await importer.sources_file(FILE.encode(), "ans")
    async with database.read() as connection:
        assert set((await connection.execute(select(hosts.c.opens_at))).scalars()) == {later}


@pytest.mark.shows("S2")
async def test_a_csv_adds_targets_to_sources_that_exist(importer: Importer) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    done = await importer.targets_file(b"url,source,priority\n/agenda,theater,4\n/new,theater,\n/x,theatre,\n", "ans")
    assert done.targets == ImportCounts(created=1, updated=1)
    assert [(each.line, each.field) for each in done.problems] == [(4, "source")]
    assert "did you mean 'theater'?" in done.problems[0].message


@pytest.mark.shows("B8")
async def test_switching_on_forgives_what_was_held_against_a_source(
    importer: Importer, source_desk: SourceActions, database: Database, clock: SettableClock
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    source = await source_desk.find("jazzclub")
    async with database.write() as connection:
        await connection.execute(
            update(sources).where(sources.c.id == source.id).values(auto_disabled=True, consecutive_failures=9)
        )
        row = {
            "source_id": source.id,
            "state": "OPEN",
            "failure_count": 5,
            "consecutive_opens": 2,
            "total_failures": 40,
        }
        row |= {"cooldown_until": clock.now() + timedelta(hours=1), "changed_at": clock.now()}
        await connection.execute(insert(breakers), [row])
    await source_desk.disable("jazzclub", "ans", "too many errors")
    back = await source_desk.enable("jazzclub", "ans")
    assert (back.enabled, back.auto_disabled, back.consecutive_failures) == (True, False, 0)
    async with database.read() as connection:
        breaker = (await connection.execute(select(breakers))).one()
    assert (breaker.state, breaker.failure_count, breaker.consecutive_opens) == ("CLOSED", 0, 0)
    assert breaker.cooldown_until is None
    assert breaker.total_failures == 40  # what happened stays known


@pytest.mark.parametrize("by_drift", [True, False])
async def test_only_a_source_that_drift_switched_off_is_watched_when_it_is_on_again(
    importer: Importer, source_desk: SourceActions, database: Database, *, by_drift: bool
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    source = await source_desk.find("jazzclub")
    async with database.write() as connection:
        await connection.execute(update(sources).where(sources.c.id == source.id).values(auto_disabled=by_drift))
    await source_desk.disable("jazzclub", "ans", "they are moving house")
    await source_desk.enable("jazzclub", "ans")
    async with database.read() as connection:
        watched = list((await connection.execute(select(drift_standings.c.watched))).scalars())
    assert watched == [True] * by_drift


async def test_an_import_that_switches_on_forgives_too(
    importer: Importer, source_desk: SourceActions, database: Database
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    async with database.write() as connection:
        await connection.execute(update(sources).values(enabled=False, consecutive_failures=9))
    await importer.sources_file(FILE.replace("  latitude", "  enabled: true\n  latitude").encode(), "ans")
    assert (await source_desk.find("jazzclub")).consecutive_failures == 0
    assert (await source_desk.find("theater")).consecutive_failures == 9


@pytest.mark.shows("A4")
async def test_every_deed_is_in_the_audit_log(
    importer: Importer, source_desk: SourceActions, target_desk: TargetActions, database: Database, ids: Ids
) -> None:
    await importer.sources_file(FILE.encode(), "ans", "mine.yaml")
    await source_desk.disable("theater", "bob", "asked by mail")
    await target_desk.pause("https://jazzclub.example/agenda", "bob")
    await target_desk.remove("https://jazzclub.example/agenda", "bob")
    log = AuditLog(database, ids)
    latest = await log.latest()
    assert [(each.entry.actor, each.entry.action) for each in latest] == [
        ("bob", "target.remove"), ("bob", "target.pause"), ("bob", "source.disable"), ("ans", "sources.import")
    ]  # fmt: skip
    assert latest[2].entry.detail == {"reason": "asked by mail"}
    assert latest[3].entry.detail == {"sources": 2, "targets": 4, "problems": 0}
    assert [each.id for each in await log.latest(limit=1, before=latest[0].id)] == [latest[1].id]
    assert len(await log.latest(subject="source theater")) == 1


async def test_a_deed_that_changes_no_row_can_be_noted(database: Database, ids: Ids, clock: SettableClock) -> None:
    log = AuditLog(database, ids)
    export = AuditEntry("ans", "events.export", "events", {"rows": 3})
    await log.note([export], clock.now())
    assert [(each.at, each.entry) for each in await log.latest()] == [(clock.now(), export)]


@pytest.mark.shows("S1")
async def test_a_source_can_be_added_once(source_desk: SourceActions) -> None:
    entry = {"name": "museum", "vertical": "events", "base_url": "https://museum.example", "adapter": "events.generic"}
    assert (await source_desk.add(entry, "ans")).base_url == "https://museum.example/"
    with pytest.raises(Mistake, match="exists already"):
        await source_desk.add(entry, "ans")
    with pytest.raises(Mistake, match=r"adapter: unknown adapter .* did you mean"):
        await source_desk.add({**entry, "name": "other", "adapter": "events.genric"}, "ans")


async def test_a_name_that_nobody_has_is_answered_with_the_nearest(
    importer: Importer, source_desk: SourceActions, target_desk: TargetActions
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    with pytest.raises(NotFound, match="did you mean 'jazzclub'"):
        await source_desk.enable("jazclub", "ans")
    with pytest.raises(NotFound, match="did you mean 'theater'"):
        await target_desk.add("teater", "/x", "ans")
    with pytest.raises(NotFound, match="no target"):
        await target_desk.pause("https://nowhere.example/", "ans")
    with pytest.raises(NotFound, match="no target"):
        await target_desk.pause("12345678", "ans")
    with pytest.raises(Mistake, match="not a web address"):
        await target_desk.pause("nonsense", "ans")


async def test_removing_a_source_takes_its_targets_with_it(
    importer: Importer, source_desk: SourceActions, database: Database
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    gone = await source_desk.remove("jazzclub", "ans")
    left = await Views(database, RowOutputs()).targets()
    assert len(left) == 2
    assert gone.id not in {target.source_id for target in left}


@pytest.mark.shows("S2")
async def test_a_target_is_added_paused_and_resumed(
    importer: Importer, target_desk: TargetActions, clock: SettableClock
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    added = await target_desk.add("theater", "/kids", "ans", {"schedule": "@daily", "priority": 2})
    assert (added.created_by, added.schedule, added.priority, added.next_due_at) == ("ans", "@daily", 2, clock.now())
    paused = await target_desk.pause(str(added.id), "ans", "being rebuilt")
    assert (paused.status, paused.enabled) == (TargetStatus.PAUSED, False)
    later = clock.advance(timedelta(days=1))
    resumed = await target_desk.resume(str(added.id), "ans")
    assert (resumed.status, resumed.enabled, resumed.next_due_at) == (TargetStatus.ACTIVE, True, later)
    with pytest.raises(Mistake, match="already"):
        await target_desk.add("theater", "/kids/", "ans")
    with pytest.raises(Mistake, match="is no schedule"):
        await target_desk.add("theater", "/other", "ans", {"schedule": "often"})


async def test_a_page_of_two_sources_must_be_named_by_key(importer: Importer, target_desk: TargetActions) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    await target_desk.add("theater", "https://jazzclub.example/agenda", "ans")
    with pytest.raises(Mistake, match="several sources"):
        await target_desk.pause("https://jazzclub.example/agenda", "ans")


async def test_sources_are_listed_by_vertical_and_by_being_on(
    importer: Importer, source_shelf: SourceRepository, source_desk: SourceActions
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    await source_desk.disable("theater", "ans")
    assert [source.name for source in await source_shelf.every()] == ["jazzclub", "theater"]
    assert [source.name for source in await source_shelf.every(enabled=True)] == ["jazzclub"]
    assert await source_shelf.every(vertical="prices") == []


async def test_a_file_that_breaks_off_half_way_leaves_nothing_behind(
    source_shelf: SourceRepository, target_shelf: TargetRepository, clock: SettableClock, database: Database
) -> None:
    source = Source(id=0, name="big", vertical="events", base_url="https://big.example", adapter_id="events.generic")
    key = (await source_shelf.upsert([(source, ())], clock.now()))["big"][0]

    async def wanted(*, breaks_off: bool) -> AsyncIterator[list[tuple[Target, Collection[str]]]]:
        for first in range(0, 1_500, 500):
            yield [(a_target(key, number), ("host",)) for number in range(first, first + 500)]
        if breaks_off:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await target_shelf.bring_in(wanted(breaks_off=True), 3_000, clock.now(), lambda _: None)
    assert await paces(database) == {}
    done = await target_shelf.bring_in(wanted(breaks_off=False), 3_000, clock.now(), lambda _: None)
    assert done == {"created": 1_500}


async def test_thousands_of_targets_are_one_import(
    source_shelf: SourceRepository, target_shelf: TargetRepository, clock: SettableClock, database: Database
) -> None:
    source = Source(id=0, name="big", vertical="events", base_url="https://big.example", adapter_id="events.generic")
    done = await source_shelf.upsert([(source, ()), (source, ())], clock.now())
    key = done["big"][0]
    many = [(a_target(key, number), ("host",)) for number in range(2_500)]
    created = await target_shelf.upsert([*many, many[0]], clock.now())
    assert len(created) == 2_500
    assert {change for _, change in created.values()} == {"created"}
    assert {change for _, change in (await target_shelf.upsert(many, clock.now())).values()} == {"unchanged"}
    assert len(await paces(database)) == 1_250


def a_target(source_id: int, number: int) -> Target:
    host = f"h{number // 2}.example"
    url = f"https://{host}/{number}"
    return Target(id=0, source_id=source_id, url=url, canonical_url=url, host=host, adapter_id="events.generic")


async def test_a_new_source_without_targets_is_refused_and_an_old_one_may_leave_them_out(importer: Importer) -> None:
    entry = "- {name: idle, vertical: events, base_url: https://idle.example, adapter: events.generic%s}\n"
    refused = await importer.sources_file((entry % "").encode(), "ans")
    assert refused.created == 0
    assert [(each.line, each.field) for each in refused.problems] == [(1, "targets")]
    assert "write `targets: []`" in refused.problems[0].message
    assert (await importer.sources_file((entry % ", targets: []").encode(), "ans")).created == 1
    assert (await importer.sources_file((entry % ", city: Goes").encode(), "ans")).updated == 1


@pytest.mark.shows("S2b")
async def test_a_target_on_another_site_is_refused_by_line_wherever_it_comes_from(
    importer: Importer, target_desk: TargetActions
) -> None:
    await importer.sources_file(FILE.encode(), "ans")
    csv = b"source,url\njazzclub,https://jazzclub.example/a\njazzclub,https://evil.example/a\n"
    done = await importer.targets_file(csv, "ans")
    assert (done.targets.created, [(each.line, each.field) for each in done.problems]) == (1, [(3, "url")])
    assert "list it with" in done.problems[0].message
    yaml = FILE.replace("/kids", "https://evil.example/kids")
    assert [(each.line, each.field) for each in (await importer.sources_file(yaml.encode(), "ans")).problems] == [
        (12, "url")
    ]
    with pytest.raises(Mistake, match=r"evil\.example is not the source's site jazzclub\.example"):
        await target_desk.add("jazzclub", "https://evil.example/agenda", "ans")
    assert (await target_desk.add("jazzclub", "https://www.jazzclub.example/b", "ans")).host == "jazzclub.example"


class NotingAdapters(frozenset[str]):
    """Known adapters that note which threads ask for them."""

    threads: ClassVar[set[int]] = set()

    def __contains__(self, adapter: object) -> bool:
        self.threads.add(threading.get_ident())
        return super().__contains__(adapter)


async def test_a_file_of_targets_is_read_beside_the_loop(
    importer: Importer, source_shelf: SourceRepository, target_shelf: TargetRepository, clock: SettableClock
) -> None:
    """Twenty megabytes were read inside the write, and nothing else happened for half a minute."""
    await importer.sources_file(FILE.encode(), "ans")
    known = KnownAdapters({"events": NotingAdapters({"events.generic"})})
    rows = "".join(f"jazzclub,/agenda/{number}\n" for number in range(2_500))
    done = await Importer(source_shelf, target_shelf, clock, known).targets_file(f"source,url\n{rows}".encode(), "ans")
    assert done.targets.created == 2_500
    assert NotingAdapters.threads
    assert threading.get_ident() not in NotingAdapters.threads


@pytest.mark.shows("S2b")
async def test_an_import_can_be_tried_first_and_takes_away_only_when_asked(
    importer: Importer, source_shelf: SourceRepository, target_shelf: TargetRepository
) -> None:
    tried = await importer.sources_file(FILE.encode(), "ans", dry_run=True)
    assert (tried.sources.created, tried.targets.created) == (2, 4)
    assert await source_shelf.every() == []
    await importer.sources_file(FILE.encode(), "ans")
    again = await importer.sources_file(FILE.encode(), "ans", dry_run=True)
    assert (again.sources.unchanged, again.targets.unchanged) == (2, 4)
    smaller = FILE[: FILE.index("- name: theater")].replace("[/agenda, {url: /kids", "[{url: /kids").encode()
    kept = await importer.sources_file(smaller, "ans")
    assert (kept.removed_sources, len(await source_shelf.every())) == ([], 2)
    told = await importer.sources_file(smaller, "ans", prune=True, dry_run=True)
    assert (told.removed_sources, told.removed_targets) == (["theater"], ["https://jazzclub.example/agenda"])
    assert len(await source_shelf.every()) == 2
    await importer.sources_file(smaller, "ans", prune=True)
    (left,) = await source_shelf.every()
    assert [one.url for one in await target_shelf.of_source(left.id)] == ["https://jazzclub.example/kids"]
    broken = await importer.sources_file(b"- name: x\n", "ans", prune=True)
    assert (broken.removed_sources, len(await source_shelf.every())) == ([], 1)
