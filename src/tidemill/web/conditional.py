"""ETags: what has not changed is not sent again, and a change to something that moved meanwhile is refused."""

import hashlib
from typing import Any

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_TAGGED = 1_000_000
"""Bodies above this are streamed on without a tag."""
NOT_MODIFIED = 304

_encoder = msgspec.json.Encoder()


class PreconditionFailed(Exception):
    """It changed since the caller read it."""


def etag_of(body: bytes) -> str:
    """Return the ETag of a body."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def require_match(request: Request, current: Any) -> None:
    """Raise `PreconditionFailed` when If-Match names another state than the current one."""
    wanted = request.headers.get("if-match")
    if wanted is not None and not matches(wanted, etag_of(_encoder.encode(current))):
        msg = "It was changed since you read it."
        raise PreconditionFailed(msg)


def matches(header: str, tag: str) -> bool:
    """Return whether a header of tags names this one; `*` names all."""
    return header.strip() == "*" or tag in (each.strip().removeprefix("W/") for each in header.split(","))


class ConditionalGet:
    """Middleware that tags the JSON answers of the API, and answers 304 to who has the newest already."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the app."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"} or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == b"if-none-match"), b"").decode("latin-1")
        await self._app(scope, receive, _TaggingSend(send, given))


class _TaggingSend:
    """Holds the start of an answer back until its body is known."""

    def __init__(self, send: Send, given: str) -> None:
        self._send = send
        self._given = given
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_tagged(message):
            self._start = message
            return
        if self._start is not None and message["type"] == "http.response.body":
            start, self._start = self._start, None
            message = self._with_tag(start, message)
            await self._send(start)
        await self._send(message)

    def _with_tag(self, start: Message, message: Message) -> Message:
        if message.get("more_body"):
            return message
        headers, tag = MutableHeaders(scope=start), etag_of(message.get("body", b""))
        headers["ETag"] = tag
        if not self._given or not matches(self._given, tag):
            return message
        start["status"] = NOT_MODIFIED
        for name in ("content-length", "content-type"):
            del headers[name]
        return {**message, "body": b""}


def _is_tagged(message: Message) -> bool:
    headers = MutableHeaders(scope=message)
    small = int(headers.get("content-length", LARGEST_TAGGED + 1)) <= LARGEST_TAGGED
    return message["status"] == 200 and "etag" not in headers and small  # noqa: PLR2004 - OK
