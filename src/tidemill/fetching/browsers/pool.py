"""The browser pool: contexts to borrow, limited per host and in all, from a browser that is replaced in time."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from tidemill.core.audit import AuditEntry
from tidemill.core.health.contexts import NO_USAGE, ContextUsage
from tidemill.core.services.recycling import PoolLimits, Recycle, RecycleReason, RecycleRules, Vitals, recycle_decision
from tidemill.core.views.browsers import BrowserState, PoolState
from tidemill.fetching.browsers.chromium import Chromium
from tidemill.fetching.browsers.errors import BrowserLost, NoBrowser
from tidemill.fetching.browsers.gateway import Gateway
from tidemill.fetching.browsers.repository import PoolRepository
from tidemill.fetching.browsers.tab import Tab, open_tab
from tidemill.pipeline.ports import Clock, OpenPage, StoreError

DRAIN_LIMIT = timedelta(minutes=2)
"""A browser that is being replaced may finish its pages for so long; then it is closed anyway."""
ACTOR = "browser pool"
MOST_FETCHES_PER_CONTEXT = 50
"""Fetches after which a context is discarded, even if nothing is wrong with it."""
MOST_READINGS_OF_OPEN_PAGE = 2_000
"""Readings after which a page that is kept open is loaded anew: an hour and a half of polls."""
OPEN_PAGE_UNUSED = timedelta(minutes=2)
"""An open page that nobody has read for so long is closed."""

Start = Callable[[], Awaitable[Chromium]]
Audit = Callable[[AuditEntry], Awaitable[None]]


class BrowserPool:
    """Lends contexts to fetches, and starts, watches and replaces the browsers behind them."""

    def __init__(
        self,
        start: Start,
        make_gateway: Callable[[], Gateway],
        clock: Clock,
        audit: Audit,
        *,
        user_agent: str,
        repository: PoolRepository | None = None,
        rules: RecycleRules | None = None,
        limits: PoolLimits | None = None,
    ) -> None:
        """`start` starts a browser; every context gets a gateway of its own; every recycle goes to `audit`.

        In `repository` other processes see this pool's state, and it sees what people ask of it.
        """
        self._start = start
        self._make_gateway = make_gateway
        self._clock = clock
        self._audit = audit
        self._repository = repository
        self._last_wish_at = self._published_at = clock.now()
        self._unwritten_audit: deque[AuditEntry] = deque()
        self._user_agent = user_agent
        self._rules = rules or RecycleRules()
        self._limits = limits or PoolLimits()
        self._browser: Chromium | None = None
        self._retiring: set[Chromium] = set()
        self._launching: asyncio.Task[Chromium] | None = None
        self._idle: deque[tuple[str, Tab]] = deque()
        self._open_pages: dict[str, OpenTab] = {}
        self._usage = UsageMeter()
        self._in_use: Counter[str] = Counter()
        self._recycled: Counter[str] = Counter()
        self._waiting = 0
        self._place_freed = asyncio.Condition()
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._is_closed = False

    @asynccontextmanager
    async def borrow(self, host: str) -> AsyncIterator["BorrowedContext"]:
        """Wait for a place in the pool and borrow it for a fetch from `host`."""
        await self._wait_for_place(host)
        borrowed = BorrowedContext(self, host)
        try:
            yield borrowed
        finally:
            tab, borrowed.tab = borrowed.tab, None
            if tab is not None:
                self._take_back(host, tab)
            await self._free_place(host)

    @asynccontextmanager
    async def use_open_page(self, page: OpenPage) -> AsyncIterator["BorrowedPage"]:
        """Borrow the page that is kept open under a name; it is opened when it is first needed.

        Open pages take no place of the pool: whoever keeps them open limits their number.
        """
        kept = self._open_pages.pop(page.name, None)
        if kept is not None and (kept.generation != page.generation or kept.tab.chromium is not self._browser):
            self._run_in_background(self._discard(kept.tab))
            kept = None
        if kept is not None:
            self._begin_use(kept.tab.chromium)
        borrowed = BorrowedPage(self, kept.tab if kept else None)
        try:
            yield borrowed
        finally:
            if borrowed.tab is not None:
                self._keep_open(page, borrowed.tab)

    def _keep_open(self, page: OpenPage, tab: Tab) -> None:
        self._end_use(tab)
        is_spent = tab.is_unusable or not tab.is_kept_open or tab.tasks >= MOST_READINGS_OF_OPEN_PAGE
        if is_spent or tab.chromium is not self._browser or page.name in self._open_pages:
            self._run_in_background(self._discard(tab))
        else:
            self._open_pages[page.name] = OpenTab(tab, page.generation, self._clock.now())
        self._retire_if_spent(tab.chromium)

    async def new_tab(self) -> Tab:
        """Return a new context of the current browser; the caller has begun to use it."""
        browser = await self.ready()
        self._begin_use(browser)
        try:
            return await open_tab(browser, self._make_gateway(), self._user_agent)
        except BaseException:  # also a cancellation: a browser that counts as busy is never replaced
            browser.busy -= 1
            raise

    @property
    def usage(self) -> ContextUsage:
        """What the current browser takes of the machine, as last looked at."""
        return self._usage.latest

    def _begin_use(self, browser: Chromium) -> None:
        browser.busy += 1  # from now on it is not closed while we use it
        browser.last_used_at = self._clock.now()

    def _end_use(self, tab: Tab) -> None:
        browser = tab.chromium
        browser.busy -= 1
        browser.tasks += 1
        browser.last_used_at = self._clock.now()
        tab.tasks += 1

    def _retire_if_spent(self, browser: Chromium) -> None:
        if browser is self._browser and browser.tasks >= self._rules.max_tasks:
            self._retire(browser, Recycle(RecycleReason.TASKS, at_once=False))

    async def tab_for(self, host: str) -> Tab:
        """Return a context for `host`: the idle one that it had before, or a new one."""
        browser = await self.ready()
        self._begin_use(browser)
        try:
            return self._take_idle(host, browser) or await self._open_new(browser)
        except BaseException:  # also a cancellation: a browser that counts as busy is never replaced
            browser.busy -= 1
            raise

    def _take_idle(self, host: str, browser: Chromium) -> Tab | None:
        kept = next((each for each in self._idle if each[0] == host and each[1].chromium is browser), None)
        if kept is None:
            return None
        self._idle.remove(kept)
        return kept[1]

    async def _open_new(self, browser: Chromium) -> Tab:
        self._make_room()
        return await open_tab(browser, self._make_gateway(), self._user_agent)

    async def report(self, action: str, subject: str, **detail: object) -> None:
        """Write to the audit log what the pool did; entries are kept while the database is away."""
        self._unwritten_audit.append(AuditEntry(ACTOR, action, subject, detail))
        await self._write_audit()

    def state(self) -> PoolState:
        """Return the pool's state; reads /proc."""
        present = [] if self._browser is None else [self._browser]
        return PoolState(
            browsers=tuple(
                _browser_state(each, is_leaving=each in self._retiring) for each in (*present, *self._retiring)
            ),
            in_use={host: count for host, count in self._in_use.items() if count},
            at_rest=len(self._idle),
            waiting=self._waiting,
            recycled=dict(self._recycled),
        )

    async def close(self) -> None:
        """Close every browser in bounded time, and leave nothing of them behind."""
        self._is_closed = True
        if self._launching is not None:
            await asyncio.gather(self._launching, return_exceptions=True)
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        for tab in self._take_all_resting():
            await tab.gateway.close()
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()
        await asyncio.gather(*self._background_tasks, return_exceptions=True)
        await self._write_audit()
        if self._repository is not None:
            with suppress(StoreError):
                await self._repository.withdraw()

    async def _write_audit(self) -> None:
        with suppress(StoreError):
            while self._unwritten_audit:
                await self._audit(self._unwritten_audit[0])
                self._unwritten_audit.popleft()

    async def _wait_for_place(self, host: str) -> None:
        self._waiting += 1
        try:
            async with self._place_freed:
                await self._place_freed.wait_for(lambda: self._has_place(host))
                self._in_use[host] += 1
        finally:
            self._waiting -= 1

    def _has_place(self, host: str) -> bool:
        return self._in_use.total() < self._limits.contexts and self._in_use[host] < self._limits.per_host

    async def _free_place(self, host: str) -> None:
        async with self._place_freed:
            self._in_use[host] -= 1
            if not self._in_use[host]:
                del self._in_use[host]
            self._place_freed.notify_all()

    def _make_room(self) -> None:
        """Discard the contexts that have been idle longest, if there are too many."""
        while self._idle and len(self._idle) + self._in_use.total() > self._limits.contexts:
            _, oldest = self._idle.popleft()
            self._run_in_background(self._discard(oldest))

    async def ready(self) -> Chromium:
        """Return the current browser, started if there is none; raise NoBrowser when that fails."""
        if self._is_closed:
            msg = "the pool is closed"
            raise BrowserLost(msg)
        if self._browser is not None and not self._browser.is_lost:
            return self._browser
        if self._launching is None or self._launching.done():
            self._launching = asyncio.create_task(self._launch(), name="browser start")
        return await asyncio.shield(self._launching)  # a caller may be cancelled; half a browser would be left

    async def _launch(self) -> Chromium:
        if self._browser is not None:
            self._retire(self._browser, _reason_lost(self._browser, self._rules, self._clock.now()))
        try:
            browser = self._browser = await self._start()
        except BrowserLost as loss:
            raise NoBrowser(str(loss)) from loss
        self._run_in_background(self._replace_when_lost(browser))
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="browser pool")
        return browser

    def _take_back(self, host: str, tab: Tab) -> None:
        """Keep a context for its host's next fetch, or discard it."""
        browser = tab.chromium
        self._end_use(tab)
        if tab.is_unusable or browser is not self._browser or tab.tasks >= MOST_FETCHES_PER_CONTEXT:
            self._run_in_background(self._discard(tab))
        else:
            self._run_in_background(self._keep_idle(host, tab))
        self._retire_if_spent(browser)

    async def _keep_idle(self, host: str, tab: Tab) -> None:
        await tab.clean()
        if tab.is_unusable or tab.chromium is not self._browser or self._is_closed:
            await self._discard(tab)
        else:
            self._idle.append((host, tab))
            self._make_room()

    async def _discard(self, tab: Tab) -> None:
        if not await tab.close() and tab.chromium is self._browser:
            self._retire(tab.chromium, Recycle(RecycleReason.HUNG, at_once=True))

    async def _replace_when_lost(self, browser: Chromium) -> None:
        """Retire the browser as soon as it dies by itself."""
        await browser.wait_until_lost()
        if browser is self._browser:
            self._retire(browser, _reason_lost(browser, self._rules, self._clock.now()))

    async def _watch(self) -> None:
        """Check the browser's age, memory and processes at every beat."""
        while True:
            await self._clock.sleep_until(self._clock.now() + self._limits.check_every)
            await self._sync_with_repository()
            browser = self._browser
            if browser is None:
                self._usage = UsageMeter()
                continue
            self._close_unused_pages()
            vitals = await asyncio.to_thread(browser.vitals)
            self._usage.look(browser.pid, vitals, self._clock.now())
            verdict = recycle_decision(vitals, self._rules, self._clock.now())
            if verdict is not None and browser is self._browser:
                self._retire(browser, verdict)

    async def _sync_with_repository(self) -> None:
        """Publish the pool's state, and do what people ask of it."""
        await self._write_audit()
        now = self._clock.now()
        if self._repository is None or now - self._published_at < self._limits.publish_every:
            return
        self._published_at = now
        with suppress(StoreError):
            wish = await self._repository.wish()
            if wish is not None and wish.at > self._last_wish_at and self._browser is not None:
                self._last_wish_at = wish.at
                self._retire(self._browser, Recycle(RecycleReason.REQUESTED, at_once=False), wish.by)
            await self._repository.publish(await asyncio.to_thread(self.state), now)

    def _retire(self, browser: Chromium, verdict: Recycle, trigger: str = "") -> None:
        """Give this browser no new work and close it; the next fetch starts another."""
        self._browser = None
        self._retiring.add(browser)
        resting = self._take_all_resting()
        self._run_in_background(self._close_retired(browser, verdict, trigger, resting))

    def _take_all_resting(self) -> list[Tab]:
        """Take the contexts that nobody uses at the moment, open pages included, out of the pool."""
        resting = [tab for _, tab in self._idle] + [kept.tab for kept in self._open_pages.values()]
        self._idle.clear()
        self._open_pages.clear()
        return resting

    def _close_unused_pages(self) -> None:
        """Close the open pages that nobody reads any more."""
        oldest = self._clock.now() - OPEN_PAGE_UNUSED
        for name, kept in list(self._open_pages.items()):
            if kept.used_at < oldest:
                del self._open_pages[name]
                self._run_in_background(self._discard(kept.tab))

    async def _close_retired(self, browser: Chromium, verdict: Recycle, trigger: str, resting: list[Tab]) -> None:
        began = self._clock.now()
        vitals = await asyncio.to_thread(browser.vitals)
        at_once = verdict.at_once or not await self._wait_until_idle(browser, began + DRAIN_LIMIT)
        is_gone = await browser.close(at_once=at_once)
        for tab in resting:
            await tab.gateway.close()
        self._retiring.discard(browser)
        self._recycled[verdict.reason.value] += 1
        await self.report(
            "browser_recycle",
            f"browser {browser.pid}",
            trigger=trigger or "automatic",
            reason=verdict.reason.value,
            outcome="success" if is_gone else "failed",
            duration_ms=(self._clock.now() - began) // timedelta(milliseconds=1),
            manner="killed" if at_once else "closed",
            age_seconds=int((began - browser.started_at).total_seconds()),
            tasks=vitals.tasks,
            memory_bytes=vitals.memory_bytes,
            pids=vitals.pids,
        )

    async def _wait_until_idle(self, browser: Chromium, until: datetime) -> bool:
        """Wait a while for the fetches that are running; return False when the browser must be killed instead."""
        while browser.busy and not self._is_closed and self._clock.now() < until:
            async with self._place_freed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._place_freed.wait(), self._limits.check_every.total_seconds())
            verdict = recycle_decision(await asyncio.to_thread(browser.vitals), self._rules, self._clock.now())
            if verdict is not None and verdict.at_once:
                return False
        return not browser.is_lost

    def _run_in_background(self, awaitable: Awaitable[None]) -> None:
        task = asyncio.ensure_future(awaitable)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)


class BorrowedContext:
    """The right to one context for one fetch; the context is opened when it is first needed."""

    def __init__(self, pool: BrowserPool, host: str) -> None:
        """Made by `BrowserPool.borrow`."""
        self._pool = pool
        self._host = host
        self.tab: Tab | None = None

    async def open(self) -> Tab:
        """Return the context, opened if it is not yet."""
        if self.tab is None:
            self.tab = await self._pool.tab_for(self._host)
        return self.tab


class OpenTab(NamedTuple):
    """A page that is kept open, for whom, and when it was last read."""

    tab: Tab
    generation: int
    used_at: datetime


class BorrowedPage:
    """The right to read one open page; it is opened when it is first needed."""

    def __init__(self, pool: BrowserPool, tab: Tab | None) -> None:
        """Made by `BrowserPool.use_open_page`."""
        self._pool = pool
        self.tab = tab

    async def open(self) -> Tab:
        """Return the page, opened if it is not yet."""
        if self.tab is None:
            self.tab = await self._pool.new_tab()
            self.tab.is_kept_open = True
        return self.tab


class UsageMeter:
    """What a browser takes of the machine, by two looks at its processes."""

    def __init__(self) -> None:
        """Nothing is known before the first look."""
        self.latest = NO_USAGE
        self._before: tuple[int, float, datetime] | None = None

    def look(self, pid: int, vitals: Vitals, now: datetime) -> None:
        """Take in what was found in /proc; the share of a processor is that since the look before."""
        percent = 0.0
        if self._before is not None and self._before[0] == pid and now > self._before[2]:
            passed = (now - self._before[2]).total_seconds()
            percent = round(100 * max(0.0, vitals.cpu_seconds - self._before[1]) / passed, 1)
        self._before = (pid, vitals.cpu_seconds, now)
        self.latest = ContextUsage(memory_bytes=vitals.memory_bytes, cpu_percent=percent, browser_pid=pid)


def _reason_lost(browser: Chromium, rules: RecycleRules, now: datetime) -> Recycle:
    """Return why a browser was lost."""
    return recycle_decision(browser.vitals(), rules, now) or Recycle(RecycleReason.BROWSER_DIED, at_once=True)


def _browser_state(browser: Chromium, *, is_leaving: bool) -> BrowserState:
    return BrowserState(
        pid=browser.pid,
        driver_pid=browser.driver_pid,
        version=browser.version,
        is_leaving=is_leaving,
        vitals=browser.vitals(),
    )
