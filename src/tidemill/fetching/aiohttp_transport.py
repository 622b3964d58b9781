"""The real transport: aiohttp over sockets that the guard has judged."""

import socket
import ssl
from collections.abc import Mapping
from contextvars import ContextVar

import aiohttp
from aiohttp import http_exceptions
from aiohttp.abc import AbstractResolver
from aiohttp.client_reqrep import ClientResponse

from tidemill.core.failure import Failure
from tidemill.core.urls import hostname
from tidemill.fetching.aiohttp_request import BeforeSend, send_request
from tidemill.fetching.deadlines import Deadlines
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.resolver import GuardedResolver
from tidemill.fetching.translate import wire_failure
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

DNS_CACHE_SECONDS = 60

# For whose address the request that runs in this task is: a socket factory cannot be told otherwise.
_asked: ContextVar[str] = ContextVar("asked")


class AiohttpTransport:
    """Sends requests over kept-alive connections: no cookies, no redirects, bodies read raw and under a cap."""

    def __init__(
        self,
        guard: AddressGuard,
        *,
        resolve: Mapping[str, str] | None = None,
        max_connections: int = 100,
        dns: AbstractResolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`resolve` maps names that no DNS knows; `dns` and `tls` replace the system's own."""
        self._guard = guard
        self._resolver = GuardedResolver(guard, resolve or {}, dns)
        self._max_connections = max_connections
        self._tls = tls
        self._deadlines = Deadlines()
        self._connector: aiohttp.TCPConnector | None = None

    async def send(self, request: WireRequest, before_send: BeforeSend) -> WireResponse | WireFailure:
        """Send one request and read what comes, within its time and size."""
        connector = self._connector or self._open()
        _asked.set(request.url)
        response: ClientResponse | None = None
        body = _Body(request.max_bytes)
        try:
            with self._deadlines.within(request.timeout.total_seconds()):
                response = await send_request(connector, request, before_send)
                await body.read_from(response)
        except (aiohttp.ClientError, OSError, TimeoutError, UnicodeError) as error:
            if response is None:
                return wire_failure(error)
            body.broke_off(error)
        finally:
            if response is not None and not body.is_whole:  # a connection goes back to the pool with its last byte only
                response.close()
        return body.told(response)

    async def close(self) -> None:
        """Close every connection."""
        connector, self._connector = self._connector, None
        if connector is not None:
            await connector.close()
        self._deadlines.close()
        await self._resolver.close()

    def _open(self) -> aiohttp.TCPConnector:
        self._connector = aiohttp.TCPConnector(
            limit=self._max_connections,
            resolver=self._resolver,
            ttl_dns_cache=DNS_CACHE_SECONDS,
            socket_factory=self._open_socket,
            ssl=self._tls or True,
        )
        return self._connector

    def _open_socket(self, address_info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        return self._guard.open_socket(hostname(_asked.get()), address_info)


class _Body:
    """What has come of a body, up to the first byte too many, and why there is no more of it."""

    __slots__ = ("_cut", "_is_garbled", "_max_bytes", "_pieces", "is_whole")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._cut: Failure | None = None
        self._is_garbled = False
        self.is_whole = False

    async def read_from(self, response: ClientResponse) -> None:
        """Collect what comes; what came before trouble is kept."""
        content, left = response.content, self._max_bytes
        promised = response.headers.get("content-length", "")
        if promised.isdecimal() and int(promised) > left:
            self._cut = Failure.TOO_LARGE
            return
        while not content.at_eof():
            piece = await content.readany()
            self._pieces.append(piece)
            left -= len(piece)
            if left < 0:
                self._cut = Failure.TOO_LARGE
                return
        self.is_whole = True

    def broke_off(self, error: Exception) -> None:
        """Note why nothing more comes."""
        self._cut, self._is_garbled = wire_failure(error).failure, _is_garbled(error)

    def told(self, response: ClientResponse) -> WireResponse:
        """The response with as much of its body as there is."""
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return WireResponse(
            status_code=response.status,
            headers=_plain(response.headers),
            body=body[: self._max_bytes],
            cut=self._cut,
            is_garbled=self._is_garbled,
        )


def _is_garbled(error: Exception) -> bool:
    """Whether a body broke off because of what came, rather than because nothing more came."""
    cause = error.__cause__ if isinstance(error, aiohttp.ClientPayloadError) else None
    return isinstance(cause, http_exceptions.TransferEncodingError) and "Not enough data" not in str(cause)


def _plain(headers: Mapping[str, str]) -> dict[str, str]:
    plain = {name.lower(): value for name, value in headers.items()}
    if "".join(plain.values()).isascii():
        return plain
    return {name: _legible(value) for name, value in plain.items()}


def _legible(value: str) -> str:
    """A header that is not ASCII: UTF-8 if it is that, else Latin-1, as browsers read it; never a lone surrogate."""
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
