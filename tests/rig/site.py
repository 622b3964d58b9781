"""An agenda site on loopback that remembers who asked for what, and holds answers back when told to."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta

from tidemill.engine.clock import RealClock

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Gate:
    """An answer held back: `arrived` is set once it was asked for, and it goes out when `opened` is."""

    def __init__(self) -> None:
        """Shut."""
        self.arrived = asyncio.Event()
        self.opened = asyncio.Event()


class Site:
    """Pages by path; everything else, robots.txt included, is not there."""

    def __init__(self) -> None:
        """Empty."""
        self.port = 0
        self.asked: list[str] = []
        self._answers: dict[str, bytes] = {}
        self._gates: dict[str, Gate] = {}
        self._talks: set[asyncio.Task[None]] = set()

    @property
    def origin(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        """Every path with a page."""
        return list(self._answers)

    def page(self, path: str, markup: str | bytes, kind: str = "text/html; charset=utf-8", more: str = "") -> None:
        """Put a page up."""
        body = markup.encode() if isinstance(markup, str) else markup
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        self._answers[path] = head.encode() + body

    def says(self, path: str, answer: bytes) -> None:
        """Answer a path byte for byte."""
        self._answers[path] = answer

    def hold(self, path: str) -> Gate:
        """Hold back the next answer for a path."""
        gate = self._gates[path] = Gate()
        return gate

    def visits(self, path: str) -> int:
        """How often a path was asked for."""
        return self.asked.count(path)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):  # only we cancel
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ")[1].decode()
                self.asked.append(path)
                if gate := self._gates.pop(path, None):
                    gate.arrived.set()
                    await gate.opened.wait()
                writer.write(self._answers.get(path, NOT_FOUND))
                await writer.drain()
        writer.close()
        self._talks.discard(task)

    async def hang_up(self) -> None:
        """End every conversation."""
        for task in list(self._talks):
            task.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)


@asynccontextmanager
async def a_site(pages: int = 0, events: int = 3) -> AsyncIterator[Site]:
    """A site with so many agenda pages of so many events, on a port of its own."""
    site = Site()
    for number in range(pages):
        site.page(f"/agenda/{number}", agenda([f"Concert {number}-{index}" for index in range(events)]))
    server = await asyncio.start_server(site.talk, "127.0.0.1", 0, limit=1 << 20)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await site.hang_up()


def agenda(titles: Sequence[str], starts: datetime | None = None) -> str:
    """An agenda page with an event per title, all to come."""
    starts = starts or RealClock().now() + timedelta(days=30)
    events = [
        {"@context": "https://schema.org", "@type": "Event", "name": title, "startDate": starts.isoformat(),
         "location": {"@type": "Place", "name": "Zaal 1", "address": {"addressLocality": "Dordrecht"}}}
        for title in titles
    ]  # fmt: skip
    return f'<html><head><script type="application/ld+json">{json.dumps(events)}</script></head><body></body></html>'
