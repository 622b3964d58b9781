"""Stored pages, webhooks, health, settings and the API as pages for people, on both databases."""

import re
from pathlib import Path

import pytest

from integration.web.conftest import Browser, browsing
from integration.web.test_portal_acts import post
from integration.web.world import furnish
from rig.town import a_town
from tidemill.bootstrap.system import System
from tidemill.web.portal.renderer import MORE
from tidemill.web.portal.stored_pages import FRAME_POLICY

pytestmark = pytest.mark.shows("A2", "X11")

AGENDA = """<title>Agenda</title><ul>{}</ul>"""
LINE = (
    '<li class="event"><h3>{0} night</h3><time datetime="2026-04-0{1}T20:00">x</time><i class="zaal">{0} hall</i></li>'
)


def agenda(*names: str) -> str:
    return AGENDA.format("".join(LINE.format(name, number) for number, name in enumerate(names, start=1)))


async def test_every_page_of_the_menu_is_there(browser: Browser, system: System) -> None:
    await furnish(system)
    for _, links in MORE:
        for link in links:
            answer = await browser.page(link.path)
            assert answer.status == 200, link.path
            assert answer.headers["Content-Type"].startswith("text/html"), link.path


async def test_what_the_footer_names_are_pages_for_people(browser: Browser) -> None:
    home = await browser.page("/")
    for path in re.findall(r'href="([^"]+)"', home.text.partition("<footer>")[2]):
        assert (await browser.page(path)).headers["Content-Type"].startswith("text/html"), path


async def test_a_stored_page_is_marked_compared_and_mended(migrated_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_url, tmp_path) as town:
        town.site.page("/agenda", agenda("Jazz", "Film", "Dance"))
        await town.add_source("Town hall")
        await town.scrape()
        await town.next_day()
        town.site.page("/agenda", agenda("Jazz", "Film", "Opera"))
        await town.scrape()
        newest, oldest = await town.system.store.views.pages()
        async for browser in browsing(town.system):
            page = await browser.page(f"/pages/{oldest.id}")
            assert page.status == 200
            assert "Film night" in page.text
            assert "in the block it was read from" in page.text
            assert 'sandbox="allow-top-navigation-by-user-activation"' in page.text
            frame = await browser.page(f"/pages/{newest.id}/frame")
            assert frame.headers["Content-Security-Policy"] == FRAME_POLICY
            assert frame.headers["X-Frame-Options"] == "SAMEORIGIN"
            (element,) = set(re.findall(r'pick\?element=(\d+)"[^>]*>Opera hall', frame.text))
            tried = await browser.page(f"/pages/{newest.id}/pick?element={element}&field=place&way=i.zaal")
            assert "Jazz hall · Film hall · Opera hall" in tried.text
            wrong = await browser.page(f"/pages/{newest.id}/pick?field=colour&own=i.zaal&item=li.event")
            assert (wrong.status, "colour" in wrong.text) == (422, True)
            chosen = {"field": "place", "way": "i.zaal", "item": "li.event"}
            status, where, _ = await post(browser, f"/pages/{newest.id}/pick", save="proposal", **chosen)
            assert (status, where.startswith("/proposals?")) == (303, True)
            status, _, text = await post(browser, f"/pages/{newest.id}/pick", save="proposal", **chosen)
            assert (status, "has a proposal already" in text) == (422, True)
            status, _, _ = await post(browser, f"/pages/{newest.id}/pick", save="settings", **chosen)
            assert status == 303
            assert (await browser.page("/pages/999999")).status == 404
        await town.system.ticks.chores["gate_changes"].run()  # kept pages are read by the new selectors first
        for held in await town.system.actions.replays.every(waiting=True):
            await town.system.actions.replays.accept(held.id, "test")
        source = await town.system.actions.sources.find("Town hall")
        assert source.adapter_settings["selectors"] == {"place": "i.zaal", "item": "li.event"}
        deeds = [each.entry.action for each in await town.system.store.audit.latest()]
        assert {"proposal.made", "source.selectors"} <= set(deeds)


@pytest.mark.shows("S1", "S2")
async def test_an_address_is_looked_at_before_it_is_saved(migrated_url: str, tmp_path: Path) -> None:
    async with a_town(migrated_url, tmp_path) as town:
        town.site.page("/agenda", agenda("Jazz", "Film", "Dance"))
        async for browser in browsing(town.system):
            status, _, text = await post(browser, "/try-source", url=f"{town.site.origin}/agenda", city="Arnhem")
            assert (status, "3 events" in text, "Jazz night" in text) == (200, True, True)
            status, _, text = await post(browser, "/try-source", url=f"{town.site.origin}/nothing")
            assert (status, "cannot be had" in text) == (422, True)
            status, _, text = await post(browser, "/try-source", url="not an address")
            assert status == 422
            given = {"name": "Town", "url": f"{town.site.origin}/agenda", "vertical": "events", "pace": "2,5"}
            status, where, text = await post(browser, "/add-source", **given, tags="north Trial", terms="yes")
            assert (status, where.partition("?")[0]) == (303, "/sources/Town"), text
        assert await town.system.store.views.pages() == [], "looking keeps nothing"
        source = await town.system.actions.sources.find("Town")
        assert source.tags == ("north", "trial")
        assert source.pace is not None
        assert source.pace.interval.total_seconds() == 2.5
        assert source.tos_approved_by is not None


async def test_a_webhook_is_added_paused_and_removed(browser: Browser) -> None:
    assert "Nobody is told" in (await browser.page("/webhooks")).text
    status, _, text = await post(browser, "/webhooks", name="mine", url="https://a.example/in", feed="events")
    assert (status, "shown once" in text) == (201, True), text
    assert (await post(browser, "/webhooks/mine/switch"))[0] == 303
    assert "paused" in (await browser.page("/webhooks")).text
    status, _, text = await post(browser, "/webhooks/mine/rotate")
    assert (status, "shown once" in text) == (201, True)
    assert (await post(browser, "/webhooks/mine/remove"))[0] == 303
    status, _, text = await post(browser, "/webhooks", name="mine", url="https://127.0.0.1/in", feed="events")
    assert status == 422


async def test_a_targets_schedule_and_priority_are_changed_on_its_sources_page(
    browser: Browser, system: System
) -> None:
    await furnish(system)
    (target,) = await system.store.views.targets()
    path = f"/sources/Town%20hall/targets/{target.id}"
    status, where, _ = await post(browser, path, schedule="every 2h", priority="7")
    assert (status, "every+2h" in where) == (303, True)
    changed = await system.actions.targets.find(str(target.id))
    assert (changed.schedule, changed.priority) == ("every 2h", 7)
    for wrong in ({"schedule": "whenever"}, {"priority": "high"}, {"priority": "99999"}):
        assert (await post(browser, path, **wrong))[0] == 422
    await post(browser, path, schedule="", priority="")
    assert (await system.actions.targets.find(str(target.id))).schedule is None


async def test_a_source_is_removed_only_by_its_name(browser: Browser, system: System) -> None:
    await furnish(system)
    assert (await post(browser, "/sources/Town%20hall/remove", typed="town"))[0] == 422
    status, where, _ = await post(browser, "/sources/Town%20hall/remove", typed="Town hall")
    assert (status, where.startswith("/sources?done=")) == (303, True)
    assert await system.store.views.sources(system.clock.now()) == []


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "/\\evil", "javascript:alert(1)", "/a?b=c"])
async def test_a_form_leads_back_to_our_own_pages_only(browser: Browser, system: System, back: str) -> None:
    await furnish(system)
    _, where, _ = await post(browser, "/dead-letters/1/retry", back=back)
    assert where.startswith("/dead-letters?done=")
