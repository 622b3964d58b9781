"""The usual transport: aiohttp over sockets that the guard has judged."""

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

# The URL of the request that runs in this task: aiohttp passes a socket factory nothing else to know it by.
_requested_url: ContextVar[str] = ContextVar("asked")


class AiohttpTransport:
    """Sends requests over kept-alive connections: no cookies, no redirects, bodies read undecoded and under a cap."""

    def __init__(
        self,
        guard: AddressGuard,
        *,
        resolve: Mapping[str, str] | None = None,
        max_connections: int = 100,
        dns: AbstractResolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`resolve` maps host names that DNS does not know; `dns` and `tls` replace the system's own."""
        self._guard = guard
        self._resolver = GuardedResolver(guard, resolve or {}, dns)
        self._max_connections = max_connections
        self._tls = tls
        self._deadlines = Deadlines()
        self._connector: aiohttp.TCPConnector | None = None

    async def send(self, request: WireRequest, before_send: BeforeSend) -> WireResponse | WireFailure:
        """Send one request and read its response, within its time and size limits."""
        connector = self._connector or self._open()
        _requested_url.set(request.url)
        response: ClientResponse | None = None
        body = _Body(request.max_bytes)
        try:
            with self._deadlines.within(request.timeout.total_seconds()):
                response = await send_request(connector, request, before_send)
                await body.read_from(response)
        except (aiohttp.ClientError, OSError, TimeoutError, UnicodeError) as error:
            if response is None:
                return wire_failure(error)
            body.note_error(error)
        finally:
            if response is not None and not body.is_whole:  # a connection goes back to the pool with its last byte only
                response.close()
        return body.to_response(response)

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
        return self._guard.open_socket(hostname(_requested_url.get()), address_info)


class _Body:
    """The part of a body that has been read, up to the first byte too many, and why there is no more of it."""

    __slots__ = ("_cut", "_is_garbled", "_max_bytes", "_pieces", "is_whole")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._cut: Failure | None = None
        self._is_garbled = False
        self.is_whole = False

    async def read_from(self, response: ClientResponse) -> None:
        """Read the body; what was read before an error is kept."""
        content, bytes_left = response.content, self._max_bytes
        content_length = response.headers.get("content-length", "")
        if content_length.isdecimal() and int(content_length) > bytes_left:
            self._cut = Failure.TOO_LARGE
            return
        while not content.at_eof():
            piece = await content.readany()
            self._pieces.append(piece)
            bytes_left -= len(piece)
            if bytes_left < 0:
                self._cut = Failure.TOO_LARGE
                return
        self.is_whole = True

    def note_error(self, error: Exception) -> None:
        """Note why the rest of the body is missing."""
        self._cut, self._is_garbled = wire_failure(error).failure, _is_garbled(error)

    def to_response(self, response: ClientResponse) -> WireResponse:
        """Return the response with as much of its body as was read."""
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return WireResponse(
            status_code=response.status,
            headers=_lower_case_headers(response.headers),
            body=body[: self._max_bytes],
            cut=self._cut,
            is_garbled=self._is_garbled,
        )


def _is_garbled(error: Exception) -> bool:
    """Whether a body ended because it is not HTTP, rather than because the connection did."""
    cause = error.__cause__ if isinstance(error, aiohttp.ClientPayloadError) else None
    return isinstance(cause, http_exceptions.TransferEncodingError) and "Not enough data" not in str(cause)


def _lower_case_headers(headers: Mapping[str, str]) -> dict[str, str]:
    plain = {name.lower(): value for name, value in headers.items()}
    if "".join(plain.values()).isascii():
        return plain
    return {name: _decode_header(value) for name, value in plain.items()}


def _decode_header(value: str) -> str:
    """Decode a header that is not ASCII as UTF-8 or else Latin-1, as browsers do; never a lone surrogate."""
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
