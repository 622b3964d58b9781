"""Ctrl-C and SIGTERM: the first asks the work to finish, the second stops it at once, and both are bounded."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

STOP_LIMIT_SECONDS = 30.0
"""After this time the jobs in hand are handed back, even if they are not finished."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopper:
    """Handles signals while it is entered.

    `finish` is called once, on the first signal or by `stop`; the work given to `run_until_done` is cancelled on the
    second, or when the limit has passed.
    """

    def __init__(self, finish: Callable[[], None], *, limit_seconds: float = STOP_LIMIT_SECONDS) -> None:
        """Handle no signals yet."""
        self._finish = finish
        self._limit_seconds = limit_seconds
        self._work: asyncio.Future[None] | None = None
        self._is_stopping = False
        self.signalled = False

    def __enter__(self) -> Self:
        """Install the signal handlers."""
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the signal handlers."""
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)

    def stop(self) -> None:
        """Ask the work to finish, as the first Ctrl-C does; the second time, stop it at once."""
        if self._is_stopping:
            self.cancel()
            return
        self._is_stopping = True
        self._finish()
        asyncio.get_running_loop().call_later(self._limit_seconds, self.cancel)

    def cancel(self) -> None:
        """Stop at once; the jobs in hand are handed back."""
        if self._work is not None and not self._work.done():
            self._work.cancel()

    def _on_signal(self) -> None:
        self.signalled = True
        self.stop()

    async def run_until_done(self, work: Awaitable[None]) -> None:
        """Run the work until it ends or is cancelled."""
        self._work = asyncio.ensure_future(work)
        await asyncio.wait([self._work])
        if not self._work.cancelled():
            self._work.result()
