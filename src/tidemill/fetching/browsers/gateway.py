"""The browser's only way out: a forward proxy of ours on loopback, with the address guard in its connector.

Whatever a page requests (documents, scripts, sockets, prefetches, redirects), Chromium can reach nothing but this
proxy, and the proxy opens no socket whose address the guard has not judged at the moment of connecting.
"""

import asyncio
import socket
from contextlib import suppress
from ipaddress import IPv4Address

from aiohttp.abc import AbstractResolver, ResolveResult

from tidemill.core.failure import Failure
from tidemill.core.urls import BadUrl, address_of, hostname, normalize
from tidemill.fetching.browsers.trackers import is_tracker
from tidemill.fetching.guard import AddressGuard, RefusedAddress
from tidemill.fetching.translate import wire_failure
from tidemill.pipeline.ports import WireFailure

CONNECT_SECONDS = 10
MOST_CONNECTIONS = 200
"""Of one page: this limits the requests that the browser does not pause for our decision."""
LONGEST_HEAD = 65_536
PIECE = 65_536
_HEAD_END = b"\r\n\r\n"
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_HOP_BY_HOP = (b"connection:", b"proxy-connection:", b"keep-alive:", b"proxy-authorization:")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class PageTooLarge(Exception):
    """The page has loaded more than it may."""


class Gateway:
    """The proxy of one browser context: which hosts were asked, how much was loaded, and what failed."""

    def __init__(self, guard: AddressGuard, resolver: AbstractResolver) -> None:
        """Open sockets with `guard` and look names up with `resolver`, which asks the guard too."""
        self._guard = guard
        self._resolver = resolver
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._bytes_left = 0
        self.hosts_requested: list[str] = []
        self.troubles: dict[str, WireFailure] = {}
        self.is_over_budget = False

    async def open(self) -> str:
        """Start to listen, and return the proxy's address."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=LONGEST_HEAD)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening and cut every connection."""
        if self._server is not None:
            self._server.close()
        self._cut()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def reset(self, budget: int) -> None:
        """Start a new page: allow so many bytes, and forget the requests of the last one."""
        self._bytes_left, self.is_over_budget = budget, False
        self.hosts_requested, self.troubles = [], {}

    def _cut(self) -> None:
        for task in self._connections:
            task.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine always runs in one
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # either side closed, or it was not HTTP: the page sees a lost connection
        except PageTooLarge:
            self.is_over_budget = True
            self._cut()
        except asyncio.CancelledError:
            pass  # cut by us; the server that started this task would log a cancellation as an error
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(_HEAD_END)
        verb, target, _ = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
        is_tunnel = verb == "CONNECT"
        out = await self._open_connection(f"https://{target}/" if is_tunnel else target)
        if out is None:
            if is_tunnel:  # to any other request this would read as the site's own answer
                writer.write(_REFUSED)
            return
        try:
            if is_tunnel:
                writer.write(_ESTABLISHED)
            else:
                out[1].write(origin_form_head(head, target))
            await self._relay((reader, writer), out, is_tunnel=is_tunnel)
        finally:
            out[1].close()

    async def _open_connection(self, address: str) -> Streams | None:
        """Connect to what the browser wants, or note why not and return None."""
        try:
            href = normalize(address)
        except BadUrl:
            return None
        host = hostname(href)
        if is_tracker(host) or len(self.hosts_requested) >= MOST_CONNECTIONS:
            return None
        if refusal := self._guard.reason_to_refuse(href):
            self.troubles[host] = WireFailure(failure=Failure.ADDRESS_REFUSED, detail=refusal)
            return None
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                streams = await self._connect(host, _port_of(href))
        except (OSError, UnicodeError, TimeoutError) as error:
            self.troubles[host] = wire_failure(error)
            return None
        self.hosts_requested.append(host)
        return streams

    async def _connect(self, host: str, port: int) -> Streams:
        """Connect to the first address of `host` that answers; each is judged as its socket is opened."""
        trouble: OSError = socket.gaierror(socket.EAI_NONAME, "no address")
        for found in await self._addresses(host, port):
            try:
                return await self._open(host, found)
            except OSError as error:
                trouble = error
        raise trouble

    async def _addresses(self, host: str, port: int) -> list[ResolveResult]:
        if (address := address_of(host)) is not None:
            family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
            return [ResolveResult(hostname=host, host=str(address), port=port, family=family, proto=0, flags=0)]
        try:
            return await self._resolver.resolve(host, port, socket.AF_UNSPEC)
        except RefusedAddress:
            raise
        except OSError as error:  # whatever it raises, the name was not resolved
            raise socket.gaierror(socket.EAI_NONAME, str(error)) from error

    async def _open(self, host: str, found: ResolveResult) -> Streams:
        target = (found["host"], found["port"])
        sock = self._guard.open_socket(host, (found["family"], socket.SOCK_STREAM, 0, "", target))
        sock.settimeout(0)  # the loop waits, the socket must not
        try:
            await asyncio.get_running_loop().sock_connect(sock, target)
        except BaseException:  # whatever it is, a cancellation too: nobody else would close the socket
            sock.close()
            raise
        return await asyncio.open_connection(sock=sock, limit=LONGEST_HEAD)

    async def _relay(self, browser: Streams, site: Streams, *, is_tunnel: bool) -> None:
        """Copy bytes both ways until the site has no more to send, or the browser closes."""
        sending = asyncio.create_task(_copy(browser[0], site[1]))
        try:
            if not is_tunnel:
                await self._carry_head(site[0], browser[1])
            while piece := await site[0].read(PIECE):
                self._count_bytes(len(piece))
                browser[1].write(piece)
                await browser[1].drain()
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _carry_head(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on the response's head, with `Connection: close`."""
        head = await reader.readuntil(_HEAD_END)
        self._count_bytes(len(head))
        writer.write(_with_connection_close(head))

    def _count_bytes(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise PageTooLarge


def origin_form_head(head: bytes, target: str) -> bytes:
    """Return a proxy request's head as the site expects it: with the path alone, and `Connection: close`."""
    line, _, rest = head.partition(b"\r\n")
    path = b"/" + target.partition("://")[2].partition("/")[2].encode("latin-1")
    verb, _, version = line.split(b" ", 2)
    return _with_connection_close(b" ".join((verb, path, version)) + b"\r\n" + rest)


def _with_connection_close(head: bytes) -> bytes:
    lines = head.removesuffix(_HEAD_END).split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(_HOP_BY_HOP)]
    return b"\r\n".join([*kept, b"Connection: close"]) + _HEAD_END


def _port_of(href: str) -> int:
    scheme, _, rest = href.partition("://")
    port = rest.partition("/")[0].rpartition("]")[2].rpartition(":")[2]
    return int(port) if port.isdecimal() else {"http": 80, "https": 443}[scheme]


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
