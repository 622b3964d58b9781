"""One Chromium with the driver that steers it: started, watched by their pids, closed or killed without a trace."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser, BrowserContext, Error, Playwright, async_playwright

from tidemill.core.recycling import Vitals
from tidemill.fetching.browsers.cleanup_shell import LastWill, leave_will
from tidemill.fetching.browsers.errors import BrowserLost
from tidemill.fetching.browsers.processes import (
    Process,
    ProcessWatch,
    children,
    everyone,
    in_session,
    kill,
    lives,
    memory_of,
    words_of,
)
from tidemill.pipeline.ports import Clock

FLAGS = (
    "--no-sandbox",  # in containers and as root there is none to be had; every socket goes through our gateway instead
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-remote-fonts",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nobody but the gateway looks up names
    "--blink-settings=imagesEnabled=false",
)
NOWHERE = "http://127.0.0.1:9"
"""The proxy of whatever belongs to no context: the port of the discard service, at which nobody listens."""
START_SECONDS = 30
CLOSE_SECONDS = 5
GONE_SECONDS = 5
_DRIVER = "run-driver"
_PROFILE = "--user-data-dir="

T = TypeVar("T")


class Chromium:
    """A running browser. Everything awaited from it ends when it dies: a killed driver never answers by itself."""

    def __init__(
        self, playwright: Playwright, browser: Browser, family: "Family", will: LastWill, started_at: datetime
    ) -> None:
        """Not for callers: see `start_chromium`."""
        self._playwright = playwright
        self._browser = browser
        self._will = will
        self._family = family
        self._watches = (ProcessWatch(family.browser), ProcessWatch(family.driver))
        self.started_at = self.last_used_at = started_at
        self.version = browser.version
        self.tasks = 0
        self.busy = 0

    @property
    def pid(self) -> int:
        """The browser's own process."""
        return self._family.browser.pid

    @property
    def driver_pid(self) -> int:
        """Its driver's process."""
        return self._family.driver.pid

    @property
    def is_lost(self) -> bool:
        """Whether the browser or its driver is known to be dead."""
        return any(watch.ended.is_set() for watch in self._watches)

    async def lost(self) -> None:
        """Return when the browser or its driver has died."""
        await self._lost(None)

    async def _lost(self, crashed: asyncio.Event | None) -> None:
        events = [watch.ended for watch in self._watches] + ([crashed] if crashed else [])
        waits = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def ask(self, question: Coroutine[Any, Any, T], crashed: asyncio.Event | None = None) -> T:
        """What the browser answers; raises BrowserLost when it dies before it does, or when the page has `crashed`."""
        asking = asyncio.ensure_future(question)
        dying = asyncio.ensure_future(self._lost(crashed))
        try:
            await asyncio.wait((asking, dying), return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                msg = "the browser died" if self.is_lost else "the page crashed"
                raise BrowserLost(msg)
            return asking.result()
        finally:
            await _put_away(asking, dying)

    async def new_context(self, proxy: str, user_agent: str) -> BrowserContext:
        """A context with nothing in it, whose every connection goes to `proxy`."""
        return await self.ask(
            self._browser.new_context(
                proxy={"server": proxy},
                user_agent=user_agent,
                service_workers="block",
                accept_downloads=False,
                viewport={"width": 1280, "height": 800},
            )
        )

    def vitals(self) -> Vitals:
        """How it stands; reads /proc."""
        members = self._family.members()
        return Vitals(
            started_at=self.started_at,
            last_used_at=self.last_used_at,
            tasks=self.tasks,
            busy=self.busy,
            memory_bytes=memory_of(member.pid for member in members),
            pids=len(members),
            browser_lives=not self._watches[0].ended.is_set(),
            driver_lives=not self._watches[1].ended.is_set(),
        )

    async def close(self, *, at_once: bool = False) -> bool:
        """End it, politely within a bounded time unless `at_once`; answers whether nothing of it is left."""
        if not at_once and not self.is_lost:
            await _within(CLOSE_SECONDS, self._browser.close())
        if self.is_lost or at_once:
            kill(self._family.of_browser())  # the driver, if it lives, sees to its remains before it goes too
        await _within(CLOSE_SECONDS, self._playwright.stop())
        is_gone = await self._family.is_gone(GONE_SECONDS)
        for watch in self._watches:
            watch.ended.set()
            watch.close()
        await self._will.revoke()
        await asyncio.to_thread(shutil.rmtree, self._family.profile, ignore_errors=True)
        return is_gone


class Family:
    """The processes of one browser: driver, Chromium, and all that Chromium started."""

    def __init__(self, driver: Process, browser: Process) -> None:
        """The driver is our child, the browser the driver's, and leads a session of its own."""
        self.driver = driver
        self.browser = browser
        words = words_of(browser.pid)
        self.profile = Path(next((word.removeprefix(_PROFILE) for word in words if word.startswith(_PROFILE)), ""))

    def members(self) -> list[Process]:
        """Who of it lives."""
        among = everyone()
        return [*in_session(self.browser, among), *(each for each in among if each == self.driver and lives(each))]

    def of_browser(self) -> list[Process]:
        """Who of the browser alone lives."""
        return in_session(self.browser, everyone())

    async def is_gone(self, seconds: float) -> bool:
        """Wait for the last of them to end, and kill whoever takes too long."""
        for member in self.members():
            watch = ProcessWatch(member)
            if not await _within(seconds, watch.ended.wait()):
                kill([member])
                await _within(1, watch.ended.wait())
            watch.close()
        return not self.members()


async def start_chromium(program: str, clock: Clock) -> Chromium:
    """Start a driver and a browser of its own; raises BrowserLost, with nothing left behind, when it cannot."""
    ours = {process.pid for process in children(os.getpid(), everyone())}
    playwright = await async_playwright().start()
    driver = _new_driver(ours)
    try:
        async with asyncio.timeout(START_SECONDS):
            browser = await playwright.chromium.launch(
                executable_path=program,
                args=list(FLAGS),
                proxy={"server": NOWHERE},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        main = children(driver.pid, everyone())
        family = Family(driver, main[0])
    except (Error, TimeoutError, IndexError) as error:
        kill([*children(driver.pid, everyone()), driver])
        await _within(CLOSE_SECONDS, playwright.stop())
        msg = f"{program} did not start: {str(error).strip().partition(chr(10))[0]}"
        raise BrowserLost(msg) from error
    will = await leave_will(driver.pid, family.browser.pid, family.profile)
    return Chromium(playwright, browser, family, will, clock.now())


def _new_driver(known: set[int]) -> Process:
    """The driver that was started just now: our child, and not one of those we had."""
    fresh = [child for child in children(os.getpid(), everyone()) if child.pid not in known]
    found = next((child for child in fresh if _DRIVER in words_of(child.pid)), None)
    if found is None:
        msg = "the driver died as it was started"
        raise BrowserLost(msg)
    return found


async def _within(seconds: float, deed: Awaitable[Any]) -> bool:
    """Do it, but wait no longer than this; a browser that is dying may answer with any error of Playwright's."""
    with suppress(Error, TimeoutError, ConnectionError):
        async with asyncio.timeout(seconds):
            await deed
            return True
    return False


async def _put_away(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel what is still under way and take note of how all of it ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
