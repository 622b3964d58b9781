"""The real transport: aiohttp over sockets that the guard has judged."""

import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from datetime import timedelta
from functools import lru_cache

import aiohttp
from aiohttp import http_exceptions
from aiohttp.abc import AbstractResolver
from aiohttp.client_reqrep import ClientRequest, ClientResponse
from aiohttp.connector import Connection
from yarl import URL

from tidemill.core.failure import Failure
from tidemill.core.urls import hostname
from tidemill.fetching.guard import Guard
from tidemill.fetching.names import GuardedResolver
from tidemill.fetching.translate import wire_failure
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

LONGEST_HEADER = 65_536  # bytes; real sites pass aiohttp's own limit of 8,190 with their content policies
DNS_CACHE_SECONDS = 60

Depart = Callable[[], Awaitable[None]]

# What the request that runs in this task is for: the connector and the request class below cannot be told otherwise.
_errand: ContextVar[tuple[str, Depart]] = ContextVar("errand")


class _DepartingRequest(ClientRequest):
    """A request that announces itself when its connection stands; aiohttp's own second try included."""

    async def send(self, conn: Connection) -> ClientResponse:
        await _errand.get()[1]()
        return await super().send(conn)


class AiohttpTransport:
    """Sends requests over kept-alive connections: no cookies, no redirects, bodies read raw and under a cap."""

    def __init__(
        self,
        guard: Guard,
        *,
        usual_headers: Mapping[str, str] | None = None,
        resolve: Mapping[str, str] | None = None,
        max_connections: int = 100,
        dns: AbstractResolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Requests whose headers are `usual_headers` itself cost less.

        `resolve` maps names that no DNS knows; `dns` and `tls` replace the system's own.
        """
        self._guard = guard
        self._usual_headers = usual_headers
        self._resolver = GuardedResolver(guard, resolve or {}, dns)
        self._max_connections = max_connections
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: WireRequest, depart: Depart) -> WireResponse | WireFailure:
        """Send one request and read what comes, within its time and size."""
        session = self._session or self._open()
        _errand.set((request.url, depart))
        try:
            response = await session.request(
                request.method,
                URL(request.url, encoded=True),
                data=request.content or None,
                headers=None if request.headers is self._usual_headers else request.headers,
                allow_redirects=False,
                timeout=_timeout(request.timeout),
            )
        except (aiohttp.ClientError, OSError, TimeoutError, UnicodeError) as error:
            return wire_failure(error)
        return await _read(response, request.max_bytes)

    async def close(self) -> None:
        """Close every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        await self._resolver.close()

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._max_connections,
                resolver=self._resolver,
                ttl_dns_cache=DNS_CACHE_SECONDS,
                socket_factory=self._open_socket,
                ssl=self._tls or True,
            ),
            request_class=_DepartingRequest,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers=self._usual_headers,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
        )
        return self._session

    def _open_socket(self, address_info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        return self._guard.open_socket(hostname(_errand.get()[0]), address_info)


async def _read(response: ClientResponse, max_bytes: int) -> WireResponse:
    """Collect the body and stop at the first byte too many; what came before trouble is kept."""
    headers = _plain(response.headers)
    promised = headers.get("content-length", "")
    cut = Failure.TOO_LARGE if promised.isdecimal() and int(promised) > max_bytes else None
    pieces: list[bytes] = []
    size, is_whole, is_garbled = 0, False, False
    try:
        while cut is None and (piece := await response.content.readany()):
            pieces.append(piece)
            size += len(piece)
            if size > max_bytes:
                cut = Failure.TOO_LARGE
        is_whole = cut is None
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        cut, is_garbled = wire_failure(error).failure, _is_garbled(error)
    finally:
        if not is_whole:  # a connection whose body was read whole has gone back to the pool; others must not
            response.close()
    body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return WireResponse(
        status_code=response.status, headers=headers, body=body[:max_bytes], cut=cut, is_garbled=is_garbled
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


@lru_cache(maxsize=256)
def _timeout(limit: timedelta) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=max(limit.total_seconds(), 0.001))  # 0 would mean for ever
