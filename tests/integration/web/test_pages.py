from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from selectolax.lexbor import LexborHTMLParser

from integration.web.conftest import Browser, browsing
from integration.web.world import HOSTILE, an_event, furnish, open_breaker
from rig.clock import NOON
from rig.rows import put
from tidemill.bootstrap.system import System
from tidemill.core.failure import Failure
from tidemill.core.outcome import Stage
from tidemill.pipeline.happenings import JobDead
from tidemill.verticals.events.store.tables import events
from tidemill.web.deps import WebDeps
from tidemill.web.guard import HEADERS

PAGES = ("/", "/events", "/events/1", "/sources", "/sources/1", "/runs", "/runs/1")


@pytest.mark.shows("A2")
@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_whole_and_takes_nothing_from_elsewhere(
    sqlite_system: System, sqlite_browser: Browser, path: str
) -> None:
    await furnish(sqlite_system)
    answer = await sqlite_browser.page(path)
    assert answer.status == 200
    page = LexborHTMLParser(answer.text)
    assert not page.css('script:not([src^="/static/"]), style, iframe, object, embed, base, [style]')
    assert len(page.css("h1")) == 1
    assert page.css_first("html").attributes["lang"] == "en"
    assert page.css_first("main#main") is not None
    loaded = [node.attributes.get("src") or node.attributes.get("href") or "" for node in page.css("link, img")]
    assert all(address.startswith("/static/") for address in loaded)
    for address in loaded:
        assert (await sqlite_browser.get(address)).status == 200


@pytest.mark.shows("A4")
@pytest.mark.parametrize("path", ["/", "/events", "/events/1", "/sources", "/runs/1"])
async def test_hostile_text_comes_out_as_text(sqlite_system: System, sqlite_browser: Browser, path: str) -> None:
    await furnish(sqlite_system, titles=HOSTILE, name=HOSTILE[0])
    answer = await sqlite_browser.page(path)
    page = LexborHTMLParser(answer.text)
    assert answer.status == 200
    assert not page.css('script:not([src^="/static/"]), svg:not([class]), b, [onerror], [onload]')
    assert [image.attributes["src"] for image in page.css("img")] == ["/static/icon.svg?v=0.1.0"]
    assert "<script>alert" not in answer.text
    if path == "/events":
        assert [link.text() for link in page.css("h3 a")] == list(HOSTILE)


@pytest.mark.shows("A4")
async def test_a_hostile_address_is_not_a_link(sqlite_system: System, sqlite_browser: Browser) -> None:
    await furnish(sqlite_system, titles=())
    addresses = ["javascript:alert(1)", "data:text/html,x", "//evil.example", "http://", "https://[", "JaVaScRiPt:x"]
    rows = [an_event(key, detail_url=address) for key, address in enumerate(addresses, start=1)]
    await put(sqlite_system.store.database, events, *rows, an_event(50, detail_url="https://a.example/x"))
    for key in range(1, len(addresses) + 1):
        page = LexborHTMLParser((await sqlite_browser.page(f"/events/{key}")).text)
        assert "their page" not in [link.text() for link in page.css("a")]
    links = LexborHTMLParser((await sqlite_browser.page("/events/50")).text).css("a[rel]")
    assert [(link.attributes["href"], link.attributes["rel"]) for link in links] == [
        ("https://a.example/x", "noopener noreferrer nofollow ugc")
    ]


@pytest.mark.shows("A4")
async def test_what_a_reader_types_comes_back_as_text(sqlite_system: System, sqlite_browser: Browser) -> None:
    await furnish(sqlite_system)
    page = await sqlite_browser.page("/events?text=" + quote('"><script>alert(1)</script>'))
    scripts = LexborHTMLParser(page.text).css("script")
    assert all((each.attributes["src"] or "").startswith("/static/") and not each.text() for each in scripts)
    assert "alert(1)" in page.text


@pytest.mark.parametrize("name", ["a/b", "50 % off?", "../etc", "ünïcode", "#1"])
async def test_a_source_of_any_name_has_its_page(sqlite_system: System, sqlite_browser: Browser, name: str) -> None:
    await furnish(sqlite_system, name=name)
    listed = LexborHTMLParser((await sqlite_browser.page("/sources")).text)
    link = listed.css_first("tbody th a").attributes["href"] or ""
    answer = await sqlite_browser.page(link)
    assert answer.status == 200
    assert name in LexborHTMLParser(answer.text).css_first("h1").text()


@pytest.mark.shows("A2")
async def test_the_front_page_shows_health_sources_runs_events_and_letters(system: System, browser: Browser) -> None:
    await furnish(system)
    await open_breaker(system)
    text = LexborHTMLParser((await browser.page("/")).text).body.text(separator=" ")
    for words in ("Working, with worries", "1 breaker is open: Town hall", "Jazz", "De Zaal", "20:30", "Tue 3 Mar",
                  "its breaker is open until", "partial", "Dead letters"):  # fmt: skip
        assert words in text, words


async def test_an_empty_installation_has_a_front_page(sqlite_browser: Browser) -> None:
    page = await sqlite_browser.page("/")
    assert "No sources yet" in page.text
    assert "no worker is alive" in page.text


async def test_the_front_page_tells_what_happened_lately(system: System, deps: WebDeps, browser: Browser) -> None:
    await furnish(system)
    deps.recent.add(JobDead(NOON, 1, 1, 1, "a.example", Stage.FETCH, Failure.TIMED_OUT, "no answer"))
    page = LexborHTMLParser((await browser.page("/")).text)
    assert [each.text() for each in page.css(".lately li")] == ["dead letter Town hall: timeout 0 s ago"]


async def test_a_reader_leafs_through_events_by_links_alone(sqlite_system: System, sqlite_browser: Browser) -> None:
    await furnish(sqlite_system, titles=())
    rows = [an_event(key, f"Evening {key}", NOON + timedelta(hours=key)) for key in range(1, 121)]
    await put(sqlite_system.store.database, events, *rows)
    seen: list[str] = []
    path: str | None = "/events?text=evening"
    while path:
        page = LexborHTMLParser((await sqlite_browser.page(path)).text)
        seen += [link.text() for link in page.css("h3 a")]
        following = page.css_first("a[rel=next]")
        path = following.attributes["href"] if following else None
    assert seen == [f"Evening {key}" for key in range(1, 121)]


@pytest.mark.parametrize("path", ["/", "/health", "/metrics", "/api/v1/events", "/static/tidemill.css", "/nowhere"])
async def test_every_answer_carries_the_security_headers(sqlite_browser: Browser, path: str) -> None:
    answer = await sqlite_browser.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


async def test_a_bug_of_ours_says_nothing_of_its_inside(sqlite_system: System) -> None:
    async def broken() -> None:
        msg = "secret path /etc/tidemill"
        raise RuntimeError(msg)

    told: list[str] = []
    noted: dict[str, Any] = {"report_bug": lambda words, error: told.append(f"{words}: {error}")}
    async for browser in browsing(sqlite_system, require_current=broken, **noted):
        answer = await browser.get("/ready")
        assert (answer.status, answer.error["code"]) == (500, "bug")
        assert "secret" not in answer.text
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert told == ["the web app broke at /ready: secret path /etc/tidemill"]


async def test_a_page_elsewhere_cannot_reach_us_by_a_name_of_its_own(sqlite_browser: Browser) -> None:
    refused = await sqlite_browser.get("/api/v1/events", Host="rebound.example:8420")
    assert (refused.status, refused.error["code"]) == (421, "wrong_host")
    for name in ("localhost:8420", "127.0.0.1", "[::1]:8420"):
        assert (await sqlite_browser.get("/api/v1/events", Host=name)).status == 200


async def test_any_name_is_allowed_when_the_operator_says_so(sqlite_system: System) -> None:
    async for browser in browsing(sqlite_system, allowed_hosts=None):
        assert (await browser.get("/api/v1/events", Host="mill.example")).status == 200


async def test_a_person_is_told_of_a_mistake_on_a_page(sqlite_browser: Browser) -> None:
    answer = await sqlite_browser.page("/runs/999")
    assert answer.status == 404
    assert LexborHTMLParser(answer.text).css_first("h1").text() == "There is no run 999."
