"""The pages of matches as they are without scripts: whole, and honest about their age."""

from datetime import timedelta

import pytest
from selectolax.lexbor import LexborHTMLParser

from integration.web.conftest import Browser
from rig.clock import NOON, SettableClock
from rig.match_states import match_state
from rig.streamed import TallyWriter
from tidemill.bootstrap.system import System


def texts(page: LexborHTMLParser, selector: str) -> list[str]:
    return [" ".join(found.text().split()) for found in page.css(selector)]


def writer_of(system: System) -> TallyWriter:
    return TallyWriter(system.store.database, system.store.change_log, "matches")


@pytest.mark.shows("M5")
async def test_a_match_is_whole_without_scripts(sqlite_system: System, sqlite_browser: Browser) -> None:
    writer = writer_of(sqlite_system)
    await writer.write("m1", match_state(5))
    await writer.write("m1", match_state(6, result={"winner": "Northport", "by": "9 wickets", "method": "D/L"}))
    answer = await sqlite_browser.page("/matches/m1")
    page = LexborHTMLParser(answer.text)
    assert answer.status == 200
    assert texts(page, "[data-shows=innings] tr > *") == ["Northport", "6/1", "1.0", ""]
    assert texts(page, "[data-shows=balls] li")[:2] == ["0.6 1 W bowled", "0.5 1"]
    assert texts(page, "[data-shows=result]") == ["Northport won by 9 wickets (D/L)"]
    assert texts(page, "[data-shows=state]") == ["live"]
    assert texts(page, ".facts dd") == ["Eastvale, chose to field", "Northport Oval", "Harbour Cup", "T20"]
    assert page.css_first("[data-match]").attributes["data-match"] == "m1"


@pytest.mark.shows("M5")
async def test_a_page_says_stale_and_never_live_of_what_nobody_checks(
    sqlite_system: System, sqlite_browser: Browser, clock: SettableClock
) -> None:
    await writer_of(sqlite_system).write("m1", match_state(5))
    clock.set(NOON + timedelta(seconds=16))
    one = LexborHTMLParser((await sqlite_browser.page("/matches/m1")).text)
    listed = LexborHTMLParser((await sqlite_browser.page("/matches")).text)
    assert texts(one, "[data-shows=state]") == ["stale"]
    assert texts(one, "[data-shows=checked]") == ["16 s ago"]
    assert "stale" in texts(listed, "tbody td")[1]


async def test_an_ended_match_is_not_stale(
    sqlite_system: System, sqlite_browser: Browser, clock: SettableClock
) -> None:
    await writer_of(sqlite_system).write("m1", match_state(5, status="completed"))
    clock.set(NOON + timedelta(hours=2))
    page = LexborHTMLParser((await sqlite_browser.page("/matches/m1")).text)
    assert texts(page, "[data-shows=state]") == ["completed"]


async def test_lists_are_chosen_by_status_and_go_on(sqlite_system: System, sqlite_browser: Browser) -> None:
    writer = writer_of(sqlite_system)
    for number in range(52):
        await writer.write(f"m{number:02}", match_state(1, f"Match {number:02}"))
    await writer.write("x", match_state(1, "Over", status="completed"))
    first = LexborHTMLParser((await sqlite_browser.page("/matches?status=live")).text)
    following = first.css_first("[rel=next]").attributes["href"]
    second = LexborHTMLParser((await sqlite_browser.page(str(following))).text)
    over = LexborHTMLParser((await sqlite_browser.page("/matches?status=completed")).text)
    assert len(first.css("tbody tr")) == 50
    assert texts(second, "tbody th") == ["Match 50", "Match 51"]
    assert texts(over, "tbody th") == ["Over"]


async def test_what_a_page_lacks_is_said(sqlite_system: System, sqlite_browser: Browser) -> None:
    empty = await sqlite_browser.page("/matches")
    assert "No matches yet." in empty.text
    missing = await sqlite_browser.page("/matches/nobody")
    assert missing.status == 404
    await writer_of(sqlite_system).write("m1", {"status": "upcoming"})
    page = LexborHTMLParser((await sqlite_browser.page("/matches/m1")).text)
    assert texts(page, "h1") == ["m1"]
    assert texts(page, "[data-shows=innings]") == ["No score yet."]


async def test_the_log_shows_corrections_and_moves(sqlite_system: System, sqlite_browser: Browser) -> None:
    writer = writer_of(sqlite_system)
    await writer.write("m1", match_state(7))
    await writer.write("m1", match_state(6), kind="correction", reason="taken back", was={"runs": 7})
    await writer.move("m1", "DISCOVERED", "ACTIVE")
    page = LexborHTMLParser((await sqlite_browser.page("/matches/m1")).text)
    told = texts(page, "section[aria-labelledby=log] tbody td:nth-child(3)")
    assert texts(page, "section[aria-labelledby=log] tbody td:first-child") == ["3", "2", "1"]
    assert told[0].endswith("DISCOVERED to ACTIVE")
    assert told[1].startswith("correction")


async def test_the_newest_twenty_entries_are_shown(sqlite_system: System, sqlite_browser: Browser) -> None:
    writer = writer_of(sqlite_system)
    for balls in range(25):
        await writer.write("m1", match_state(balls))
    page = LexborHTMLParser((await sqlite_browser.page("/matches/m1")).text)
    numbers = [int(text) for text in texts(page, "section[aria-labelledby=log] tbody td:first-child")]
    assert numbers == list(range(25, 5, -1))


async def test_the_script_of_a_vertical_is_served_beside_ours(sqlite_browser: Browser) -> None:
    answer = await sqlite_browser.get("/static/matches/match.js")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "max-age=3600")
    assert (await sqlite_browser.get("/static/matches/../../web.py")).status == 404
