from datetime import timedelta
from typing import Any

import pytest

from integration.web.conftest import Browser
from integration.web.world import an_event, furnish
from rig.clock import NOON
from rig.rows import a_run, a_source, put
from tidemill.bootstrap.system import System
from tidemill.store.schema import runs, sources
from tidemill.verticals.events.store.tables import events


async def walk(browser: Browser, path: str) -> list[Any]:
    """Every item of a list, page by page."""
    found: list[Any] = []
    cursor = ""
    while True:
        page = (await browser.get(f"{path}{cursor}")).json()
        found += page["items"]
        if page["next"] is None:
            return found
        cursor = f"&cursor={page['next']}"


@pytest.mark.shows("A1")
async def test_paging_covers_every_event_exactly_once(system: System, browser: Browser) -> None:
    await furnish(system, titles=())
    dates = [NOON + timedelta(days=key // 4) for key in range(50)]
    await put(system.store.database, events, *(an_event(99 - key, date=date) for key, date in enumerate(dates)))
    for limit in (1, 7, 49, 50, 51):
        found = await walk(browser, f"/api/v1/events?limit={limit}")
        assert sorted(event["id"] for event in found) == list(range(50, 100))
        assert [event["event_date"] for event in found] == sorted(event["event_date"] for event in found)


@pytest.mark.shows("A1")
async def test_paging_covers_every_run_exactly_once(system: System, browser: Browser) -> None:
    await furnish(system)
    await put(system.store.database, runs, *(a_run(key) for key in range(2, 24)))
    assert [run["id"] for run in await walk(browser, "/api/v1/runs?limit=5")] == list(range(23, 0, -1))


async def test_events_are_found_by_words_category_source_and_day(system: System, browser: Browser) -> None:
    await furnish(system, titles=("Jazz", "Film"))
    await put(system.store.database, sources, a_source(2, name="Other"))
    await put(system.store.database, events, an_event(10, "100 % Jazz", source_id=2, category="family"))

    async def titles(query: str) -> list[str]:
        return [event["title"] for event in (await browser.get(f"/api/v1/events?{query}")).json()["items"]]

    assert await titles("") == ["Jazz", "100 % Jazz", "Film"]
    assert await titles("text=jazz") == ["Jazz", "100 % Jazz"]
    assert await titles("text=%25") == ["100 % Jazz"]
    assert await titles("text=100 jaz".replace(" ", "%20")) == ["100 % Jazz"]
    assert await titles("category=family") == ["100 % Jazz"]
    assert await titles("source=Other") == ["100 % Jazz"]
    assert await titles("date_from=2026-03-04") == ["Film"]
    assert await titles("date_to=2026-03-03") == ["Jazz", "100 % Jazz"]
    assert await titles("text=opera") == []


async def test_an_event_shows_its_record_and_where_it_came_from(system: System, browser: Browser) -> None:
    await furnish(system)
    found = (await browser.get("/api/v1/events/1")).json()
    assert found["event"]["title"] == "Jazz"
    assert found["event"]["record"]["structured_date"]["time_zone"] == "Europe/Amsterdam"
    assert found["history"] == []


async def test_sources_and_runs_are_shown_in_full(system: System, browser: Browser) -> None:
    await furnish(system)
    listed = (await browser.get("/api/v1/sources")).json()["items"]
    assert [source["name"] for source in listed] == ["Town hall"]
    by_name = (await browser.get("/api/v1/sources/Town%20hall")).json()
    assert by_name == (await browser.get("/api/v1/sources/1")).json()
    assert by_name["letters"] == {"pending": 1}
    run = (await browser.get("/api/v1/runs/1")).json()
    assert run["failures"] == {"timeout": 1}
    assert (await browser.get("/api/v1/runs?source=Town%20hall")).json()["items"][0]["id"] == 1
    assert (await browser.get("/api/v1/runs?status=SUCCESS")).json()["items"] == []


@pytest.mark.shows("X7")
async def test_why_answers_as_the_command_line_does(system: System, browser: Browser) -> None:
    await furnish(system)
    found = (await browser.get("/api/v1/why/source:Town%20hall")).json()
    assert found["verdict"]
    assert {step["gate"] for step in found["steps"]} >= {"breaker", "schedule"}


BAD_QUESTIONS = {
    "/api/v1/runs/999": (404, "not_found"),
    "/api/v1/events/999": (404, "not_found"),
    "/api/v1/sources/nobody": (404, "not_found"),
    "/api/v1/sources/99999999999999999999999": (404, "not_found"),
    "/api/v1/runs?source=nobody": (404, "not_found"),
    "/api/v1/why/source:nobody": (404, "not_found"),
    "/api/v1/why/nonsense": (422, "bad_parameter"),
    "/api/v2/events": (404, "not_found"),
    "/api/v1/runs/seven": (422, "bad_parameter"),
    "/api/v1/runs/99999999999999999999999": (422, "bad_parameter"),
    "/api/v1/events?limit=0": (422, "bad_parameter"),
    "/api/v1/events?limit=1000000": (422, "bad_parameter"),
    "/api/v1/events?date_from=tomorrow": (422, "bad_parameter"),
    "/api/v1/events?text=%00": (422, "bad_parameter"),
    "/api/v1/sources/%00": (422, "bad_parameter"),
    "/api/v1/events?text=" + "x" * 201: (422, "bad_parameter"),
    "/api/v1/events?cursor=nowhere": (422, "bad_parameter"),
    "/api/v1/events?cursor=1.99999999999999999999999": (422, "bad_parameter"),
    "/api/v1/events?cursor=99999999999999999999999.1": (422, "bad_parameter"),
    "/api/v1/runs?cursor=%E0%A5%A7": (422, "bad_parameter"),
}


@pytest.mark.shows("A1")
async def test_a_bad_question_gets_a_clear_answer(browser: Browser) -> None:
    answers = {path: await browser.get(path) for path in BAD_QUESTIONS}
    assert {path: (answer.status, answer.error["code"]) for path, answer in answers.items()} == BAD_QUESTIONS
    assert all(answer.error["detail"] for answer in answers.values())


async def test_only_reading_is_allowed(sqlite_browser: Browser) -> None:
    async with sqlite_browser._session.post(f"{sqlite_browser.address}/api/v1/events") as response:
        assert response.status == 405
        assert (await response.json())["code"] == "wrong_method"
        assert response.headers["Allow"] == "GET"


@pytest.mark.shows("A1")
async def test_the_description_covers_every_address_with_its_answer(sqlite_browser: Browser) -> None:
    document = (await sqlite_browser.get("/api/v1/openapi.json")).json()
    assert document["info"]["version"] == "0.1.0"
    assert {"/api/v1/events", "/api/v1/runs/{run_id}", "/health"} <= set(document["paths"])
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            well = [answer for status, answer in described["responses"].items() if status.startswith("2")]
            assert well, (method, path)
            assert all(answer.get("content") for answer in well if path.startswith("/api/")), (method, path)
    assert unresolved(document, document) == []


def unresolved(part: Any, document: dict[str, Any]) -> list[str]:
    """References that lead nowhere."""
    match part:
        case {"$ref": str(reference)}:
            name = reference.removeprefix("#/components/schemas/")
            return [] if name in document["components"]["schemas"] else [reference]
        case dict():
            return [each for value in part.values() for each in unresolved(value, document)]
        case list():
            return [each for value in part for each in unresolved(value, document)]
        case _:
            return []
