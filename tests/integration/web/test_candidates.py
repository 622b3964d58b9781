"""Candidates over real HTTP: looked through, approved and rejected."""

import pytest

from integration.web.conftest import Browser
from rig.clock import NOON
from tidemill.bootstrap.system import System
from tidemill.core.discovery.candidates import Candidate, CandidateSample


async def found(system: System, count: int = 1) -> list[int]:
    """So many candidates; answers their numbers, the newest first."""
    urls = [f"https://site{number}.test/agenda" for number in range(count)]
    await system.store.candidates.put([
        Candidate(url=url, canonical_url=url, place="Arnhem", found_at=NOON, confidence=0.8, reasons=("10 events",),
                  samples=(CandidateSample("<b>Kermis</b>", "2026-04-04"),))
        for url in urls
    ])  # fmt: skip
    return [one.id for one in await system.discovery.listed()]


async def post(browser: Browser, path: str, **headers: str):
    async with browser._session.post(browser.address + path, headers=headers) as response:
        return response.status, await response.json()


@pytest.mark.shows("A1", "E5")
async def test_candidates_are_listed_page_by_page_with_their_reasons(
    sqlite_system: System, sqlite_browser: Browser
) -> None:
    numbers = await found(sqlite_system, 3)
    first = (await sqlite_browser.get("/api/v1/candidates?limit=2&status=pending&place=arnhem")).json()
    assert [one["id"] for one in first["items"]] == numbers[:2]
    rest = (await sqlite_browser.get(f"/api/v1/candidates?cursor={first['next']}")).json()
    assert [one["id"] for one in rest["items"]] == numbers[2:]
    one = (await sqlite_browser.get(f"/api/v1/candidates/{numbers[0]}")).json()
    assert (one["reasons"], one["samples"][0]["title"]) == (["10 events"], "<b>Kermis</b>")
    assert (await sqlite_browser.get("/api/v1/candidates/999999")).status == 404


@pytest.mark.shows("E5")
async def test_an_approved_candidate_is_a_source_that_is_off(sqlite_system: System, sqlite_browser: Browser) -> None:
    (number,) = await found(sqlite_system)
    status, told = await post(
        sqlite_browser, f"/api/v1/candidates/{number}/approve", **{"X-Acting-As": "somebody else"}
    )
    assert (status, told["status"], told["decided_by"]) == (200, "approved", "local")
    source = await sqlite_system.store.sources.find(told["source_id"])
    assert (source.name, source.enabled) == ("site0.test", False)
    status, again = await post(sqlite_browser, f"/api/v1/candidates/{number}/reject")
    assert status == 422
    assert "approved by local already" in again["detail"]


@pytest.mark.shows("A4")
async def test_another_sites_page_may_not_approve(sqlite_system: System, sqlite_browser: Browser) -> None:
    (number,) = await found(sqlite_system)
    status, _ = await post(sqlite_browser, f"/api/v1/candidates/{number}/approve", **{"Sec-Fetch-Site": "cross-site"})
    assert status == 403
    assert (await sqlite_system.discovery.find(number)).status == "pending"
