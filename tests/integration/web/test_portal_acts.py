"""What an operator does in the portal without code: every list, every form, with and without the right to act."""

import re
from typing import Any

import aiohttp
import pytest

from integration.web.conftest import Browser
from integration.web.world import furnish
from rig.clock import NOON
from rig.rows import a_run, a_source, a_target, put
from tidemill.bootstrap.system import System
from tidemill.core.access.roles import TokenScope
from tidemill.store.schema import runs, sources, targets
from tidemill.web.portal.work import work_pages

from .conftest import deps_of

pytestmark = pytest.mark.shows("A2")


async def post(browser: Browser, path: str, **fields: Any) -> tuple[int, str, str]:
    async with browser._session.post(browser.address + path, data=fields, allow_redirects=False) as response:
        return response.status, response.headers.get("Location", ""), await response.text()


async def test_every_list_is_a_page_with_or_without_rows(browser: Browser, system: System) -> None:
    paths = [page.path for page in work_pages(deps_of(system))]
    for path in [*paths, "/work", "/people", "/add-source", "/import-targets", "/account"]:
        assert (await browser.page(path)).status == 200, path
    await furnish(system)
    for path in [*paths, "/work"]:
        answer = await browser.page(path)
        assert answer.status == 200, path
        assert re.findall(r'<script(?! src="/static/)', answer.text) == []
        rows = await browser.get(f"{path}/rows.csv")
        if path != "/work":
            assert (rows.status, rows.headers["Content-Type"]) == (200, "text/csv; charset=utf-8"), path


async def test_a_dead_letter_is_tried_again_and_another_discarded(browser: Browser, system: System) -> None:
    await furnish(system)
    page = await browser.page("/dead-letters")
    (key,) = set(re.findall(r"/dead-letters/(\d+)/retry", page.text))
    status, where, _ = await post(browser, f"/dead-letters/{key}/retry")
    assert (status, where.startswith("/dead-letters?done=")) == (303, True)
    assert (await system.actions.dead_letters.find(int(key))).letter.status == "retrying"
    status, _, text = await post(browser, f"/dead-letters/{key}/discard", notes="no")
    assert (status, "being retried" in text) == (422, True)


async def test_all_dead_letters_of_a_source_are_tried_again(browser: Browser, system: System) -> None:
    await furnish(system)
    status, where, _ = await post(browser, "/dead-letters/retry-all", source="Town hall")
    assert (status, "1+dead+letters" in where) == (303, True)


async def test_a_source_is_added_switched_off_and_on(browser: Browser, system: System) -> None:
    wanted = {"name": "Library", "url": "https://library.example/agenda", "vertical": "events", "city": "Haarlem"}
    status, where, text = await post(browser, "/add-source", **wanted)
    assert (status, where.partition("?")[0]) == (303, "/sources/Library"), text
    assert [each.url for each in await system.store.views.targets()] == ["https://library.example/agenda"]
    assert (await post(browser, "/sources/Library/disable", reason="holiday"))[0] == 303
    assert not (await system.actions.sources.find("Library")).enabled
    assert (await post(browser, "/sources/Library/enable"))[0] == 303
    assert (await system.actions.sources.find("Library")).enabled


async def test_a_source_that_cannot_be_is_told_why_and_what_was_typed_stays(browser: Browser) -> None:
    status, _, text = await post(browser, "/add-source", name="X", url="https://x.example/", vertical="evnts")
    assert (status, "events" in text, 'value="https://x.example/"' in text) == (422, True, True)


async def test_a_csv_with_bad_rows_keeps_the_good_ones_and_names_the_lines(browser: Browser, system: System) -> None:
    await furnish(system)
    rows = b"source,url\nTown hall,https://a.example/one\nNobody,https://a.example/two\nTown hall,not an address\n"
    form = aiohttp.FormData()
    form.add_field("file", rows, filename="targets.csv", content_type="text/csv")
    async with browser._session.post(browser.address + "/import-targets", data=form) as response:
        text = await response.text()
    assert "1 added" in text
    assert re.findall(r'<tr><td class="n">(\d+)</td>', text) == ["3", "4"]


async def test_a_target_is_paused_and_resumed(browser: Browser, system: System) -> None:
    await furnish(system)
    assert (await post(browser, "/targets/1/pause", reason="too slow"))[0] == 303
    assert (await system.actions.targets.find("1")).status == "PAUSED"
    assert (await post(browser, "/targets/1/resume"))[0] == 303
    assert (await system.actions.targets.find("1")).status == "ACTIVE"


async def test_a_viewer_sees_the_lists_and_no_buttons(browser: Browser, system: System) -> None:
    await furnish(system)
    viewer = await system.actions.tokens.make("viewer", TokenScope.READ, "test")
    answer = await browser.get("/dead-letters", Accept="text/html", Authorization=f"Bearer {viewer.secret}")
    assert (answer.status, '<form method="post"' in answer.text) == (200, False)
    headers = {"Authorization": f"Bearer {viewer.secret}"}
    async with browser._session.post(f"{browser.address}/dead-letters/1/retry", headers=headers) as response:
        assert response.status == 403


async def test_todays_work_counts_what_waits_and_says_when_nothing_does(browser: Browser, system: System) -> None:
    assert "There are no sources yet" in (await browser.page("/work")).text
    await furnish(system)
    assert re.search(r'Dead letters</a> <span class="badge warn">1</span>', (await browser.page("/work")).text)
    await system.actions.dead_letters.discard(1, "test")
    await system.actions.sources.disable("Town hall", "test")
    assert "every source is off" in (await browser.page("/work")).text


async def test_a_source_whose_first_run_is_under_way_is_no_work_yet(browser: Browser, system: System) -> None:
    await put(system.store.database, sources, a_source(name="Newcomer", last_scraped_at=NOON))
    await put(system.store.database, targets, a_target())
    assert "Sources without a record" not in (await browser.page("/work")).text
    empty = a_run(urls_attempted=1, urls_succeeded=1, completed_at=NOON, status="SUCCESS")
    await put(system.store.database, runs, empty)
    assert "Sources without a record" in (await browser.page("/work")).text


async def test_the_list_of_sources_is_searched_tagged_and_paused_many_at_once(browser: Browser, system: System) -> None:
    await furnish(system)
    page = await browser.page("/sources?text=town&state=on&order=most%20failures")
    assert page.status == 200
    assert "1 source" in page.text
    assert 'aria-label="Records a day, 14 days' in page.text
    assert "No source is like that" in (await browser.page("/sources?text=nowhere")).text
    status, where, _ = await post(browser, "/sources/bulk", deed="tag", new_tag="North", key="1", shown_text="town")
    assert (status, where) == (303, "/sources?text=town&done=1+source+got+the+tag+north.")
    status, _, text = await post(browser, "/sources/bulk", deed="disable", all="yes", shown_tag="north")
    assert (status, "Pause 1 source?" in text, "Town hall" in text) == (200, True, True)
    assert (await system.actions.sources.find("Town hall")).enabled, "it is asked first"
    await post(browser, "/sources/bulk", deed="disable", all="yes", shown_tag="north", confirmed="yes")
    assert not (await system.actions.sources.find("Town hall")).enabled
    status, where, _ = await post(browser, "/sources/bulk", deed="run", key="1")
    assert (status, "switched+off" in where) == (303, True)
    await post(browser, "/sources/bulk", deed="enable", key="1")
    assert (await system.actions.sources.find("Town hall")).enabled


@pytest.mark.parametrize("wrong", ["state=asleep", "order=size", "vertical=nothing", "sort=name", "after=x"])
async def test_a_filter_that_does_not_exist_is_told(browser: Browser, system: System, wrong: str) -> None:
    await furnish(system)
    assert (await browser.page(f"/sources?{wrong}")).status == 422


async def test_an_action_on_no_source_or_of_no_kind_is_told(browser: Browser) -> None:
    assert (await post(browser, "/sources/bulk", deed="run"))[0] == 422
    assert (await post(browser, "/sources/bulk", deed="explode", key="1"))[0] == 422
