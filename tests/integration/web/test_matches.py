"""Matches over HTTP: the machinery's routes under their own name."""

from datetime import timedelta

import pytest

from integration.web.conftest import Browser
from rig.streamed import TallyWriter
from rig.streaming import raw_stream
from tidemill.core.access.roles import TokenScope


@pytest.mark.shows("M5")
async def test_a_match_is_listed_read_and_streamed(sqlite_system, sqlite_browser):
    writer = TallyWriter(sqlite_system.store.database, sqlite_system.store.change_log, "matches")
    await writer.score("m1", 4)
    page = (await sqlite_browser.get("/api/v1/matches?status=live")).json()
    assert [each["id"] for each in page["items"]] == ["m1"]
    one = await sqlite_browser.get("/api/v1/matches/m1")
    assert (one.status, one.json()["score"], one.headers["X-Data-Age-Seconds"]) == (200, {"home": 4}, "0")
    changes = (await sqlite_browser.get("/api/v1/matches/m1/changes")).json()
    assert [each["seq"] for each in changes["items"]] == [1]
    url = f"{sqlite_browser.address}/api/v1/matches/m1/stream"
    async with sqlite_browser._session.get(url) as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        assert await response.content.readuntil(b"\n\n") == b"retry: 2000\n\n"
        assert b"event: snapshot" in await response.content.readuntil(b"\n\n")


async def test_a_head_of_a_stream_ends_at_once(sqlite_browser: Browser) -> None:
    url = f"{sqlite_browser.address}/api/v1/matches/stream?status=live"
    async with sqlite_browser._session.head(url) as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/event-stream")


@pytest.mark.shows("X8")
async def test_whose_token_is_revoked_is_told_goodbye_and_nobody_else(sqlite_system, sqlite_browser, clock):
    system = sqlite_system
    writer = TallyWriter(system.store.database, system.store.change_log, "matches")
    await writer.score("m1", 4, clock.now())
    one, other = [await system.actions.tokens.make(name, TokenScope.READ, "test") for name in ("one", "other")]
    url = f"{sqlite_browser.address}/api/v1/matches/m1/stream"
    async with (
        raw_stream(sqlite_browser._session, url, Authorization=f"Bearer {one.secret}") as sent_away,
        raw_stream(sqlite_browser._session, url, Authorization=f"Bearer {other.secret}") as staying,
    ):
        await sent_away.until("snapshot")
        await staying.until("snapshot")
        await system.actions.tokens.revoke(one.token.id, "test")
        clock.advance(timedelta(seconds=11))
        kind, data, _ = await sent_away.until("bye")
        assert (kind, data) == ("bye", {"reason": "token", "retry_ms": 2000})
        assert await sent_away.ended()
        await writer.score("m1", 5, clock.now())
        assert (await staying.until("delta"))[1]["seq"] == 2
