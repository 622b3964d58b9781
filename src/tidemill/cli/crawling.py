"""Run certain runs to their end in this process, and judge how they went."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from tidemill.bootstrap.fetchers import LANES
from tidemill.bootstrap.run_ends import do_after_runs
from tidemill.bootstrap.system import System
from tidemill.core.failure import Failure
from tidemill.core.run import RunStatus
from tidemill.core.views import RunDetail
from tidemill.terminal.exit_codes import EMPTY, FAILURE, PARTIAL

LONGEST_WAIT = timedelta(minutes=2)
"""How long to wait for snoozed jobs; those of an open breaker wait longer, and stay in the queue."""
POLL_INTERVAL = timedelta(milliseconds=250)

NOTHING_USABLE_FAILURES = frozenset({Failure.EMPTY_PAGE, Failure.LAYOUT_CHANGED, Failure.NOTHING_USABLE})
"""The page was fetched, held nothing usable, and did not say that it is empty."""


class Crawl:
    """Drains until the runs are closed, or nothing more can be done for now."""

    def __init__(self, system: System, run_ids: Collection[int] = ()) -> None:
        """Start nothing yet; more runs may be added while these are under way."""
        self._system = system
        self.run_ids = list(run_ids)
        self._open = set(run_ids)
        self._enqueuing: asyncio.Task[None] | None = None
        self._added = asyncio.Event()
        self._stopping = False
        self.drain = system.make_drain()
        self.waits_until: datetime | None = None

    def stop(self) -> None:
        """Finish the jobs in hand, and claim no new ones."""
        self._stopping = True
        self.drain.stop_claiming()

    def add(self, run_ids: Collection[int]) -> None:
        """Take up runs that were enqueued meanwhile."""
        self.run_ids += run_ids
        self._open |= set(run_ids)
        self._added.set()

    def enqueue_beside(self, enqueuing: Coroutine[Any, Any, None]) -> None:
        """Enqueue while what is in the queue already is scraped; the crawl does not end before this has."""
        self._enqueuing = asyncio.create_task(enqueuing, name="enqueue")

    async def run(self) -> None:
        """Run the runs to their end, enrich their records once, and publish them."""
        async with registered_worker(self._system):
            try:
                await self._drain_to_the_end()
            finally:
                if self._enqueuing is not None:
                    self._enqueuing.cancel()
            if self._system.enricher is not None and not self._stopping:
                await self._system.enricher.enrich()
            await do_after_runs(self._system.parts.values())

    async def _drain_to_the_end(self) -> None:
        """Drain, wait for jobs that are snoozed for a short while, and drain again."""
        while not self._stopping and (self._open or self._enqueuing is not None):
            moment = await self._drain_lanes()
            await self._close_finished()
            if await self._has_more():
                continue
            if not self._open or self._stopping:
                return
            if moment is None or moment > self._system.clock.now() + LONGEST_WAIT:
                self.waits_until = moment
                return
            await self._system.clock.sleep_until(moment)

    async def _has_more(self) -> bool:
        """Wait until more is enqueued, or nothing more will be; answers whether to look again."""
        if self._enqueuing is None or self._stopping:
            return False
        added = asyncio.create_task(self._added.wait())
        await asyncio.wait({added, self._enqueuing}, return_when=asyncio.FIRST_COMPLETED)
        added.cancel()
        self._added.clear()
        if self._enqueuing.done():
            await self._enqueuing  # raises what it raised
            self._enqueuing = None
        return True

    async def _drain_lanes(self) -> datetime | None:
        """Drain one lane after the other; return when the first of them has work again."""
        moments = []
        for lane in LANES:
            if not self._stopping:
                self.drain = self._system.make_drain()
                moments.append(await self.drain.run(lane))
        return min((moment for moment in moments if moment is not None), default=None)

    async def _close_finished(self) -> None:
        await self._system.ticks.chores["close_runs"].run()
        for run_id in list(self._open):
            detail = await self._system.store.views.run(run_id)
            if detail is None or detail.run.status != RunStatus.RUNNING:
                self._open.discard(run_id)


@asynccontextmanager
async def registered_worker(system: System) -> AsyncIterator[None]:
    """Be a worker that is seen, for as long as this lasts; what it still holds at the end is free for others."""
    worker = system.worker
    await worker.sign_in()
    beating = asyncio.create_task(worker.keep_alive(), name="heartbeat")
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
        await worker.sign_off()


async def watch_progress(system: System, run_ids: Sequence[int], show_progress: Callable[[int, int], None]) -> None:
    """Call `show_progress` with the number of ended jobs and of all jobs of the runs, until cancelled."""
    while True:
        found = [await system.store.views.run(run_id) for run_id in run_ids]
        jobs = [count for detail in found if detail is not None for count in detail.stages]
        ended = sum(count.jobs for count in jobs if count.status not in {"ready", "waiting", "leased"})
        show_progress(ended, sum(count.jobs for count in jobs))
        await system.clock.sleep_until(system.clock.now() + POLL_INTERVAL)


def crawl_exit_code(runs: Sequence[RunDetail]) -> int:
    """Return the exit code that says how the runs went."""
    if all(detail.run.status == RunStatus.SUCCESS and detail.run.complete for detail in runs):
        return 0
    answered = sum(detail.run.urls_succeeded for detail in runs)
    failures = {failure for detail in runs for failure in detail.failures}
    if not answered and failures and failures <= NOTHING_USABLE_FAILURES:
        return EMPTY
    return PARTIAL if answered else FAILURE
