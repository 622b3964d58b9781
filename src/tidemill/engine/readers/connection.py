"""A worker's end of one reader: sends it tasks, takes its answers in order, and knows what it had in hand."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tidemill.engine.readers.messages import ANSWER_HEADER, TASK_HEADER, TaskKind


@dataclass(slots=True, eq=False)
class PendingPage:
    """A page that is to be read, and who waits for it; `deaths` are the readers that died over it unexplained.

    `decode` returns what a reader's answer says, and `inline` the same without a reader.
    """

    payload: bytes
    done: Callable[[Any], None]
    decode: Callable[[memoryview], Any]
    inline: Callable[[], Any]
    kind: TaskKind = TaskKind.PAGE
    deaths: int = 0


class ReaderConnection(asyncio.Protocol):
    """One reader. `pages` are those that it has not answered; the first of them is being read.

    A reader that `is_slow` takes one page at a time, those that others could not read quickly.
    """

    def __init__(
        self,
        answered: Callable[["ReaderConnection", PendingPage, memoryview], None],
        ended: Callable[["ReaderConnection"], None],
        *,
        is_slow: bool,
    ) -> None:
        """`answered` is called per page, `ended` once when both the connection and the process have ended."""
        self.is_slow = is_slow
        self.is_retiring = False
        self.pages: deque[PendingPage] = deque()
        self.bytes_sent = 0
        self.busy_since = 0.0
        self.pid: int | None = None
        self.exit_code: int | None = None
        self._answered = answered
        self._ended = ended
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._is_lost = False

    @property
    def takes_pages(self) -> bool:
        """Whether it can be sent pages."""
        return self._transport is not None and not self._is_lost and not self.is_retiring and self.exit_code is None

    def send(self, pages: Sequence[PendingPage], cpu: Callable[[int], float], wall: float) -> None:
        """Send pages to be read one after the other, each within its own limits."""
        if self._transport is None:
            msg = "the reader is not connected"
            raise RuntimeError(msg)
        if not self.pages:
            self.busy_since = asyncio.get_running_loop().time()
        pieces: list[bytes] = []
        for page in pages:
            size = len(page.payload)
            pieces += (TASK_HEADER.pack(page.kind, size, cpu(size), wall), page.payload)
            self.bytes_sent += size
        self.pages.extend(pages)
        self._transport.writelines(pieces)

    def close(self) -> None:
        """Let the reader end once it has answered what it has."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note that the reader can be sent pages."""
        self._transport = transport  # type: ignore[assignment]  # a stream has this kind

    def data_received(self, data: bytes) -> None:
        """Hand on every answer that is whole."""
        self._buffer += data
        position, header = 0, ANSWER_HEADER.size
        with memoryview(self._buffer) as view:
            while len(view) - position >= header:
                (length,) = ANSWER_HEADER.unpack_from(view, position)
                if length == 0:
                    self.is_retiring = True
                    position += header
                    continue
                if len(view) - position - header < length:
                    break
                self._hand_on(view[position + header : position + header + length])
                position += header + length
        del self._buffer[:position]

    def _hand_on(self, answer: memoryview) -> None:
        page = self.pages.popleft()
        self.bytes_sent -= len(page.payload)
        self.busy_since = asyncio.get_running_loop().time()
        with answer:
            self._answered(self, page, answer)

    def connection_lost(self, _error: Exception | None) -> None:
        """Note that no more answers come."""
        self._is_lost = True
        self._tell_end()

    def process_ended(self, exit_code: int) -> None:
        """Note how the process ended; what it had sent before may still be on its way."""
        self.exit_code = exit_code
        self._tell_end()

    def _tell_end(self) -> None:
        if self._is_lost and self.exit_code is not None:
            self._ended(self)
