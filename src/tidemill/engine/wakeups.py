"""Wake-ups of workers in other processes: sent in the background, and never more than one batch at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from tidemill.pipeline.ports import StoreError

CountReady = Callable[[], Awaitable[Mapping[str, int]]]


class Coalesced:
    """Does one thing in the background; asked again meanwhile, it is done once more afterwards."""

    def __init__(self, do: Callable[[], Awaitable[None]], name: str) -> None:
        """Nothing is done yet."""
        self._do = do
        self._name = name
        self._is_wanted = False
        self._doing: asyncio.Task[None] | None = None

    def ask(self) -> None:
        """Do it soon."""
        self._is_wanted = True
        if self._doing is None or self._doing.done():
            self._doing = asyncio.get_running_loop().create_task(self._run(), name=self._name)

    async def close(self) -> None:
        """Wait for the end of what was asked for."""
        if self._doing is not None:
            await asyncio.wait([self._doing])

    async def _run(self) -> None:
        while self._is_wanted:
            self._is_wanted = False
            await self._do()


class NotifiedWakeups:
    """Wakes workers through the database that they share: every process hears which lanes have ready jobs."""

    def __init__(self, count_ready: CountReady, notify: Callable[[str], Awaitable[None]]) -> None:
        """`count_ready` counts ready jobs by lane; `notify` says words to every process."""
        self._count_ready = count_ready
        self._notify = notify
        self._sending = Coalesced(self._send, "wake-ups")

    def wake(self) -> None:
        """Wake the lanes that have ready jobs, soon."""
        self._sending.ask()

    async def probe(self) -> str:
        """Return '': it is as well as the database."""
        return ""

    async def close(self) -> None:
        """Send what is wanted, and end."""
        await self._sending.close()

    async def _send(self) -> None:
        """Say which lanes have ready jobs; if it cannot be said, workers find out when they look."""
        with suppress(StoreError):
            lanes = sorted(lane for lane, jobs in (await self._count_ready()).items() if jobs)
            if lanes:
                await self._notify(" ".join(lanes))
