"""Idempotency-Key: a request that is sent twice with the same key acts once, and gets the same answer."""

import hashlib
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidemill.pipeline.ports import Clock
from tidemill.store.access.idempotency import IdempotencyRepository, KeptAnswer
from tidemill.web.responses import PROBLEM_TYPE, error_response

HEADER = "idempotency-key"
LONGEST_KEY = 255
LARGEST_KEPT = 200_000
"""Larger answers are not kept: the key is given back, and the request may act again."""
FIRST_REFUSAL = 400
"""Only what was done is kept: whoever was refused, or came too often, may send the same request again."""
SECRET_PATHS = ("/api/v1/tokens", "/api/v1/people", "/api/v1/webhooks")
"""Answers from here hold secrets that are shown once, and are never stored."""


class IdempotentPosts:
    """Middleware that keeps the answers to POST requests which carry a key."""

    def __init__(self, app: ASGIApp, answers: IdempotencyRepository, clock: Clock) -> None:
        """Keep answers in the database, for every process."""
        self._app = app
        self._answers = answers
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or answer as the first one with its key was answered."""
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        if headers is None or scope["method"] != "POST" or HEADER not in headers:
            await self._app(scope, receive, send)
            return
        key = headers[HEADER]
        if not 0 < len(key) <= LONGEST_KEY:
            wrong = error_response(422, "bad_parameter", "An Idempotency-Key has 1 to 255 characters.")
            await wrong(scope, receive, send)
            return
        await self._handle(key, headers, scope, receive, send)

    async def _handle(self, key: str, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _whole_body(receive)
        caller = headers.get("authorization", "") + headers.get("cookie", "")
        key_hash = _digest(caller, key)
        request_hash = _digest(scope["path"], scope["query_string"].decode("latin-1"), body.decode("latin-1"))
        kept = await self._answers.claim(key_hash, request_hash, self._clock.now())
        if kept is not None:
            await _replay(kept, request_hash, scope, receive, send)
            return
        collecting = _CollectingSend(send)
        try:
            await self._app(scope, _sending(body, receive), collecting)
        except BaseException:
            await self._answers.release(key_hash)
            raise
        await self._keep(key_hash, scope["path"], collecting)

    async def _keep(self, key_hash: str, path: str, answer: "_CollectingSend") -> None:
        if answer.status is None or answer.status >= FIRST_REFUSAL or len(answer.body) > LARGEST_KEPT:
            await self._answers.release(key_hash)
        elif path.startswith(SECRET_PATHS):
            done = error_response(409, "done_already", "This was done already; its secret was shown once.")
            await self._answers.keep(key_hash, 409, PROBLEM_TYPE, bytes(done.body).decode())
        else:
            await self._answers.keep(key_hash, answer.status, answer.content_type, answer.body.decode("utf-8"))


class _CollectingSend:
    """Passes an answer on, and remembers it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        self.content_type = ""
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.content_type = Headers(raw=message["headers"]).get("content-type", "")
        elif len(self.body) <= LARGEST_KEPT:
            self.body += message.get("body", b"")
        await self._send(message)


async def _replay(kept: KeptAnswer, request_hash: str, scope: Scope, receive: Receive, send: Send) -> None:
    if kept.request_hash != request_hash:
        words = "This Idempotency-Key was used for another request."
        response = error_response(422, "key_reused", words, "Use a new key for every request.")
    elif kept.status is None:
        response = error_response(409, "under_way", "The first request with this key is under way.", "Try again later.")
        response.headers["Retry-After"] = "1"
    else:
        response = error_response(kept.status, "", "")
        response.body = kept.body.encode()
        response.init_headers(
            {"content-type": kept.content_type, "idempotent-replayed": "true"} if kept.content_type else None
        )
    await response(scope, receive, send)


async def _whole_body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _sending(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    sent = False

    async def once() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
