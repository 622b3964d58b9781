"""However our process ends, its browsers end with it: kill -9 too, with a driver that cannot clean up."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from rig.parent import TESTS
from rig.site import a_site
from tidemill.fetching.browsers.processes import ProcessWatch, process_of

pytestmark = pytest.mark.shows("F9")

CHILD = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[3])
from rig.chromium import Browsing
from tidemill.fetching.browsers.processes import command_line

async def main():
    own = Browsing(sys.argv[1])
    assert (await own.get(sys.argv[2], "p")).failure is None
    one = own.pool.state().browsers[0]
    profile = next(word for word in command_line(one.pid) if word.startswith("--user-data-dir="))
    print(json.dumps([one.pid, one.driver_pid, profile.removeprefix("--user-data-dir=")]), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
PATIENCE = 15


async def test_a_process_that_is_killed_takes_browser_and_driver_along_even_a_frozen_one(chromium: str):
    async with a_site() as site:
        site.page("/page", "<p>Dit is een gewone pagina met genoeg tekst om te lezen.</p>")
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, chromium, f"{site.origin}/page", str(TESTS), stdout=asyncio.subprocess.PIPE
        )
        assert child.stdout is not None
        browser, driver, profile = json.loads(await child.stdout.readline())
        os.kill(driver, signal.SIGSTOP)  # it notices nothing any more, and can close nothing
        orphans = [process_of(browser), process_of(driver)]
        watches = [ProcessWatch(orphan) for orphan in orphans if orphan is not None]
        assert len(watches) == len(orphans)
        child.kill()
        await child.wait()
        async with asyncio.timeout(PATIENCE):
            for watch in watches:
                await watch.ended.wait()
            while await asyncio.to_thread(Path(profile).exists):
                pass
