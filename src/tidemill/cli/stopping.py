"""Ctrl-C and SIGTERM: the first asks the work to finish, the second stops it at once, and both are bounded."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

BOUND_SECONDS = 30.0
"""However long what is in hand would still take, after this it is handed back."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopper:
    """Listens for signals while it is entered.

    `finish` is called once, on the first signal or by `stop`; the work given to `until_done` is cancelled on the
    second, or when the bound has passed.
    """

    def __init__(self, finish: Callable[[], None], *, bound_seconds: float = BOUND_SECONDS) -> None:
        """Nothing is listened for yet."""
        self._finish = finish
        self._bound = bound_seconds
        self._work: asyncio.Future[None] | None = None
        self._asked = False
        self.signalled = False

    def __enter__(self) -> Self:
        """Take over the signals."""
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the signals back."""
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)

    def stop(self) -> None:
        """Ask the work to finish, as the first Ctrl-C does; the second time, stop it at once."""
        if self._asked:
            self.cancel()
            return
        self._asked = True
        self._finish()
        asyncio.get_running_loop().call_later(self._bound, self.cancel)

    def cancel(self) -> None:
        """Stop at once; what is in hand is handed back."""
        if self._work is not None and not self._work.done():
            self._work.cancel()

    def _on_signal(self) -> None:
        self.signalled = True
        self.stop()

    async def until_done(self, work: Awaitable[None]) -> None:
        """Wait for the work to end, in whichever way."""
        self._work = asyncio.ensure_future(work)
        await asyncio.wait([self._work])
        if not self._work.cancelled():
            self._work.result()
