"""One Chromium with its Playwright driver: started, watched by process ids, closed or killed without leftovers."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import Browser, BrowserContext, Error, Playwright, async_playwright

from tidemill.core.services.recycling import Vitals
from tidemill.fetching.browsers.cleanup_shell import CleanupShell, start_cleanup_shell
from tidemill.fetching.browsers.errors import BrowserLost
from tidemill.fetching.browsers.processes import (
    Process,
    ProcessWatch,
    all_processes,
    children,
    command_line,
    cpu_seconds_of,
    in_session,
    is_alive,
    kill,
    memory_of,
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
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # only the gateway looks up names
    "--blink-settings=imagesEnabled=false",
)
DEAD_PROXY = "http://127.0.0.1:9"
"""The proxy of what belongs to no context: the port of the discard service, where nothing listens."""
START_SECONDS = 30
CLOSE_SECONDS = 5
GONE_SECONDS = 5
_DRIVER = "run-driver"
_PROFILE = "--user-data-dir="

T = TypeVar("T")


class Chromium:
    """A running browser. Everything awaited from it ends when it dies: a killed driver never answers by itself."""

    def __init__(
        self,
        playwright: Playwright,
        browser: Browser,
        processes: "BrowserProcesses",
        cleanup: CleanupShell,
        started_at: datetime,
    ) -> None:
        """Made by `start_chromium`."""
        self._playwright = playwright
        self._browser = browser
        self._cleanup = cleanup
        self._processes = processes
        self._watches = (ProcessWatch(processes.browser), ProcessWatch(processes.driver))
        self.started_at = self.last_used_at = started_at
        self.version = browser.version
        self.tasks = 0
        self.busy = 0

    @property
    def pid(self) -> int:
        """The browser's process id."""
        return self._processes.browser.pid

    @property
    def driver_pid(self) -> int:
        """The driver's process id."""
        return self._processes.driver.pid

    @property
    def is_lost(self) -> bool:
        """Whether the browser or its driver is known to be dead."""
        return any(watch.ended.is_set() for watch in self._watches)

    async def wait_until_lost(self) -> None:
        """Wait until the browser or its driver has died."""
        await self._wait_for_loss(None)

    async def _wait_for_loss(self, crashed: asyncio.Event | None) -> None:
        events = [watch.ended for watch in self._watches] + ([crashed] if crashed else [])
        waits = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def wait_for(self, reply: Coroutine[Any, Any, T], crashed: asyncio.Event | None = None) -> T:
        """Wait for the browser's reply; raise BrowserLost when it dies first, or when the page has `crashed`."""
        replying = asyncio.ensure_future(reply)
        dying = asyncio.ensure_future(self._wait_for_loss(crashed))
        try:
            await asyncio.wait((replying, dying), return_when=asyncio.FIRST_COMPLETED)
            if not replying.done():
                msg = "the browser died" if self.is_lost else "the page crashed"
                raise BrowserLost(msg)
            return replying.result()
        finally:
            await _cancel_all(replying, dying)

    async def new_context(self, proxy: str, user_agent: str) -> BrowserContext:
        """Open an empty context whose every connection goes to `proxy`."""
        return await self.wait_for(
            self._browser.new_context(
                proxy={"server": proxy},
                user_agent=user_agent,
                service_workers="block",
                accept_downloads=False,
                viewport={"width": 1280, "height": 800},
            )
        )

    def vitals(self) -> Vitals:
        """Return its age, use, memory and processes; reads /proc."""
        alive = self._processes.alive()
        return Vitals(
            started_at=self.started_at,
            last_used_at=self.last_used_at,
            tasks=self.tasks,
            busy=self.busy,
            memory_bytes=memory_of(member.pid for member in alive),
            cpu_seconds=cpu_seconds_of(member.pid for member in alive),
            pids=len(alive),
            browser_lives=not self._watches[0].ended.is_set(),
            driver_lives=not self._watches[1].ended.is_set(),
        )

    async def close(self, *, at_once: bool = False) -> bool:
        """Close it within a bounded time, or kill it if `at_once`; return whether nothing of it is left."""
        if not at_once and not self.is_lost:
            await _done_within(CLOSE_SECONDS, self._browser.close())
        if self.is_lost or at_once:
            kill(self._processes.without_driver())  # the driver, if it is alive, cleans up after it
        await _done_within(CLOSE_SECONDS, self._playwright.stop())
        is_gone = await self._processes.wait_until_gone(GONE_SECONDS)
        for watch in self._watches:
            watch.ended.set()
            watch.close()
        await self._cleanup.dismiss()
        await asyncio.to_thread(shutil.rmtree, self._processes.profile, ignore_errors=True)
        return is_gone


class BrowserProcesses:
    """The processes of one browser: driver, Chromium, and all that Chromium started."""

    def __init__(self, driver: Process, browser: Process) -> None:
        """The driver is our child; the browser is the driver's child and leads a session of its own."""
        self.driver = driver
        self.browser = browser
        arguments = command_line(browser.pid)
        self.profile = Path(next((each.removeprefix(_PROFILE) for each in arguments if each.startswith(_PROFILE)), ""))

    def alive(self) -> list[Process]:
        """Return those that are alive."""
        among = all_processes()
        return [*in_session(self.browser, among), *(each for each in among if each == self.driver and is_alive(each))]

    def without_driver(self) -> list[Process]:
        """Return the browser's own processes that are alive."""
        return in_session(self.browser, all_processes())

    async def wait_until_gone(self, seconds: float) -> bool:
        """Wait for the last of them to end, kill those that take too long, and return whether none is left."""
        for member in self.alive():
            watch = ProcessWatch(member)
            if not await _done_within(seconds, watch.ended.wait()):
                kill([member])
                await _done_within(1, watch.ended.wait())
            watch.close()
        return not self.alive()


async def start_chromium(program: str, clock: Clock) -> Chromium:
    """Start a driver and its browser; raise BrowserLost, with nothing left behind, when that fails."""
    already_running = {process.pid for process in children(os.getpid(), all_processes())}
    playwright = await async_playwright().start()
    driver = _new_driver(already_running)
    try:
        async with asyncio.timeout(START_SECONDS):
            browser = await playwright.chromium.launch(
                executable_path=program,
                args=list(FLAGS),
                proxy={"server": DEAD_PROXY},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        main = children(driver.pid, all_processes())
        processes = BrowserProcesses(driver, main[0])
    except (Error, TimeoutError, IndexError) as error:
        kill([*children(driver.pid, all_processes()), driver])
        await _done_within(CLOSE_SECONDS, playwright.stop())
        msg = f"{program} did not start: {str(error).strip().partition(chr(10))[0]}"
        raise BrowserLost(msg) from error
    cleanup = await start_cleanup_shell(driver.pid, processes.browser.pid, processes.profile)
    return Chromium(playwright, browser, processes, cleanup, clock.now())


def _new_driver(known: set[int]) -> Process:
    """Return the driver that was just started: our only new child that is one."""
    fresh = [child for child in children(os.getpid(), all_processes()) if child.pid not in known]
    found = next((child for child in fresh if _DRIVER in command_line(child.pid)), None)
    if found is None:
        msg = "the driver died as it was started"
        raise BrowserLost(msg)
    return found


async def _done_within(seconds: float, awaitable: Awaitable[Any]) -> bool:
    """Await it for so long at most and return whether it ended; a dying browser may raise any Playwright error."""
    with suppress(Error, TimeoutError, ConnectionError):
        async with asyncio.timeout(seconds):
            await awaitable
            return True
    return False


async def _cancel_all(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel what is still running and retrieve how all of it ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
