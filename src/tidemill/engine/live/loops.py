"""Work that the live lane does every so often, or beside its polling: trouble with one piece stops no other."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from tidemill.pipeline.happenings import Announce, PartCrashed, StoreTrouble
from tidemill.pipeline.ports import Clock, StoreError

Work = Callable[[], Coroutine[Any, Any, None]]


class LaneRestart(Exception):
    """The lane is to be started anew."""


class LaneLoops:
    """Runs pieces of work; what the database refuses is announced, and so is a bug."""

    def __init__(self, clock: Clock, announce: Announce) -> None:
        """Nothing runs yet."""
        self._clock = clock
        self._announce = announce
        self.side: set[asyncio.Task[None]] = set()

    def aside(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the polling."""
        task = asyncio.ensure_future(self._guarded(name, work))
        self.side.add(task)
        task.add_done_callback(self.side.discard)

    def every(self, period: timedelta, name: str, work: Work, wakes: asyncio.Event | None = None) -> Work:
        """Return a loop that does something every so often, or when it is woken."""

        async def loop() -> None:
            while True:
                await self._guarded(name, work())
                await self._pause(period, wakes)

        return loop

    async def _guarded(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except StoreError as trouble:
            self._announce(StoreTrouble(self._clock.now(), str(trouble)))
        except LaneRestart:
            raise
        except Exception as bug:  # noqa: BLE001 - one part's bug must not end the polling; it is announced
            self._announce(PartCrashed(self._clock.now(), f"live {name}", f"{type(bug).__name__}: {bug}"[:2_000]))

    async def _pause(self, period: timedelta, wakes: asyncio.Event | None) -> None:
        until = self._clock.now() + period
        if wakes is None:
            await self._clock.sleep_until(until)
            return
        waits = [asyncio.ensure_future(wakes.wait()), asyncio.ensure_future(self._clock.sleep_until(until))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancelled(waits)


async def cancelled(tasks: Iterable["asyncio.Future[Any]"]) -> None:
    """Cancel tasks and wait for their end."""
    listed = list(tasks)
    for task in listed:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*listed, return_exceptions=True)
