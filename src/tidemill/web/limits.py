"""Limits on whoever calls the web app: size of a body, time to send a request, connections per address, exposure.

None of these asks who the caller is: they hold before a token is looked at.
"""

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Collection
from functools import partial
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from tidemill.operations.plans import LARGEST_FILE
from tidemill.web.responses import error_response

IMPORTS = "/import"
"""Addresses that end so take a file as their body, piece by piece and only from whoever may."""
OPEN_FORMS = frozenset({"/sign-in", "/welcome"})
LARGEST_OPEN_FORM = 20_000
"""Bytes that anybody may send to the forms for those who have not signed in: a name, a password and a link."""
LARGEST_PIECE = 2_048
"""Bytes of a connection that are read at once: cut into chunks of one byte they keep the loop for some 10 ms."""


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one caller may use of the server.

    `trusted_proxies` are the addresses and networks whose X-Forwarded-For is believed; their connections are not
    counted, because they are everybody's.
    """

    body_bytes: int = 1_000_000
    request_seconds: float = 20.0
    idle_seconds: int = 5
    connections_per_address: int = 100
    connections: int = 1_000
    trusted_proxies: tuple[str, ...] = ()


class BodyLimit:
    """ASGI middleware that answers 413 to a body that is too large, as soon as that is known."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        """Wrap `app`; bodies of imports may be as large as an imported file."""
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting what it sends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_for(scope["path"])
        if _content_length(scope) > most:
            await too_large(most)(scope, receive, send)
            return
        counted = _CountedRequest(scope, receive, send, most)
        await self._app(scope, counted.receive, counted.send)

    def _most_for(self, path: str) -> int:
        if path in OPEN_FORMS:
            return min(LARGEST_OPEN_FORM, self._most_bytes)
        return LARGEST_FILE + 1 if path.endswith(IMPORTS) else self._most_bytes


class _CountedRequest:
    """A request whose body is counted; at too much it is answered, and for the app its caller has left."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._left = self._most = most
        self._answered = False
        self._refused = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left >= 0 or self._refused:
            return message
        self._refused = True
        if not self._answered:
            await too_large(self._most)(self._scope, self._receive, self._send)
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self._answered = True
        if not self._refused:
            await self._send(message)


def too_large(most: int) -> Any:
    """Return the answer to a body of more than so many bytes."""
    response = error_response(413, "too_large", f"The body is larger than {most} bytes.", "Send less, in parts.")
    response.headers["Connection"] = "close"
    return response


def _content_length(scope: Scope) -> int:
    stated = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(stated) if stated.isdigit() and len(stated) < 20 else 0  # noqa: PLR2004 - more digits than any size has


class OpenConnections:
    """The connections that are open, counted by address; those of trusted proxies are not."""

    def __init__(self, limits: ServerLimits) -> None:
        """Nobody is connected yet."""
        self.limits = limits
        self._trusted = [ipaddress.ip_network(each) for each in limits.trusted_proxies]
        self._by_address: Counter[str] = Counter()

    def add(self, address: str) -> bool:
        """Count a connection; answers whether there is room for it."""
        self._by_address[address] += 1
        if self._by_address.total() > self.limits.connections:
            return False
        return is_within(address, self._trusted) or self._by_address[address] <= self.limits.connections_per_address

    def remove(self, address: str) -> None:
        """A connection that was counted is closed."""
        self._by_address[address] -= 1
        if self._by_address[address] <= 0:
            del self._by_address[address]


class LimitedProtocol(H11Protocol):
    """A connection that must bring its whole request in time, from an address that has not too many already.

    Its transport is handed to the app, so that a stream can bound what waits for a slow reader.
    """

    def __init__(self, open_connections: OpenConnections, **options: Any) -> None:
        """`options` go to uvicorn."""
        super().__init__(**options)
        self._open_connections = open_connections
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take the connection, or drop it if there is no room."""
        self.app_state = {**self.app_state, "transport": transport}
        if hasattr(transport, "max_size"):  # asyncio's own name for it, in no document
            transport.max_size = LARGEST_PIECE
        super().connection_made(transport)
        if self._open_connections.add(self._address):
            self._expect_request()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        super().connection_lost(exc)
        self._stop_waiting()
        self._open_connections.remove(self._address)

    def data_received(self, data: bytes) -> None:
        """Take what came; the rest of a request must come in time too."""
        super().data_received(data)
        if self._has_whole_request():
            self._stop_waiting()
        elif self._deadline is None:
            self._expect_request()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _has_whole_request(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete and not self.cycle.more_body

    def _expect_request(self) -> None:
        self._deadline = self.loop.call_later(self._open_connections.limits.request_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self._has_whole_request() and not self.transport.is_closing():
            self.transport.abort()


def limited_protocol(limits: ServerLimits) -> Any:
    """Return what makes a server's connections, within these limits together."""
    return partial(LimitedProtocol, OpenConnections(limits))


def is_within(address: str, networks: Collection[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    """Return whether an address lies in one of the networks; what is no address lies in none."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)


def exposure_problem(host: str, limits: ServerLimits, *, has_credentials: bool) -> str:
    """Return why the web app must not be served like this, and what to do; '' if it may."""
    if has_credentials or (is_loopback(host) and not limits.trusted_proxies):
        return ""
    seen = "is behind a proxy (web_trusted_proxies)" if is_loopback(host) else f"listens on {host}"
    return (
        f"the web app {seen}, where others reach it, and nobody would have to say who they are: set api_token,"
        " or let it listen on 127.0.0.1 (web_host)"
    )


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a server that listens on this address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
