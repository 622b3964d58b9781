"""Replays: what stored pages would yield now, the gate that changes of reading pass, and what is brought back."""

import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text, update

from rig.clock import NOON, SettableClock
from rig.lab_works import DAY, LabWorks, ill_from, lab_works
from rig.planted_adapter import NAME, a_day_off, lose_a_tenth, planted, read_navigation, refactored, swap_fields
from rig.town import a_town, agenda_page, happening
from tidemill.core.replay.page_difference import ReplayedState
from tidemill.core.replay.views import ChangeStatus
from tidemill.lab.faults import Redesign
from tidemill.operations.mistakes import Mistake
from tidemill.operations.replay.requests import ReplayRequest
from tidemill.store.pages.compaction import compact
from tidemill.store.schema import page_bodies, record_history, replay_pages
from tidemill.verticals.events.lab.sites import Make, build_sites
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("X1", "X2")

CARDS = next(
    msgspec.structs.replace(site, pages=site.pages[:1]) for site in build_sites(7, 12) if site.make is Make.CARDS
)


SOURCE = "buurthuis-maastricht"


async def days_of(works: LabWorks, days: int) -> None:
    """Scrape once a day."""
    for day in range(days):
        if day:
            works.wait(DAY)
        await works.scrape()


async def test_the_report_says_on_which_day_a_redesign_broke_the_reading(
    migrated_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    redesigned = ill_from(CARDS.host, Redesign(), timedelta(days=3, hours=12))
    async with lab_works(migrated_url, clock, tmp_path, [CARDS], [redesigned]) as works:
        await days_of(works, 6)
        replays = works.system.actions.replays
        started = await replays.start(ReplayRequest(source=SOURCE, since="30d"), "ans")
        shown = await replays.run(started.id)
        assert shown.report is not None
        assert shown.report.broke == {SOURCE: "2026-03-06"}
        assert (shown.report.lost, shown.report.changed, shown.report.added) == (0, 0, 0)
        assert shown.report.failed_then == shown.report.failed_now > 0


async def test_repaired_selectors_are_proven_accepted_applied_and_reverted(
    migrated_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    redesigned = ill_from(CARDS.host, Redesign(), timedelta(hours=12))
    async with lab_works(migrated_url, clock, tmp_path, [CARDS], [redesigned]) as works:
        await works.scrape()
        works.wait(timedelta(days=8))
        await days_of(works, 2)
        await works.system.ticks.chores["propose_repairs"].run()
        (proposal,) = await works.system.actions.proposals.every()
        replays = works.system.actions.replays
        before = {row["identity"]: row for row in await works.rows(events)}

        request = ReplayRequest(source=SOURCE, since="36h", selectors=dict(proposal.after or {}))
        shown = await replays.run((await replays.start(request, "ans")).id)
        assert shown.report is not None
        assert shown.report.failed_then == 2
        assert shown.report.failed_now == 0
        assert shown.report.added > 0
        assert shown.report.certificates
        assert {row["identity"] for row in await works.rows(events)} == set(before)  # nothing is written

        number = shown.replay.id
        with pytest.raises(Mistake, match="accept it first"):
            await replays.apply(number, "ans")
        await replays.accept(number, "ans")
        source = await works.system.store.sources.find(SOURCE)
        assert source is not None
        assert source.adapter_settings["selectors"] == proposal.after
        works.wait(timedelta(hours=5))
        applied = await replays.apply(number, "ans")
        assert applied.applied["added"] == len(await works.rows(events)) - len(before) > 0
        assert applied.applied["seen"] > 0
        fetched = {row["fetched_at"] for row in await works.rows(replay_pages, replay_id=number)}
        for row in await works.rows(events):
            if row["identity"] not in before or row["last_seen_at"] != before[row["identity"]]["last_seen_at"]:
                assert row["last_seen_at"] in fetched
        lines = [row for row in await works.rows(record_history) if row["kind"] == "replayed"]
        assert {row["replay_id"] for row in lines} == {number}

        assert applied.state_words == "accepted, applied"
        await replays.revert(number, "ans")
        assert (await replays.find(number)).state_words == "accepted, reverted"
        alive = {row["identity"]: row["last_seen_at"] for row in await works.rows(events) if row["gone_at"] is None}
        assert alive == {key: row["last_seen_at"] for key, row in before.items()}
        with pytest.raises(Mistake, match="nothing to take back"):
            await replays.revert(number, "ans")


MISTAKES = {
    "a swapped field": swap_fields, "a tenth lost": lose_a_tenth, "a day off": a_day_off,
    "links of the navigation": read_navigation,
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
async def test_a_planted_mistake_is_held_until_a_person_decides(
    migrated_sqlite_url: str, tmp_path: Path, name: str
) -> None:
    async with a_town(migrated_sqlite_url, tmp_path, search_key=None, llm_key=None, geocoder_url=None) as town:
        town.site.page("/agenda", agenda_of(20))
        await town.add_source(adapter=NAME)
        gate = town.system.ticks.chores["gate_changes"]
        await town.scrape()
        assert "1 first versions" in await gate.run()
        before = await town.events()
        assert len(before) == 20

        with planted("1.1.0", MISTAKES[name]):
            town.clock.advance(timedelta(days=1, minutes=2))
            town.site.page("/agenda", agenda_of(21))
            await town.scrape()
            assert await town.events() == before  # the page is stored, and not read by the new version
            (held,) = await town.rows("SELECT count(*) AS n FROM raw_pages WHERE failure IS NULL")
            assert held["n"] == 2
            assert "1 held" in await gate.run()
            (waiting,) = await town.system.actions.replays.every(waiting=True)
            assert waiting.held_because
            await town.scrape()
            assert await town.events() == before
            runs = await town.rows("SELECT complete FROM scrape_runs ORDER BY id")
            assert not runs[-1]["complete"]

            await town.system.actions.replays.refuse(waiting.id, "ans")
            assert "0 held" in await gate.run()  # what was refused is not asked about again
            town.clock.advance(timedelta(days=1, minutes=2))
            await town.scrape()
            assert await town.events() == before
        with planted("1.2.0"):
            assert "1 changes passed" in await gate.run()
            town.clock.advance(timedelta(days=1, minutes=2))
            await town.scrape()
            assert len(await town.events()) == 21


async def test_a_harmless_refactoring_passes_without_a_person(migrated_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_url, tmp_path, search_key=None, llm_key=None, geocoder_url=None) as town:
        town.site.page("/agenda", agenda_of(20))
        await town.add_source(adapter=NAME)
        gate = town.system.ticks.chores["gate_changes"]
        await town.scrape()
        await gate.run()
        with planted("1.1.0", refactored):
            assert "1 changes passed" in await gate.run()
            town.site.page("/agenda", agenda_of(21))
            town.clock.advance(timedelta(days=1, minutes=2))
            await town.scrape()
            assert len(await town.events()) == 21
        (change,) = await town.system.actions.replays.every_change()
        assert change.status is ChangeStatus.PASSED


async def test_wrong_selectors_wait_while_the_old_ones_go_on_and_can_be_rolled_back(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [CARDS]) as works:
        await works.scrape()
        (entry,) = works.world.sources(interval_seconds=0)
        source = await works.system.store.sources.find(SOURCE)
        assert source is not None
        before = source.adapter_settings["selectors"]
        replays = works.system.actions.replays

        async def selectors_now() -> object:
            found = await works.system.store.sources.find(SOURCE)
            assert found is not None
            return found.adapter_settings["selectors"]

        wrong = {**before, "title": before["starts"]}
        changed = {**entry, "settings": {**entry["settings"], "selectors": wrong}}
        await works.system.actions.importer.source_entries([changed], "ans")
        assert await selectors_now() == before
        assert "1 held" in await works.system.ticks.chores["gate_changes"].run()
        (held,) = await replays.every(waiting=True)
        assert await selectors_now() == before
        await replays.accept(held.id, "ans")
        assert await selectors_now() == wrong
        rolled = await replays.roll_back(SOURCE, "ans")
        assert rolled.replay.change is ChangeStatus.PASSED
        assert await selectors_now() == before


async def test_two_replays_give_the_same_bytes_and_an_interrupted_one_goes_on(
    migrated_url: str, clock: SettableClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lab_works(migrated_url, clock, tmp_path, [CARDS]) as works:
        await days_of(works, 4)
        replays = works.system.actions.replays
        request = ReplayRequest(source=SOURCE, since="30d")
        one = await replays.run((await replays.start(request, "ans")).id)
        works.wait(timedelta(seconds=8))  # when it is asked for is no part of the report
        other = (await replays.start(request, "ans")).id
        monkeypatch.setattr("tidemill.operations.replay.runner.PORTION", 1)

        def pull_the_plug(done: int, _: int) -> None:
            if done == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            await replays.run(other, pull_the_plug)
        assert (await replays.find(other)).pages_done == 2
        two = await replays.run(other)
        assert one.replay.digest == two.replay.digest
        assert await replays.repository.report(one.replay.id) == await replays.repository.report(other)


async def test_compacted_pages_are_read_and_pages_that_are_gone_are_counted(
    migrated_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with lab_works(migrated_url, clock, tmp_path, [CARDS]) as works:
        await days_of(works, 5)
        store = works.system.store
        packed = await compact(store.database, store.bodies, clock.now())
        assert packed.pages > 0
        replays = works.system.actions.replays
        shown = await replays.run((await replays.start(ReplayRequest(vertical="events"), "ans")).id)
        assert shown.report is not None
        compared, unchanged = shown.report.pages[ReplayedState.COMPARED], shown.report.pages[ReplayedState.UNCHANGED]
        assert (compared, unchanged) == (3, 2)
        assert shown.report.lost == shown.report.added == shown.report.changed == 0
        async with store.database.write() as connection:
            await connection.execute(update(page_bodies).values(length=0))
        again = await replays.run((await replays.start(ReplayRequest(vertical="events"), "ans")).id)
        assert again.report is not None
        assert again.report.pages[ReplayedState.GONE] == compared


async def test_corrections_never_overrule_what_a_later_page_said(migrated_sqlite_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_sqlite_url, tmp_path, search_key=None, llm_key=None, geocoder_url=None) as town:
        await town.add_source(adapter=NAME)
        wrong = {"place": "somewhere", "address": "nowhere 1"}
        with planted("1.0.0", lambda _, fields: [{**fields, **wrong}]):
            town.site.page("/agenda", agenda_of(3))
            await town.scrape()
        replays = town.system.actions.replays
        number = (await replays.run((await replays.start(ReplayRequest(vertical="events"), "ans")).id)).replay.id
        await replays.accept(number, "ans")
        async with town.system.store.database.write() as connection:
            row = (await connection.execute(text("SELECT id, record FROM events ORDER BY id LIMIT 1"))).one()
            later = json.dumps({**json.loads(row.record), "venue_name": "the town hall"}).encode()
            await connection.execute(text("UPDATE events SET record = :r WHERE id = :i"), {"r": later, "i": row.id})
        applied = await replays.apply(number, "ans")
        assert applied.applied == {"corrected": 2, "left alone": 1}
        told = await town.events()
        assert sorted(each["venue_name"] for each in told.values()) == ["Musis", "Musis", "the town hall"]
        seen = await town.rows("SELECT DISTINCT last_seen_at, page_id FROM events")
        assert len(seen) == 1  # nothing counts as seen again


async def test_a_request_that_names_too_little_or_what_is_not_there_is_refused(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [CARDS]) as works:
        replays = works.system.actions.replays
        asked = {
            "name one of": ReplayRequest(),
            "write an age": ReplayRequest(vertical="events", since="soon"),
            "unknown vertical": ReplayRequest(vertical="evnts"),
            "unknown adapter": ReplayRequest(adapter="events.genric"),
            "is not installed here": ReplayRequest(adapter="events.generic", with_version="9.9.9"),
            "cannot be imported": ReplayRequest(source=SOURCE, with_="no_such_package:Adapter"),
            "there is no file": ReplayRequest(source=SOURCE, with_="none.yaml"),
            "unknown source": ReplayRequest(source="nobody"),
        }
        for words, request in asked.items():
            with pytest.raises(Mistake, match=words):
                await replays.start(request, "ans")


def agenda_of(count: int) -> str:
    """An agenda with so many events."""
    starts = NOON + timedelta(days=40)
    return agenda_page(
        [happening(f"Concert {number}", f"{starts + timedelta(hours=number):%Y-%m-%dT%H:%M}", "Musis")
         for number in range(count)]
    )  # fmt: skip
