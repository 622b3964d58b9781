"""The pool: contexts on loan, so many per host and in all, from a browser that is replaced before it ails."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta

from tidemill.core.audit import AuditEntry
from tidemill.core.recycling import PoolLimits, Recycle, RecycleReason, RecycleRules, recycle_decision
from tidemill.core.views.browsers import BrowserState, PoolState
from tidemill.fetching.browsers.chromium import Chromium
from tidemill.fetching.browsers.gateway import Gateway
from tidemill.fetching.browsers.repository import PoolRepository
from tidemill.fetching.browsers.tab import Tab, open_tab
from tidemill.fetching.browsers.trouble import BrowserLost, NoBrowser
from tidemill.pipeline.ports import Clock, StoreError

DRAIN_LIMIT = timedelta(minutes=2)
"""A browser that is to go may finish its pages for so long; then it goes anyway."""
ACTOR = "browser pool"
MOST_VISITS = 50
"""Visits after which a context is thrown away, however well it did."""

Start = Callable[[], Awaitable[Chromium]]
Audit = Callable[[AuditEntry], Awaitable[None]]


class BrowserPool:
    """Lends contexts, and sees to the browsers behind them."""

    def __init__(
        self,
        start: Start,
        make_gateway: Callable[[], Gateway],
        clock: Clock,
        audit: Audit,
        *,
        user_agent: str,
        book: PoolRepository | None = None,
        rules: RecycleRules | None = None,
        limits: PoolLimits | None = None,
    ) -> None:
        """`start` starts a browser; every context gets a gateway of its own; every recycle goes to `audit`.

        In `book` other processes see how this pool stands, and it sees what people ask of it.
        """
        self._start = start
        self._make_gateway = make_gateway
        self._clock = clock
        self._audit = audit
        self._book = book
        self._began = self._published_at = clock.now()
        self._unwritten: deque[AuditEntry] = deque()
        self._user_agent = user_agent
        self._rules = rules or RecycleRules()
        self._limits = limits or PoolLimits()
        self._browser: Chromium | None = None
        self._leaving: set[Chromium] = set()
        self._launching: asyncio.Task[Chromium] | None = None
        self._at_rest: deque[tuple[str, Tab]] = deque()
        self._in_use: Counter[str] = Counter()
        self._recycled: Counter[str] = Counter()
        self._waiting = 0
        self._freed = asyncio.Condition()
        self._chores: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._is_closed = False

    @asynccontextmanager
    async def lend(self, host: str) -> AsyncIterator["Loan"]:
        """A place in the pool for a visit to `host`; waits until there is one."""
        await self._take_place(host)
        loan = Loan(self, host)
        try:
            yield loan
        finally:
            tab, loan.tab = loan.tab, None
            if tab is not None:
                self._take_back(host, tab)
            await self._free_place(host)

    async def tab_for(self, host: str) -> Tab:
        """A context for `host`: the one that it had before, if it is still there, else a new one."""
        browser = await self.ready()
        browser.busy += 1  # from now on it is not closed under our hands
        browser.last_used_at = self._clock.now()
        try:
            return self._rested(host, browser) or await self._opened(browser)
        except BaseException:  # whatever it is, a cancellation too: a browser that counts as busy is never replaced
            browser.busy -= 1
            raise

    def _rested(self, host: str, browser: Chromium) -> Tab | None:
        kept = next((each for each in self._at_rest if each[0] == host and each[1].chromium is browser), None)
        if kept is None:
            return None
        self._at_rest.remove(kept)
        return kept[1]

    async def _opened(self, browser: Chromium) -> Tab:
        self._make_room()
        return await open_tab(browser, self._make_gateway(), self._user_agent)

    async def report(self, action: str, subject: str, **detail: object) -> None:
        """Write down what the pool did; while the database is away, what is to be written is kept."""
        self._unwritten.append(AuditEntry(ACTOR, action, subject, detail))
        await self._save_state()

    def state(self) -> PoolState:
        """How the pool stands; reads /proc."""
        present = [] if self._browser is None else [self._browser]
        return PoolState(
            browsers=tuple(_told(each, is_leaving=each in self._leaving) for each in (*present, *self._leaving)),
            in_use={host: count for host, count in self._in_use.items() if count},
            at_rest=len(self._at_rest),
            waiting=self._waiting,
            recycled=dict(self._recycled),
        )

    async def close(self) -> None:
        """Close every browser, in bounded time; nothing of them is left."""
        self._is_closed = True
        if self._launching is not None:
            await asyncio.gather(self._launching, return_exceptions=True)
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        for _, tab in self._at_rest:
            await tab.gateway.close()
        self._at_rest.clear()
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await self._save_state()
        if self._book is not None:
            with suppress(StoreError):
                await self._book.withdraw()

    async def _save_state(self) -> None:
        with suppress(StoreError):
            while self._unwritten:
                await self._audit(self._unwritten[0])
                self._unwritten.popleft()

    async def _take_place(self, host: str) -> None:
        self._waiting += 1
        try:
            async with self._freed:
                await self._freed.wait_for(lambda: self._has_place(host))
                self._in_use[host] += 1
        finally:
            self._waiting -= 1

    def _has_place(self, host: str) -> bool:
        return self._in_use.total() < self._limits.contexts and self._in_use[host] < self._limits.per_host

    async def _free_place(self, host: str) -> None:
        async with self._freed:
            self._in_use[host] -= 1
            if not self._in_use[host]:
                del self._in_use[host]
            self._freed.notify_all()

    def _make_room(self) -> None:
        """Throw away the context that has rested longest, if there would be too many with one more."""
        while self._at_rest and len(self._at_rest) + self._in_use.total() > self._limits.contexts:
            _, oldest = self._at_rest.popleft()
            self._do(self._throw_away(oldest))

    async def ready(self) -> Chromium:
        """The browser that serves now; started if there is none. Raises NoBrowser when none can be started."""
        if self._is_closed:
            msg = "the pool is closed"
            raise BrowserLost(msg)
        if self._browser is not None and not self._browser.is_lost:
            return self._browser
        if self._launching is None or self._launching.done():
            self._launching = asyncio.create_task(self._launch(), name="browser start")
        return await asyncio.shield(self._launching)  # whoever waits may give up; half a browser would be left

    async def _launch(self) -> Chromium:
        if self._browser is not None:
            self._let_go(self._browser, _verdict_on(self._browser, self._rules, self._clock.now()))
        try:
            browser = self._browser = await self._start()
        except BrowserLost as loss:
            raise NoBrowser(str(loss)) from loss
        self._do(self._bury(browser))
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="browser pool")
        return browser

    def _take_back(self, host: str, tab: Tab) -> None:
        """A visit is over: keep its context for the next one, or throw it away."""
        browser = tab.chromium
        browser.busy -= 1
        browser.tasks += 1
        browser.last_used_at = self._clock.now()
        tab.tasks += 1
        if tab.is_spoilt or browser is not self._browser or tab.tasks >= MOST_VISITS:
            self._do(self._throw_away(tab))
        else:
            self._do(self._put_to_rest(host, tab))
        if browser is self._browser and browser.tasks >= self._rules.max_tasks:
            self._let_go(browser, Recycle(RecycleReason.TASKS, at_once=False))

    async def _put_to_rest(self, host: str, tab: Tab) -> None:
        await tab.clean()
        if tab.is_spoilt or tab.chromium is not self._browser or self._is_closed:
            await self._throw_away(tab)
        else:
            self._at_rest.append((host, tab))
            self._make_room()

    async def _throw_away(self, tab: Tab) -> None:
        if not await tab.close() and tab.chromium is self._browser:
            self._let_go(tab.chromium, Recycle(RecycleReason.HUNG, at_once=True))

    async def _bury(self, browser: Chromium) -> None:
        """Notice at once when a browser dies by itself."""
        await browser.lost()
        if browser is self._browser:
            self._let_go(browser, _verdict_on(browser, self._rules, self._clock.now()))

    async def _watch(self) -> None:
        """Look at the browser in every beat: its age, memory and processes."""
        while True:
            await self._clock.sleep_until(self._clock.now() + self._limits.check_every)
            await self._keep_in_touch()
            browser = self._browser
            if browser is None:
                continue
            vitals = await asyncio.to_thread(browser.vitals)
            verdict = recycle_decision(vitals, self._rules, self._clock.now())
            if verdict is not None and browser is self._browser:
                self._let_go(browser, verdict)

    async def _keep_in_touch(self) -> None:
        """Say how the pool stands, and do what people ask of it."""
        await self._save_state()
        now = self._clock.now()
        if self._book is None or now - self._published_at < self._limits.publish_every:
            return
        self._published_at = now
        with suppress(StoreError):
            wish = await self._book.wish()
            if wish is not None and wish.at > self._began and self._browser is not None:
                self._began = wish.at
                self._let_go(self._browser, Recycle(RecycleReason.REQUESTED, at_once=False), wish.by)
            await self._book.publish(await asyncio.to_thread(self.state), now)

    def _let_go(self, browser: Chromium, verdict: Recycle, trigger: str = "") -> None:
        """No new work for this browser; the next visit starts another."""
        self._browser = None
        self._leaving.add(browser)
        resting = [tab for _, tab in self._at_rest]
        self._at_rest.clear()
        self._do(self._retire(browser, verdict, trigger, resting))

    async def _retire(self, browser: Chromium, verdict: Recycle, trigger: str, resting: list[Tab]) -> None:
        began = self._clock.now()
        vitals = await asyncio.to_thread(browser.vitals)
        at_once = verdict.at_once or not await self._drained(browser, began + DRAIN_LIMIT)
        is_gone = await browser.close(at_once=at_once)
        for tab in resting:
            await tab.gateway.close()
        self._leaving.discard(browser)
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

    async def _drained(self, browser: Chromium, until: datetime) -> bool:
        """Wait for the visits that are under way, for a while; False when it cannot be waited for any longer."""
        while browser.busy and not self._is_closed and self._clock.now() < until:
            async with self._freed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._freed.wait(), self._limits.check_every.total_seconds())
            verdict = recycle_decision(await asyncio.to_thread(browser.vitals), self._rules, self._clock.now())
            if verdict is not None and verdict.at_once:
                return False
        return not browser.is_lost

    def _do(self, chore: Awaitable[None]) -> None:
        task = asyncio.ensure_future(chore)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)


class Loan:
    """The right to one context for one visit; the context is opened when it is first needed."""

    def __init__(self, pool: BrowserPool, host: str) -> None:
        """Not for callers: see `BrowserPool.lend`."""
        self._pool = pool
        self._host = host
        self.tab: Tab | None = None

    async def open(self) -> Tab:
        """The context of this loan."""
        if self.tab is None:
            self.tab = await self._pool.tab_for(self._host)
        return self.tab


def _verdict_on(browser: Chromium, rules: RecycleRules, now: datetime) -> Recycle:
    """Why a browser that is lost is lost."""
    return recycle_decision(browser.vitals(), rules, now) or Recycle(RecycleReason.BROWSER_DIED, at_once=True)


def _told(browser: Chromium, *, is_leaving: bool) -> BrowserState:
    return BrowserState(
        pid=browser.pid,
        driver_pid=browser.driver_pid,
        version=browser.version,
        is_leaving=is_leaving,
        vitals=browser.vitals(),
    )
