"""Events for readers over real HTTP: places, feeds, calendars."""

from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest

from integration.web.conftest import Browser
from integration.web.world import an_event, furnish
from rig.clock import NOON
from rig.rows import a_source, put
from tidemill.bootstrap.system import System
from tidemill.store.schema import sources
from tidemill.verticals.events.store.tables import events

ARNHEM, GRONINGEN = {"latitude": 51.98, "longitude": 5.91}, {"latitude": 53.22, "longitude": 6.57}
NEAR_ARNHEM = "latitude=51.98&longitude=5.91"


async def towns(system: System) -> None:
    await furnish(system, titles=())
    await put(system.store.database, sources, a_source(2, name="Other"))
    await put(
        system.store.database,
        events,
        an_event(1, "Jazz", NOON + timedelta(days=2), category="music", **ARNHEM),
        an_event(2, "Kermis", NOON + timedelta(days=1), category="family", **ARNHEM),
        an_event(3, "Schaken", NOON + timedelta(days=1), category="gaming", **GRONINGEN),
        an_event(4, "Jazz", NOON + timedelta(days=2), category="music", source_id=2, **ARNHEM),
    )


async def titles(browser: Browser, path: str) -> list[str]:
    answer = await browser.get(path)
    assert answer.status == 200, answer.text
    return [event["title"] for event in answer.json()["items"]]


@pytest.mark.shows("E3")
async def test_one_event_of_two_sources_is_shown_once_with_its_provenance(system: System, browser: Browser) -> None:
    await towns(system)
    assert sorted(await titles(browser, "/api/v1/events")) == ["Jazz", "Kermis", "Schaken"]
    for key in (1, 4):
        card = (await browser.get(f"/api/v1/events/{key}")).json()["card"]
        assert (card["id"], card["members"]) == (1, [1, 4])
        assert card["provenance"]["title"]["source"] == "Town hall"


async def test_events_are_found_around_a_place(system: System, browser: Browser) -> None:
    await towns(system)
    assert await titles(browser, f"/api/v1/events?{NEAR_ARNHEM}&radius=10") == ["Kermis", "Jazz"]
    half = await browser.get("/api/v1/events?latitude=51.98")
    assert (half.status, half.error["code"]) == (422, "bad_parameter")
    assert (await browser.get("/api/v1/events?radius=3")).status == 422
    assert (await browser.get(f"/api/v1/events?{NEAR_ARNHEM}&radius=100000")).status == 422


@pytest.mark.shows("E4")
async def test_the_feed_is_ranked_for_its_reader_and_goes_on_by_its_cursor(system: System, browser: Browser) -> None:
    await towns(system)
    assert (await titles(browser, f"/api/v1/events/feed?{NEAR_ARNHEM}&radius=500&likes=music"))[0] == "Jazz"
    assert (await titles(browser, "/api/v1/events/feed?likes=gaming:1"))[0] == "Schaken"
    light = f"/api/v1/events/feed?{NEAR_ARNHEM}&radius=500&likes=gaming&weight_distance=0&weight_category=9"
    assert (await titles(browser, light))[0] == "Schaken"
    every = await titles(browser, light)
    first = (await browser.get(f"{light}&limit=1")).json()
    rest = await titles(browser, f"{light}&cursor={first['next']}")
    assert [first["items"][0]["title"], *rest] == every
    assert sorted(await titles(browser, f"/api/v1/events/feed?{NEAR_ARNHEM}")) == sorted(every)
    assert (await browser.get("/api/v1/events?category=opera")).status == 422
    for bad in ("likes=opera", "likes=music:much", "cursor=nonsense", "weight_time=-1"):
        assert (await browser.get(f"/api/v1/events/feed?{bad}")).status == 422


@pytest.mark.shows("A5")
async def test_what_is_on_comes_as_a_calendar_and_as_rss(system: System, browser: Browser) -> None:
    await towns(system)
    calendar = await browser.get("/api/v1/events.ics?category=family")
    assert calendar.headers["content-type"] == "text/calendar; charset=utf-8"
    assert calendar.text.count("BEGIN:VEVENT") == 1
    assert "SUMMARY:Kermis" in calendar.text
    feed = await browser.get(f"/api/v1/events.rss?{NEAR_ARNHEM}&radius=10")
    assert feed.headers["content-type"] == "application/rss+xml; charset=utf-8"
    items = [item.findtext("title") for item in ET.fromstring(feed.text).iter("item")]  # noqa: S314 - our own
    assert items == ["Kermis", "Jazz"]
