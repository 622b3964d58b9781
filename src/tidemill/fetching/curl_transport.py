"""The fallback transport: libcurl, for servers that break HTTP or speak HTTP/2 only, behind the same address guard.

Each request has a connection of its own to an address that the guard has judged: libcurl is given the address and
never asks a name server. It follows no redirects, keeps no cookies and uses no proxy.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp.abc import AbstractResolver

from tidemill.core.failure import Failure
from tidemill.core.urls import address_of, hostname
from tidemill.fetching.aiohttp_request import BeforeSend
from tidemill.fetching.guard import AddressGuard, RefusedAddress
from tidemill.fetching.resolver import GuardedResolver
from tidemill.fetching.translate import wire_failure
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

LONGEST_HEAD = 262_144  # bytes of all headers together
LINGER_SECONDS = 0.5  # how long a server may take to hang up, or to send more than it promised
STOP_WRITING = 0xFFFFFFFF  # what libcurl calls CURL_WRITEFUNC_ERROR

_DEFAULT_PORT = {"http": 80, "https": 443}

# By libcurl's own numbers; what is not here broke HTTP in a way that even libcurl does not forgive.
_FAILURE_OF_ERROR = {
    3: Failure.BAD_URL,
    6: Failure.DNS_FAILED,
    7: Failure.CONNECTION_LOST,
    28: Failure.TIMED_OUT,
    35: Failure.TLS_FAILED,
    52: Failure.CONNECTION_LOST,
    55: Failure.CONNECTION_LOST,
    56: Failure.CONNECTION_LOST,
    60: Failure.TLS_FAILED,
    83: Failure.TLS_FAILED,
}
_HUNG_UP = 52
_FAILURE_OF_CUT = {18: Failure.TRUNCATED_BODY, 28: Failure.TIMED_OUT}


def curl_or_none() -> ModuleType | None:
    """Return the curl_cffi package, if the extra `curl` is installed."""
    try:
        import curl_cffi  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return curl_cffi


class ResolvedAddress(msgspec.Struct, frozen=True):
    """The address that a request is sent to, judged by the guard, and its port."""

    ip: str
    port: int


class CurlReceiver:
    """Collects what libcurl hands over: the last response head, and a body that never exceeds its cap."""

    def __init__(self, max_bytes: int) -> None:
        """Start with nothing received."""
        self._max_bytes = max_bytes
        self._head: list[bytes] = []
        self._pieces: list[bytes] = []
        self.size = 0
        self._head_size = 0
        self.overflowed = False

    def on_header(self, line: bytes) -> int:
        """Keep one header line; a status line starts a new head."""
        if line.startswith(b"HTTP/"):
            self._head, self._head_size = [], 0
        self._head.append(line)
        self._head_size += len(line)
        return len(line) if self._head_size <= LONGEST_HEAD else STOP_WRITING

    def on_body(self, data: bytes) -> int:
        """Keep a piece of the body; the first byte too many ends the transfer."""
        self._pieces.append(data)
        self.size += len(data)
        self.overflowed = self.size > self._max_bytes
        return STOP_WRITING if self.overflowed else len(data)

    @property
    def has_head(self) -> bool:
        """Whether a whole head has been received."""
        return bool(self._head) and self._head[-1].strip() == b""

    @property
    def is_short(self) -> bool:
        """Whether fewer bytes came than Content-Length promises."""
        return self._content_length is not None and self.size < self._content_length

    @property
    def is_complete(self) -> bool:
        """Whether at least as many bytes came as Content-Length promises."""
        return self._content_length is not None and self.size >= self._content_length

    def response(self, status_code: int, cut: Failure | None) -> WireResponse:
        """Return what was received as a response."""
        body = b"".join(self._pieces)[: self._max_bytes]
        return WireResponse(status_code=status_code, headers=self._headers(), body=body, cut=cut)

    @property
    def _content_length(self) -> int | None:
        length = self._headers().get("content-length", "") if self.has_head else ""
        return int(length) if length.isdecimal() else None

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for line in self._head[1:]:
            name, colon, value = line.partition(b":")
            if colon:
                headers[_decode_header(name).strip().lower()] = _decode_header(value).strip()
        return headers


class CurlTransport:
    """Sends each request over a connection of its own, and accepts what libcurl accepts."""

    def __init__(
        self,
        curl: ModuleType,
        guard: AddressGuard,
        *,
        resolve: Mapping[str, str] | None = None,
        dns: AbstractResolver | None = None,
        ca_file: Path | None = None,
    ) -> None:
        """`curl` is the package; `resolve` and `dns` are as in `AiohttpTransport`.

        `ca_file` is a file of certificates to trust instead of the usual ones.
        """
        self._ca_file = ca_file
        self._curl = curl
        self._guard = guard
        self._resolver = GuardedResolver(guard, resolve or {}, dns)
        self._multi: Any = None

    async def send(self, request: WireRequest, before_send: BeforeSend) -> WireResponse | WireFailure:
        """Send one request and read its response, within its time and size limits."""
        try:
            address = await self._allowed_address(request.url)
        except (OSError, UnicodeError) as error:
            return wire_failure(error)
        received = CurlReceiver(request.max_bytes)
        handle = self._prepare_handle(request, address, received)
        try:
            await before_send()
            return await self._perform(handle, received)
        finally:
            handle.close()

    async def close(self) -> None:
        """Close every connection."""
        multi, self._multi = self._multi, None
        if multi is not None:
            await multi.close()
        await self._resolver.close()

    async def _allowed_address(self, url: str) -> ResolvedAddress:
        """Return the address to connect to; raise what `GuardedResolver` raises."""
        host, port = hostname(url), _port_of(url)
        if address_of(host) is not None:
            if not self._guard.allows(host, host, port):
                raise RefusedAddress
            return ResolvedAddress(host, port)
        found = await self._resolver.resolve(host, port)
        if not found:
            raise OSError(None, f"no address for {host}")
        return ResolvedAddress(found[0]["host"], found[0]["port"])

    def _prepare_handle(self, request: WireRequest, address: ResolvedAddress, received: CurlReceiver) -> Any:
        opt, handle = self._curl.CurlOpt, self._curl.Curl()
        url, headers = _with_resolved_port(request, address)
        ip = f"[{address.ip}]" if ":" in address.ip else address.ip
        handle.setopt(opt.URL, url.encode())
        handle.setopt(opt.RESOLVE, [f"{hostname(request.url)}:{address.port}:{ip}"])
        lines = [f"{name}: {value}" for name, value in {**headers, "Connection": "close"}.items()]
        handle.setopt(opt.HTTPHEADER, [line.encode() for line in lines])
        handle.setopt(opt.HTTP_VERSION, self._curl.CurlHttpVersion.V2TLS)
        if self._ca_file is not None:
            handle.setopt(opt.CAINFO, str(self._ca_file).encode())
        handle.setopt(opt.TIMEOUT_MS, max(1, int(request.timeout.total_seconds() * 1000)))
        handle.setopt(opt.PROTOCOLS_STR, b"http,https")
        handle.setopt(opt.FOLLOWLOCATION, 0)
        handle.setopt(opt.PROXY, b"")
        handle.setopt(opt.FRESH_CONNECT, 1)
        handle.setopt(opt.FORBID_REUSE, 1)
        handle.setopt(opt.IGNORE_CONTENT_LENGTH, 1)  # it may be wrong; the server hangs up at the end
        handle.setopt(opt.HEADERFUNCTION, received.on_header)
        handle.setopt(opt.WRITEFUNCTION, received.on_body)
        return handle

    async def _perform(self, handle: Any, received: CurlReceiver) -> WireResponse | WireFailure:
        if self._multi is None:
            self._multi = self._curl.AsyncCurl()
        transfer: asyncio.Future[None] = self._multi.add_handle(handle)
        error = None
        try:
            if await self._wait_for_end(transfer, received):
                await transfer
        except self._curl.CurlError as trouble:
            error = trouble
        finally:
            if not transfer.done() and self._multi is not None:
                self._multi.remove_handle(handle)
        return self._result(handle, received, error)

    async def _wait_for_end(self, transfer: "asyncio.Future[None]", received: CurlReceiver) -> bool:
        """Wait for the end; False for a server that sent all it promised and then neither goes on nor closes."""
        while True:
            before = received.size
            done, _ = await asyncio.wait({transfer}, timeout=LINGER_SECONDS)
            if done:
                return True
            if received.is_complete and received.size == before:
                return False

    def _result(self, handle: Any, received: CurlReceiver, error: Any) -> WireResponse | WireFailure:
        code = _HUNG_UP if error is None else int(error.code)
        if not received.has_head:
            detail = "the server hung up before it had answered" if error is None else str(error)[:500]
            return WireFailure(failure=_FAILURE_OF_ERROR.get(code, Failure.SERVER_ERROR), detail=detail)
        cut = None
        if received.overflowed:
            cut = Failure.TOO_LARGE
        elif received.is_short or (error is not None and not received.is_complete):
            cut = _FAILURE_OF_CUT.get(code, Failure.TRUNCATED_BODY)
        return received.response(int(handle.getinfo(self._curl.CurlInfo.RESPONSE_CODE)), cut)


def _with_resolved_port(request: WireRequest, address: ResolvedAddress) -> tuple[str, dict[str, str]]:
    """Return the URL with the port that is really used, and headers that still name the host as it was."""
    parts = urlsplit(request.url)
    headers = dict(request.headers)
    if address.port == _port_of(request.url):
        return request.url, headers
    headers["Host"] = parts.netloc
    name = f"[{hostname(request.url)}]" if ":" in hostname(request.url) else hostname(request.url)
    return parts._replace(netloc=f"{name}:{address.port}").geturl(), headers


def _port_of(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or _DEFAULT_PORT[parts.scheme]


def _decode_header(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
