"""Wake-ups over the broker: after a commit, as many as the ready jobs need, and never a message per job."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from celery import Celery
from kombu.exceptions import KombuError

from tidemill.core.admission import workers_to_wake
from tidemill.engine.celery.app import BROKER_SECONDS, DRAIN, SCRAPING

CountReady = Callable[[], Awaitable[Mapping[str, int]]]
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
        self._app = app
        self._count_ready = count_ready
        self._report = report
        self._per_worker = jobs_per_worker
        self._most = most
        self._expires = expires
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wake-ups")
        self._is_wanted = False
        self._sending: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Send wake-ups soon; asked again meanwhile, they are counted and sent once more."""
        self._is_wanted = True
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._send(), name="wake-ups")

    async def probe(self) -> str:
        """Return '' when the broker answers, else what is wrong."""
        return await self._in_thread([])

    async def close(self) -> None:
        """Send what is wanted, and end."""
        if self._sending is not None:
            await asyncio.wait([self._sending])
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _send(self) -> None:
        while self._is_wanted:
            self._is_wanted = False
            ready = await self._count_ready()
            lanes = [
                lane for lane, jobs in ready.items() for _ in range(workers_to_wake(jobs, self._per_worker, self._most))
            ]
            await self._report(await self._in_thread(lanes))  # a broker that is away is told even if none is needed

    async def _in_thread(self, lanes: Sequence[str]) -> str:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._publish, lanes)

    def _publish(self, lanes: Sequence[str]) -> str:
        """Send a message per worker to be woken; return '' or what is wrong, without the broker's address."""
        connection = self._app.connection_for_write(connect_timeout=BROKER_SECONDS)
        troubles = (*connection.connection_errors, *connection.channel_errors, KombuError, OSError)
        try:
            with connection:
                connection.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
                for lane in lanes:
                    self._app.send_task(
                        DRAIN, (lane,), queue=SCRAPING, connection=connection, retry=False,
                        expires=self._expires.total_seconds(),
                    )  # fmt: skip
        except troubles as error:
            return f"the broker does not answer ({type(error).__name__})"
        return ""
