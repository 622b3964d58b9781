"""The list of sources on both databases: filtered, ordered and paged by the database, with figures beside each."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from rig.clock import NOON, SettableClock
from rig.rows import a_run, a_source, a_target, put
from tidemill.bootstrap.system import System, build
from tidemill.core.views.source_list import SourceListFilter, SourceOrder, SourceState
from tidemill.operations.mistakes import Mistake
from tidemill.settings import load_settings
from tidemill.store.schema import breakers, runs, sources, targets
from tidemill.store.views.source_list import PlaceGone

pytestmark = pytest.mark.shows("A2", "O7")

TOWNS = ("Alkmaar", "Breda", "Culemborg", "Delft", "Ede")


@pytest.fixture
async def system(migrated_url: str, clock: SettableClock) -> AsyncIterator[System]:
    built = build(load_settings(database=migrated_url), clock=clock)
    database = built.store.database
    rows = [
        a_source(
            key, name=name, city=name.upper(), base_url=f"https://{name.lower()}.example/",
            tags=" north " if key < 3 else "",
            enabled=key != 4, consecutive_failures=key % 3, historical_count=0 if key == 5 else key * 10,
            last_scraped_at=NOON, last_success_at=NOON - timedelta(days=key) if key < 5 else None,
        )
        for key, name in enumerate(TOWNS, start=1)
    ]  # fmt: skip
    await put(database, sources, *rows)
    await put(
        database, targets,
        a_target(1, source_id=1, next_due_at=NOON + timedelta(hours=2)),
        a_target(
            2, source_id=1, url="https://a.example/2", canonical_url="https://a.example/2",
            next_due_at=NOON + timedelta(hours=1),
        ),
    )  # fmt: skip
    for key, days, accepted, again, fresh in ((1, 0, 5, 2, 0), (2, 0, 3, 0, 0), (3, 13, 4, 0, 4), (4, 14, 99, 0, 0)):
        moment = NOON - timedelta(days=days)
        await put(
            database, runs,
            a_run(key, source_id=1, started_at=moment, completed_at=moment, status="SUCCESS",
                  records_accepted=accepted, records_seen_again=again, records_inserted=fresh),
        )  # fmt: skip
    await put(database, breakers, {"source_id": 2, "state": "OPEN", "failure_count": 5, "changed_at": NOON})
    yield built
    await built.close()


async def names(system: System, after: int | None = None, limit: int = 50, **which: Any) -> list[str]:
    page = await system.store.views.source_page(SourceListFilter(**which), NOON, after=after, limit=limit)
    return [line.view.name for line in page.lines]


@pytest.mark.parametrize(
    ("which", "found"),
    [
        ({"text": "breda.EX"}, ["Breda"]), ({"text": "CULEM"}, ["Culemborg"]), ({"text": "%"}, []),
        ({"tag": "north"}, ["Alkmaar", "Breda"]), ({"tag": "nort"}, []), ({"vertical": "prices"}, []),
        ({"state": SourceState.ON}, ["Alkmaar", "Breda", "Culemborg", "Ede"]), ({"state": SourceState.OFF}, ["Delft"]),
        ({"state": SourceState.FAILING}, ["Alkmaar", "Breda", "Ede"]), ({"state": SourceState.BREAKER}, ["Breda"]),
        ({"state": SourceState.SILENT}, ["Ede"]), ({"state": SourceState.DRIFTED}, []),
        ({"state": SourceState.BROKEN}, []),
    ],
)  # fmt: skip
async def test_sources_are_narrowed_by_what_people_ask(system: System, which: dict[str, Any], found: list[str]) -> None:
    assert await names(system, **which) == found
    assert len(await system.store.views.matching_sources(SourceListFilter(**which))) == len(found)


@pytest.mark.parametrize("order", list(SourceOrder))
async def test_pages_of_one_line_make_the_whole_list_in_every_order(system: System, order: SourceOrder) -> None:
    whole = await names(system, order=order)
    keys = dict(zip(TOWNS, range(1, 6), strict=True))
    walked: list[str] = []
    after: int | None = None
    for _ in TOWNS:
        (name,) = await names(system, after, 1, order=order)
        walked.append(name)
        after = keys[name]
    assert walked == whole
    assert sorted(whole) == list(TOWNS)
    assert await names(system, after, 1, order=order) == []


async def test_orders_put_first_what_their_name_says(system: System) -> None:
    assert (await names(system, order=SourceOrder.SUCCESS))[0] == "Ede", "it never answered well"
    assert (await names(system, order=SourceOrder.RECORDS))[0] == "Delft"
    assert (await names(system, order=SourceOrder.TROUBLE))[:2] == ["Ede", "Breda"]


async def test_a_line_holds_fourteen_days_the_next_due_and_the_last_new_record(system: System) -> None:
    page = await system.store.views.source_page(SourceListFilter(text="alkmaar"), NOON)
    (line,) = page.lines
    assert list(line.daily) == [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10], "the run of fourteen days ago is left out"
    assert line.next_due_at == NOON + timedelta(hours=1)
    assert line.last_new_at == NOON - timedelta(days=13)
    assert (page.total, page.next, page.tags) == (1, None, [("north", 2)])
    assert line.view.tags == ("north",)


async def test_a_place_that_is_gone_is_told(system: System) -> None:
    with pytest.raises(PlaceGone):
        await names(system, 999)


async def test_tags_are_given_and_taken_from_many_at_once(system: System) -> None:
    actions = system.actions.sources
    changed = await actions.tag_all([1, 2, 3], "trial", "anna")
    assert [each.name for each in changed] == ["Alkmaar", "Breda", "Culemborg"]
    assert await actions.tag_all([1, 2, 3], "trial", "anna") == [], "they have it already"
    assert await names(system, tag="trial") == ["Alkmaar", "Breda", "Culemborg"]
    await actions.tag_all([2], "trial", "anna", remove=True)
    assert await names(system, tag="trial") == ["Alkmaar", "Culemborg"]
    assert (await actions.find("Alkmaar")).tags == ("north", "trial")
    with pytest.raises(Mistake, match="is no tag"):
        await actions.tag_all([1], "two words", "anna")


async def test_many_are_paused_at_once_and_those_that_are_off_are_left_alone(system: System) -> None:
    paused = await system.actions.sources.switch_all([1, 2, 4], "anna", enabled=False, reason="holiday")
    assert [each.name for each in paused] == ["Alkmaar", "Breda"]
    assert await names(system, state=SourceState.OFF) == ["Alkmaar", "Breda", "Delft"]
    noted = [each.entry for each in await system.store.audit.latest()]
    assert {(each.action, each.subject) for each in noted} == {
        ("source.disable", "source Alkmaar"), ("source.disable", "source Breda"),
    }  # fmt: skip
