"""Scripts of other sites: refused by default, and answered by the API alone where the operator named their origin."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from tidemill.bootstrap.system import System
from tidemill.core.access.roles import TokenScope
from tidemill.settings import BadSettings, load_settings

from .conftest import Browser, browsing, deps_of

pytestmark = pytest.mark.shows("A1", "A4")

DASHBOARD = "https://dashboard.example"
ASKS = {"Origin": DASHBOARD, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture
async def opened(sqlite_system: System) -> AsyncIterator[Browser]:
    async for browser in browsing(sqlite_system, replace(deps_of(sqlite_system), allowed_origins=(DASHBOARD,))):
        yield browser


async def answered(browser: Browser, method: str, path: str, headers: dict[str, str]) -> tuple[int, Any]:
    async with browser._session.request(method, browser.address + path, headers=headers) as response:
        await response.read()
        return response.status, response.headers


async def test_by_default_no_other_site_is_answered(sqlite_browser: Browser) -> None:
    _, headers = await answered(sqlite_browser, "GET", "/api/v1/events", {"Origin": DASHBOARD})
    assert "Access-Control-Allow-Origin" not in headers
    status, headers = await answered(sqlite_browser, "OPTIONS", "/api/v1/breakers/reset", ASKS)
    assert (status, "Access-Control-Allow-Origin" in headers) == (405, False)


async def test_a_named_origin_may_call_the_api_with_its_token(sqlite_system: System, opened: Browser) -> None:
    status, headers = await answered(opened, "OPTIONS", "/api/v1/breakers/reset", ASKS)
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, DASHBOARD)
    assert "Access-Control-Allow-Credentials" not in headers
    made = await sqlite_system.actions.tokens.make("dashboard", TokenScope.ACT, "test")
    sent = {"Origin": DASHBOARD, "Sec-Fetch-Site": "cross-site", "Authorization": f"Bearer {made.secret}"}
    status, headers = await answered(opened, "POST", "/api/v1/breakers/reset", sent)
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, DASHBOARD)
    assert "RateLimit-Remaining" in headers["Access-Control-Expose-Headers"]


async def test_nobody_acts_from_another_site_without_a_token(opened: Browser) -> None:
    sent = {"Origin": DASHBOARD, "Sec-Fetch-Site": "cross-site"}
    assert (await answered(opened, "POST", "/api/v1/breakers/reset", sent))[0] == 403


async def test_neither_another_origin_nor_the_portal_is_opened(opened: Browser) -> None:
    for path, origin in (("/api/v1/events", "https://evil.example"), ("/sources", DASHBOARD)):
        _, headers = await answered(opened, "GET", path, {"Origin": origin, "Accept": "text/html"})
        assert "Access-Control-Allow-Origin" not in headers, path


@pytest.mark.parametrize("origin", ["*", "dashboard.example", "https://a.example/path", "null"])
def test_what_is_no_origin_is_a_mistake(origin: str) -> None:
    with pytest.raises(BadSettings, match="web_allowed_origins"):
        load_settings(web_allowed_origins=[origin])
