"""Incidents in the portal and over the API: seen, explained, and acted on."""

from typing import Any

import msgspec
import pytest

from integration.web.conftest import Browser, browsing
from rig.clock import NOON, SettableClock
from rig.rows import put
from tidemill.bootstrap.system import System, build
from tidemill.core.alerts.table import RULES
from tidemill.settings import load_settings
from tidemill.store.schema import incidents

pytestmark = pytest.mark.shows("H7")

ROW = {"id": 7, "alert": "disk_full", "severity": "P1", "cause": "ourselves", "detail": "<b>0.05 GB</b> free",
       "opened_at": NOON, "last_seen_at": NOON}  # fmt: skip


async def post(browser: Browser, path: str, **kind: Any) -> tuple[int, str]:
    async with browser._session.post(browser.address + path, allow_redirects=False, **kind) as response:
        return response.status, response.headers.get("Location", "") or await response.text()


async def test_an_incident_is_shown_explained_and_acted_on(sqlite_browser: Browser, sqlite_system: System) -> None:
    await put(sqlite_system.store.database, incidents, ROW)
    assert "/incidents/7" in (await sqlite_browser.page("/incidents")).text
    page = await sqlite_browser.page("/incidents/7")
    assert page.status == 200
    for words in ("docs/runbooks/disk-full.md", "Free space now", "&lt;b&gt;0.05 GB&lt;/b&gt;", "/incidents/7/snooze"):
        assert words in page.text
    status, where = await post(sqlite_browser, "/incidents/7/acknowledge", data={"note": "on it"})
    assert (status, where.startswith("/incidents?done=")) == (303, True)
    status, _ = await post(sqlite_browser, "/api/v1/incidents/7/snooze", json={"minutes": 60})
    assert status == 200
    assert (await post(sqlite_browser, "/api/v1/incidents/7/snooze", json={"minutes": 0}))[0] == 422
    detail = msgspec.json.decode((await sqlite_browser.get("/api/v1/incidents/7")).body)
    assert [note["action"] for note in detail["notes"]] == ["acknowledged", "snoozed"]
    status, _ = await post(sqlite_browser, "/api/v1/incidents/7/close", json={"note": "mended"})
    assert status == 200
    assert (await sqlite_browser.get("/api/v1/incidents/8")).status == 404


async def test_a_test_message_without_a_channel_says_what_to_set(sqlite_browser: Browser) -> None:
    status, words = await post(sqlite_browser, "/api/v1/alerts/test", json={})
    assert status == 422
    assert "slack_webhook" in words


async def test_every_alert_is_listed_and_nobody_is_told_without_a_channel(
    sqlite_browser: Browser, sqlite_system: System
) -> None:
    await put(sqlite_system.store.database, incidents, ROW)
    rules = (await sqlite_browser.get("/api/v1/alerts/rules")).json()["items"]
    assert {each["alert"] for each in rules} == {rule.name.value for rule in RULES}
    assert {each["alert"]: each["open"] for each in rules if each["open"]} == {"disk_full": 1}
    assert all(each["told_by"] == [] for each in rules)
    page = (await sqlite_browser.page("/alerts")).text
    assert "Nobody is told" in page
    assert all(rule.condition.partition("'")[0] in page for rule in RULES)


async def test_an_alert_names_the_channels_that_its_urgency_goes_to(
    migrated_sqlite_url: str, clock: SettableClock
) -> None:
    settings = load_settings(
        database=migrated_sqlite_url,
        alert_webhook_url="https://me.example/secret-path",
        alert_webhook_secret="s" * 32,
        alert_routes={"webhook": {"severities": ["P1"]}},
        alert_quiet_hours="22:00-07:00",
    )
    system = build(settings, clock=clock)
    async for browser in browsing(system):
        rules = (await browser.get("/api/v1/alerts/rules")).json()["items"]
        assert {(each["severity"], tuple(each["told_by"])) for each in rules} == {
            ("P1", ("webhook",)), ("P2", ()), ("P3", ()),
        }  # fmt: skip
        page = (await browser.page("/alerts")).text
        assert "22:00-07:00" in page
        assert 'action="/incidents/send-test"' in page
        assert "secret-path" not in page
    await system.close()
