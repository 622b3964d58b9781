"""A process that is killed between sending and marking doubles one message at most, and the second copy says so."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from integration.web.world import tick_went_well
from rig.clock import NOON, SettableClock
from rig.hostile_crowd import free_port
from rig.rows import a_letter, a_source, a_target, put
from rig.watched import MINUTE, a_watched
from tidemill.bootstrap.system import build
from tidemill.core.alerts.outgoing import MAY_HAVE_COME
from tidemill.settings import Settings
from tidemill.store.database.database import open_database
from tidemill.store.schema import dead_letters, sources, targets

pytestmark = pytest.mark.shows("H7")

SENDER = """
import asyncio, sys
from datetime import timedelta
from tidemill.bootstrap.system import build
from tidemill.engine.clock import RealClock, wall_time
from tidemill.settings import load_settings

async def main(database, slack, minutes):
    settings = load_settings(database=database, slack_webhook=slack, allow_networks=["127.0.0.0/8"], reader_processes=0)
    clock = RealClock(wall=lambda: wall_time() + timedelta(minutes=minutes))
    system = build(settings, clock=clock)
    await system.alerts.evaluation.run()
    print(await system.alerts.sender.run(), flush=True)
    await system.close()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


class DeadlySlack:
    """Takes messages, and kills whoever sends the first one before it gets the answer."""

    def __init__(self) -> None:
        """Nobody has sent anything."""
        self.messages: list[dict[str, Any]] = []
        self.victim: asyncio.subprocess.Process | None = None

    async def take(self, request: web.Request) -> web.Response:
        """Take a message."""
        self.messages.append(await request.json())
        if self.victim is not None:
            os.kill(self.victim.pid, signal.SIGKILL)
            await self.victim.wait()
        return web.Response(text="ok")


@asynccontextmanager
async def deadly_slack() -> AsyncIterator[tuple[DeadlySlack, str]]:
    slack, app = DeadlySlack(), web.Application()
    app.router.add_post("/services/T/B/x", slack.take)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield slack, f"http://127.0.0.1:{port}/services/T/B/x"
    finally:
        await runner.cleanup()


async def sender(url: str, slack: str, minutes: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", SENDER, url, slack, str(minutes), stdout=asyncio.subprocess.PIPE
    )


async def test_a_sender_killed_between_sending_and_marking_doubles_one_message_and_says_so(
    migrated_sqlite_url: str,
) -> None:
    database = open_database(migrated_sqlite_url)
    await put(database, sources, a_source())
    await put(database, targets, a_target())
    await put(database, dead_letters, a_letter(1, error_type="dns_failed", error_message="no such name"))
    await database.close()
    async with deadly_slack() as (slack, address):
        slack.victim = await sender(migrated_sqlite_url, address, 0)
        assert await slack.victim.wait() == -signal.SIGKILL
        slack.victim = None
        for minutes, sent in ((0, b"0 sent\n"), (6, b"1 sent\n"), (12, b"0 sent\n")):
            heir = await sender(migrated_sqlite_url, address, minutes)
            said, _ = await heir.communicate()
            assert said == sent, minutes
        first, second = slack.messages
        assert first["text"] == second["text"]
        assert second["blocks"][-1]["text"]["text"] == MAY_HAVE_COME
        assert first["blocks"] == second["blocks"][:-1]


@pytest.mark.shows("B2")
async def test_a_process_whose_clock_is_an_hour_ahead_is_told_of(
    migrated_sqlite_url: str, clock: SettableClock
) -> None:
    database = open_database(migrated_sqlite_url)
    async with a_watched(database, clock) as watched:
        wrong = SettableClock(NOON + timedelta(hours=1))
        other = build(Settings(_env_prefix="TIDEMILL_UNUSED_", database=migrated_sqlite_url), clock=wrong)
        await watched.system.worker.sign_in()
        await other.worker.sign_in()
        for _ in range(4):
            await watched.system.worker.sign_in()
            await other.worker.sign_in()
            await watched.minutes(1)
            wrong.advance(MINUTE)
        await other.close()
        assert "clock_skew" in await watched.open()


@pytest.mark.shows("B2")
async def test_a_scheduler_that_did_not_start_is_noticed_by_silence_and_by_whoever_looks(
    migrated_sqlite_url: str, clock: SettableClock
) -> None:
    async with a_watched(open_database(migrated_sqlite_url), clock) as watched:
        ping = watched.system.alerts.deadman
        assert ping is not None
        assert await ping.run() == "pinged"
        await tick_went_well(watched.system, "dispatch", timedelta(0))
        clock.advance(timedelta(days=9))  # nobody does any periodic work, so nobody calls either
        assert watched.pinged.is_alarmed(clock.now())
        report = await watched.system.actions.status.report()
        assert any("of periodic work are silent" in words for words in report.overdue), report.overdue
        assert (await ping.run()).startswith("no ping: tick ")
        await watched.minutes(3)
        assert await watched.open() == ["tick_silent"]
        assert watched.slack.titles[0].startswith("P1 tick silent")
