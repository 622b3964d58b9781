"""What a person sees of services and suggestions, and decides: over HTTP and on the command line alike."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from msgspec import json
from sqlalchemy import select

from integration.web.conftest import Browser, browsing
from tidemill.bootstrap.web import Telemetry, web_deps
from tidemill.lab.standins.talk import StandinFault
from tidemill.store.schema import audit_log

FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\ngo away"


@pytest.fixture
async def browser(plant) -> AsyncIterator[Browser]:
    telemetry = Telemetry(lambda words, error: pytest.fail(f"{words}: {error!r}"))
    async for each in browsing(plant.system, web_deps(plant.system, telemetry, "127.0.0.1")):
        yield each


@pytest.fixture
async def refused(plant) -> int:
    """A source whose page was paid for."""
    source = await plant.agenda_source("Town hall")
    plant.site.says("/agenda/0", FORBIDDEN)
    await plant.scrape(source)
    return source


async def post(browser: Browser, path: str, **headers: str) -> tuple[int, dict[str, Any]]:
    async with aiohttp.ClientSession() as session, session.post(browser.address + path, headers=headers) as answer:
        return answer.status, json.decode(await answer.read())


@pytest.mark.shows("F2")
async def test_a_suggestion_is_listed_shown_accepted_and_audited(plant, browser, refused):
    assert refused
    (listed,) = (await browser.get("/api/v1/upgrades")).json()["items"]
    assert (listed["source_name"], listed["fetcher"], listed["status"]) == ("Town hall", "scrapingbee", "pending")
    assert "accept-upgrade Town hall" in (await browser.page("/sources/Town%20hall")).text
    status, decided = await post(browser, "/api/v1/upgrades/Town%20hall/accept", **{"X-Acting-As": "somebody else"})
    assert (status, decided["status"], decided["decided_by"]) == (200, "accepted", "local")
    status, trouble = await post(browser, "/api/v1/upgrades/Town%20hall/accept")
    assert (status, "accepted already" in trouble["detail"]) == (422, True)
    async with plant.system.store.database.read() as connection:
        entries = (await connection.execute(select(audit_log.c.action, audit_log.c.actor))).all()
    assert ("source.upgrade.accepted", "local") in [tuple(entry) for entry in entries]


async def test_a_dismissed_suggestion_is_shown_no_more(browser, refused):
    assert refused
    assert (await post(browser, "/api/v1/upgrades/Town%20hall/dismiss"))[0] == 200
    assert "accept-upgrade" not in (await browser.page("/sources/Town%20hall")).text


@pytest.mark.shows("A4")
async def test_another_sites_page_may_not_accept(browser, refused):
    assert refused
    status, _ = await post(browser, "/api/v1/upgrades/Town%20hall/accept", **{"Sec-Fetch-Site": "cross-site"})
    assert status == 403


@pytest.mark.shows("R3")
async def test_a_degraded_run_says_so_on_every_page(plant, browser, refused):
    plant.bee.fault = StandinFault.OUT_OF_QUOTA
    run = await plant.scrape(refused)
    told = (await browser.get(f"/api/v1/runs/{run['id']}")).json()["run"]
    assert told["degraded"] == ["scrapingbee"]
    assert "had to do without" in (await browser.page(f"/runs/{run['id']}")).text
    assert "without scrapingbee" in (await browser.page("/runs")).text
    assert "scrapingbee is degraded" in (await browser.page("/")).text
    services = {each["service"]: each["state"] for each in (await browser.get("/api/v1/services")).json()["items"]}
    assert (services["scrapingbee"], services["llm"], services["apify"]) == ("degraded", "off", "works")
    assert "scrapingbee" in str((await browser.get("/status")).json()["reasons"])
    metrics = (await browser.get("/metrics")).text
    assert 'scraper_service_degraded{service="scrapingbee"} 1.0' in metrics
    assert 'scraper_service_degraded{service="apify"} 0.0' in metrics
    why = (await browser.get(f"/api/v1/why/run:{run['id']}")).json()
    assert "service:scrapingbee" in str(why["steps"])
