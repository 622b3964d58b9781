"""A server of many names that notes when each registrable domain was asked, and how many were under way at once."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise

from rig.site import agenda
from tidemill.core.urls import registrable_domain

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
TAKES = 0.03
"""Seconds that an answer takes, so that two under way together are seen."""


@dataclass
class Turnstile:
    """What the server saw, by registrable domain: moments of arrival, and the most under way together."""

    redirects: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    arrivals: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    most: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    under_way: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    talks: set[asyncio.Task[None]] = field(default_factory=set)

    def addresses(self, *names: str) -> dict[str, str]:
        """The names as settings map them to this server."""
        return dict.fromkeys(names, f"127.0.0.1:{self.port}")

    def gaps(self, domain: str) -> list[float]:
        """The seconds between each arrival and the next."""
        return [later - sooner for sooner, later in pairwise(self.arrivals[domain])]

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        self.talks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):  # only we cancel
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self._answer(head, writer)
        writer.close()
        self.talks.discard(task)

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        lines = head.decode().split("\r\n")
        path = lines[0].split(" ")[1]
        host = next(line.split(": ", 1)[1] for line in lines if line.lower().startswith("host:"))
        domain = registrable_domain(host.partition(":")[0])
        loop = asyncio.get_running_loop()
        self.arrivals[domain].append(loop.time())
        self.under_way[domain] += 1
        self.most[domain] = max(self.most[domain], self.under_way[domain])
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), TAKES)
        self.under_way[domain] -= 1
        writer.write(self._page(host, path))
        await writer.drain()

    def _page(self, host: str, path: str) -> bytes:
        if path == "/robots.txt":
            return NOT_FOUND
        if target := self.redirects.get(host):
            return f"HTTP/1.1 302 Found\r\nLocation: {target}{path}\r\nContent-Length: 0\r\n\r\n".encode()
        body = agenda([f"{host}{path}"]).encode()
        return f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@asynccontextmanager
async def a_turnstile(redirects: Mapping[str, str]) -> AsyncIterator[Turnstile]:
    """The server on a port of its own; pages of the hosts in `redirects` lead to the same path elsewhere."""
    turnstile = Turnstile(redirects)
    server = await asyncio.start_server(turnstile.talk, "127.0.0.1", 0)
    turnstile.port = server.sockets[0].getsockname()[1]
    try:
        yield turnstile
    finally:
        server.close()
        for task in list(turnstile.talks):
            task.cancel()
        await asyncio.gather(*turnstile.talks, return_exceptions=True)
