"""Single events as people are shown them, on both databases, after the real system has worked in the lab."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from rig.clock import SettableClock
from rig.scraped import scraped
from tidemill.bootstrap.system import System
from tidemill.core.views.records import BadCursor
from tidemill.store.database.database import Database
from tidemill.verticals.events.parts import EventsParts
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import EventCursor, EventFilter


@pytest.fixture
async def system(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[System]:
    built = await scraped(database, clock, tmp_path / "pages")
    yield built
    await built.close()


@pytest.fixture
def views(system: System) -> EventViews:
    return system.part(EventsParts).store.views


async def test_events_go_on_from_a_cursor_and_none_is_shown_twice(views: EventViews) -> None:
    everything = await views.events(limit=10_000)
    assert len(everything) > 20
    paged: list[int] = []
    cursor = None
    while page := await views.events(after=cursor, limit=7):
        paged += [one.id for one in page]
        cursor = EventCursor.parse(page[-1].cursor.text)
    assert paged == [one.id for one in everything]


async def test_events_are_filtered_by_text_category_source_and_date(views: EventViews) -> None:
    everything = await views.events(limit=10_000)
    one = everything[len(everything) // 2]
    word = one.title.split()[0]
    found = await views.events(EventFilter(text=word.upper() if word.isascii() else word), limit=10_000)
    assert one.id in {each.id for each in found}
    assert {each.category for each in await views.events(EventFilter(category=one.category))} == {one.category}
    mine = await views.events(EventFilter(source=one.source_name), limit=10_000)
    assert {each.source_name for each in mine} == {one.source_name}
    span = EventFilter(date_from=one.event_date, date_to=one.event_date + timedelta(days=1))
    inside = await views.events(span, limit=10_000)
    assert one.id in {each.id for each in inside}
    assert all(one.event_date <= each.event_date < one.event_date + timedelta(days=1) for each in inside)
    assert await views.events(EventFilter(text="100%")) == []


async def test_an_event_shows_its_record_its_page_and_its_history(views: EventViews) -> None:
    one = (await views.events(limit=1))[0]
    detail = await views.event(one.id)
    assert detail is not None
    assert msgspec.json.decode(detail.event.record)["title"] == one.title
    assert detail.page is not None
    assert detail.page.page.id == one.page_id
    assert detail.page.reading is not None
    assert detail.history == []
    assert await views.event(10**9) is None


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "1.x", "99999999999999999999999.1"])
def test_a_cursor_that_we_did_not_write_is_refused(text: str) -> None:
    with pytest.raises(BadCursor, match="leave it out"):
        EventCursor.parse(text)
