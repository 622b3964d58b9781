"""Hostile records in every field that strangers write: every page, export, feed and answer shows them as text."""

import csv
import io
import json
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from xml.etree import ElementTree as ET

import icalendar
import pytest
from selectolax.lexbor import LexborHTMLParser

from integration.web.conftest import Answer, Browser, browsing
from rig.clock import SettableClock
from rig.hostile_records import MARK, a_hostile_world
from tidemill.bootstrap.system import System, build
from tidemill.settings import load_settings
from tidemill.web.guard import HEADERS

pytestmark = pytest.mark.shows("A4")

STARTS = (
    "/", "/work", "/sources", "/targets", "/runs", "/pages", "/dead-letters", "/quarantine", "/proposals", "/alerts",
    "/candidates", "/incidents", "/objectives", "/breakers", "/adapters", "/ticks", "/replays", "/exports", "/webhooks",
    "/system", "/settings", "/people", "/audit", "/api-guide", "/account", "/events", "/homes", "/markets", "/products",
    "/price-review", "/matches", "/why", "/import-targets", "/add-source",
)  # fmt: skip
MOST = 260
SAFE_STARTS = ("/", "#", "?", "http://", "https://", "mailto:")


@pytest.fixture
async def hostile(migrated_file: Path, tmp_path: Path, clock: SettableClock) -> AsyncIterator[tuple[System, Browser]]:
    file = await a_hostile_world(migrated_file, tmp_path, clock)
    system = build(load_settings(database=f"sqlite:///{file}"), clock=clock)
    async for browser in browsing(system):
        yield system, browser
    await system.close()


def troubles(answer: Answer) -> list[str]:
    """What in a page would run, load or show as markup what a stranger wrote."""
    page = LexborHTMLParser(answer.body)
    found = [f"element {MARK}"] if page.css(MARK) else []
    found += [
        "a script of its own" for each in page.css("script") if each.text() or not own(each.attributes.get("src"))
    ]
    found += [f"element {each.tag}" for each in page.css("object, embed, base, style, iframe:not([sandbox])")]
    found += ["a picture of others" for each in page.css("img") if not own(each.attributes.get("src"))]
    for node in page.css("*"):
        for name, value in node.attributes.items():
            if name.startswith("on") or name == "style" or (name in {"srcdoc", "formaction"} and value):
                found.append(f"{node.tag} {name}")
            if name in {"href", "src", "action"} and value and not value.lower().startswith(SAFE_STARTS):
                found.append(f"{node.tag} {name}={value[:60]}")
    if answer.headers["Content-Security-Policy"] != HEADERS["Content-Security-Policy"]:
        found.append("another policy")
    return found


def own(address: str | None) -> bool:
    return (address or "").startswith("/static/")


def links_of(answer: Answer) -> list[str]:
    page = LexborHTMLParser(answer.body)
    return [href for each in page.css("a[href]") if (href := each.attributes["href"] or "").startswith("/")]


def shape(path: str) -> tuple[str, ...]:
    """An address without its numbers, so that of each kind a few are seen and not thousands."""
    plain, _, question = path.partition("?")
    parts = tuple("N" if any(letter.isdigit() for letter in part) else part for part in plain.split("/"))
    return (*parts, *sorted(each.partition("=")[0] for each in question.split("&") if each))


async def test_nothing_runs_on_any_page_that_links_lead_to(hostile: tuple[System, Browser]) -> None:
    _, browser = hostile
    waiting, seen, kinds = deque(STARTS), set(STARTS), dict[tuple[str, ...], int]()
    bad: dict[str, list[str]] = {}
    while waiting and len(seen) < MOST * 20:
        path = waiting.popleft()
        kinds[shape(path)] = kinds.get(shape(path), 0) + 1
        if kinds[shape(path)] > 7 or sum(kinds.values()) > MOST:
            continue
        answer = await browser.page(path)
        if answer.status >= 500 or (path in STARTS and answer.status != 200):
            bad[path] = [str(answer.status)]
        kind = answer.headers.get("Content-Type", "")
        if kind.startswith("text/html") and "/frame" not in path and "/body" not in path:
            if found := troubles(answer):
                bad[path] = found
            fresh = [each for each in links_of(answer) if each not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
    assert bad == {}
    walked = {kind[1] for kind in kinds}
    assert {"dead-letters", "quarantine", "events", "homes", "products", "matches", "runs", "pages"} <= walked
    assert sum(len(kind) > 2 for kind in kinds) > 25, sorted(kinds)


async def test_every_export_of_hostile_records_is_read_by_somebody_elses_reader(
    hostile: tuple[System, Browser],
) -> None:
    _, browser = hostile
    for each in (await browser.get("/api/v1/exports")).json()["items"]:
        for form in each["formats"]:
            answer = await browser.get(f"{each['address']}?format={form}")
            assert answer.status == 200, (each["name"], form)
            assert answer.headers["Content-Disposition"].startswith("attachment"), (each["name"], form)
            read_by_others(form, answer)


def read_by_others(form: str, answer: Answer) -> None:
    if form == "jsonl":
        for line in answer.body.splitlines():
            json.loads(line)
    elif form == "geojson":
        assert answer.json()["type"] == "FeatureCollection"
    elif form == "ics":
        calendar = icalendar.Calendar.from_ical(answer.body)
        assert all(str(entry["SUMMARY"]) for entry in calendar.walk("VEVENT"))
    elif form == "rss":
        items = ET.fromstring(answer.body).findall("channel/item")  # noqa: S314 - our own
        assert not any((item.findtext("link") or "").startswith("javascript") for item in items)
    elif form == "csv":
        for row in csv.DictReader(io.StringIO(answer.text, newline="")):
            assert not any((value or "").lstrip().startswith(("=", "+", "@")) for value in row.values()), row


async def test_feeds_and_answers_of_hostile_records_are_whole(hostile: tuple[System, Browser]) -> None:
    _, browser = hostile
    assert (await browser.get("/api/v1/events.rss")).status == 200
    ET.fromstring((await browser.get("/api/v1/events.rss")).body)  # noqa: S314 - our own
    icalendar.Calendar.from_ical((await browser.get("/api/v1/events.ics")).body)
    described = (await browser.get("/api/v1/openapi.json")).json()["paths"]
    plain = [path for path, methods in described.items() if "get" in methods and "{" not in path]
    assert len(plain) > 40
    for path in plain:
        if path.endswith("/stream"):
            continue
        answer = await browser.get(path)
        assert answer.status in {200, 422, 503}, (path, answer.status, answer.text[:200])
        if answer.status == 200 and answer.headers["Content-Type"].startswith("application/json"):
            answer.json()
