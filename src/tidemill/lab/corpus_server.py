"""Serves the corpus so cheaply that a benchmark measures its client: a bare protocol, no framework.

Each kind of page stands under a path of its own with its number, such as `/bench/7`, on every address; `/robots.txt`
allows everything. As a child process, `python -m tidemill.bootstrap.corpus_server --hosts 50` prints one line of JSON
with its origins and serves until its standard input closes or it is told to stop.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from types import TracebackType
from typing import Self, cast

import uvloop

from tidemill.lab.lifetime import print_json, until_stopped
from tidemill.lab.loopback import addresses, listening_sockets
from tidemill.lab.part import CorpusPages, NumberedPage
from tidemill.lab.wall import wall_time

_ROBOTS = b"User-agent: *\nDisallow:\n"
_LONGEST_REQUEST = 65_536
_DIGITS = 6  # of the last page's number


class CorpusServer:
    """The corpus on so many loopback addresses; those in `slow` (by number) take their time for every page."""

    def __init__(
        self,
        pages: Mapping[str, NumberedPage],
        *,
        hosts: int = 1,
        port: int = 0,
        slow: Mapping[int, timedelta] | None = None,
    ) -> None:
        """Serve `pages` by the start of their path; nothing is opened before the server is entered."""
        self._pages = {path.encode(): page for path, page in pages.items()}
        self.origins: list[str] = []
        self.served = 0
        self._hosts = hosts
        self._port = port
        self._slow = slow or {}
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Transport] = set()

    async def __aenter__(self) -> Self:
        """Open the sockets and serve."""
        loop = asyncio.get_running_loop()
        listeners = listening_sockets(addresses(self._hosts), self._port)
        for number, listener in enumerate(listeners):
            delay = self._slow.get(number, timedelta(0)).total_seconds()
            protocol = lambda delay=delay: _Conversation(self, delay)  # noqa: E731 -- one per address
            self._servers.append(await loop.create_server(protocol, sock=listener))
            host, port = listener.getsockname()
            self.origins.append(f"http://{host}:{port}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening, and hang up on who is still there."""
        for server in self._servers:
            server.close()
        for transport in list(self._open):
            transport.abort()

    def opened(self, transport: asyncio.Transport) -> None:
        """Remember a connection."""
        self._open.add(transport)

    def closed(self, transport: asyncio.Transport) -> None:
        """Forget a connection."""
        self._open.discard(transport)

    def answer(self, path: bytes) -> bytes:
        """Return the whole response to a GET for `path`."""
        self.served += 1
        if path == b"/robots.txt":
            return _response(b"200 OK", b"text/plain; charset=utf-8", _ROBOTS)
        kind, slash, number = path.rpartition(b"/")
        page = self._pages.get(kind + slash)
        if page is None or not number.isdigit() or len(number) > _DIGITS:
            return _response(b"404 Not Found", b"text/plain; charset=utf-8", b"No such page.\n")
        return _response(b"200 OK", b"text/html; charset=utf-8", page(int(number)))


class _Conversation(asyncio.Protocol):
    """One kept-alive connection: GETs in, pages out, in order."""

    def __init__(self, server: CorpusServer, delay: float) -> None:
        self._server = server
        self._delay = delay
        self._heard = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own is one in all but name
        self._server.opened(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._transport is not None:
            self._server.closed(self._transport)
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while (end := self._heard.find(b"\r\n\r\n")) >= 0:
            path = self._heard[: self._heard.find(b" HTTP/")].removeprefix(b"GET ")
            self._heard = self._heard[end + 4 :]
            if self._delay:
                asyncio.get_running_loop().call_later(self._delay, self._say, path)
            else:
                self._say(path)
        if len(self._heard) > _LONGEST_REQUEST and self._transport is not None:
            self._transport.abort()

    def _say(self, path: bytes) -> None:
        if self._transport is not None:
            self._transport.write(self._server.answer(path))


def _response(status: bytes, content_type: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (status, content_type, len(body), body)


async def serve(arguments: argparse.Namespace, corpora: Sequence[CorpusPages]) -> None:
    """Serve the corpus until standard input closes or the process is told to stop."""
    first_day = date.fromisoformat(arguments.first_day) if arguments.first_day else wall_time().date()
    slow = dict.fromkeys(range(arguments.slow_hosts), timedelta(seconds=arguments.slow_seconds))
    pages = {each.path: each.build(first_day) for each in corpora}
    async with CorpusServer(pages, hosts=arguments.hosts, port=arguments.port, slow=slow) as server:
        print_json({"origins": server.origins})
        await until_stopped()


def main(corpora: Sequence[CorpusPages], program: str) -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog=program, description="Serve the corpus.")
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument(
        "--first-day", default="", help="the day before the first events, YYYY-MM-DD; today if left out"
    )
    parser.add_argument("--slow-hosts", type=int, default=0, help="how many of the hosts are slow")
    parser.add_argument("--slow-seconds", type=float, default=1.0, help="what a slow host takes for a page")
    uvloop.run(serve(parser.parse_args(), corpora))
