"""Wake-ups over the broker: after a commit, as many as the ready jobs need, and never a message per job."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from celery import Celery

from tidemill.core.admission import workers_to_wake
from tidemill.engine.celery.mailbox import Mailbox
from tidemill.engine.wakeups import Coalesced, CountReady
from tidemill.pipeline.ports import StoreError

Result = TypeVar("Result")
Report = Callable[[str], Awaitable[None]]


class BrokerWakeups:
    """Sends wake-ups in the background: one batch at a time, so that a broker that hangs holds one thread."""

    def __init__(
        self,
        app: Celery,
        count_ready: CountReady,
        report: Report,
        *,
        jobs_per_worker: int,
        most: int,
        expires: timedelta,
    ) -> None:
        """`count_ready` counts ready jobs by lane; `report` is told '' or what is wrong.

        A message that nobody has taken after `expires` is dropped: workers have looked for themselves by then.
        """
        self._count_ready = count_ready
        self._report = report
        self._per_worker = jobs_per_worker
        self._most = most
        self._mailbox = Mailbox(app, expires)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wake-ups")
        self._sending = Coalesced(self._send, "wake-ups")

    def wake(self) -> None:
        """Send wake-ups soon; asked again meanwhile, they are counted and sent once more."""
        self._sending.ask()

    async def probe(self) -> str:
        """Return '' when the broker answers for each queue that every cluster has, else what is wrong."""
        return await self._in_thread(self._mailbox.look)

    async def close(self) -> None:
        """Send what is wanted, and end."""
        await self._sending.close()
        await self._in_thread(self._mailbox.close)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _send(self) -> None:
        """Wake as many as are needed; if their number cannot be asked for, workers find out when they look."""
        with suppress(StoreError):
            ready = await self._count_ready()
            wanted = {lane: workers_to_wake(jobs, self._per_worker, self._most) for lane, jobs in ready.items()}
            await self._report(await self._in_thread(lambda: self._mailbox.send(wanted)))

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
