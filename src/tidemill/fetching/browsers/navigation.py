"""One navigation of a page: the request that may be sent, its response, and redirects by a script."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tidemill.core.failure import Failure
from tidemill.fetching.translate import REDIRECTS
from tidemill.pipeline.ports import WireRequest, WireResponse

Send = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
BeforeSend = Callable[[], Awaitable[None]]

WIRE_HEADERS = frozenset(
    {"connection", "content-encoding", "content-length", "etag", "last-modified", "transfer-encoding", "keep-alive"}
)
"""Headers that describe the bytes on the wire: a rendered page is not those bytes."""
_SET_BY_THE_BROWSER = frozenset({"user-agent", "accept", "accept-encoding", "if-none-match", "if-modified-since"})
_MARKUP = ("text/html", "application/xhtml+xml")
_SEE_OTHER = 303
_OK = 200


class Navigation:
    """Decides on each request and response of a navigation that the browser pauses.

    A redirect, by the server or by a script, is not followed: it ends this navigation, so that the next address is
    judged, paced and requested like any other.
    """

    def __init__(self, request: WireRequest, before_send: BeforeSend, send: Send) -> None:
        """Await `before_send` before the request is sent; `send` sends a command to the browser."""
        self._request = request
        self._before_send = before_send
        self._send = send
        self._is_sent = False
        self.answer: WireResponse | None = None
        self.error: Exception | None = None
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.script_redirect = WireResponse(status_code=0, headers={})
        self.is_redirected = asyncio.Event()

    async def decide(self, event: Mapping[str, Any]) -> None:
        """Decide on a paused request or response of the main frame."""
        if "responseStatusCode" in event:
            await self._decide_on_response(event)
        elif "responseErrorReason" in event:
            await self._continue(event)
        elif not self._is_sent:
            await self._send_document(event)
        else:
            await self._note_script_redirect(event)

    async def _send_document(self, event: Mapping[str, Any]) -> None:
        self._is_sent = True
        try:
            await self._before_send()
        except Exception as trouble:  # noqa: BLE001 - kept, and raised by the tab
            self.error = trouble
            await self._abort(event)
            return
        await self._send(
            "Fetch.continueRequest", {"requestId": event["requestId"], "headers": self._request_headers(event)}
        )

    def _request_headers(self, event: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return the browser's own headers, and those that the source's settings add for this host."""
        own = {name: value for name, value in self._request.headers.items() if name.lower() not in _SET_BY_THE_BROWSER}
        taken = {name.lower() for name in own}
        usual = {name: value for name, value in event["request"]["headers"].items() if name.lower() not in taken}
        return [{"name": name, "value": value} for name, value in {**usual, **own}.items()]

    async def _note_script_redirect(self, event: Mapping[str, Any]) -> None:
        """Stop a script's navigation elsewhere, and note it as a redirect if it is a GET."""
        request = event["request"]
        if request["method"] == "GET" and not self.is_redirected.is_set():
            self.script_redirect = WireResponse(status_code=_SEE_OTHER, headers={"location": request["url"]})
            self.is_redirected.set()
        await self._abort(event)

    async def _decide_on_response(self, event: Mapping[str, Any]) -> None:
        self.status = event["responseStatusCode"]
        headers = {each["name"].lower(): each["value"] for each in event.get("responseHeaders", ())}
        self.headers = {name: value for name, value in headers.items() if name not in WIRE_HEADERS}
        content_length = headers.get("content-length", "")
        if self.status in REDIRECTS and "location" in headers:
            self.answer = WireResponse(status_code=self.status, headers=self.headers)
            await self._abort(event)
        elif content_length.isdecimal() and int(content_length) > self._request.max_bytes:
            self.answer = WireResponse(status_code=self.status, headers=self.headers, cut=Failure.TOO_LARGE)
            await self._abort(event)
        elif headers.get("content-type", "text/html").lower().startswith(_MARKUP) or self.status != _OK:
            await self._continue(event)
        else:
            self.answer = await self._raw_response(event)
            await self._abort(event)

    async def _raw_response(self, event: Mapping[str, Any]) -> WireResponse:
        """Return the bytes of what is not a page (JSON, a feed, a file), not the browser's rendering of them."""
        taken = await self._send("Fetch.takeResponseBodyAsStream", {"requestId": event["requestId"]})
        handle, pieces, size = taken["stream"], [], 0
        while size <= self._request.max_bytes:
            piece = await self._send("IO.read", {"handle": handle, "size": 1 << 20})
            data = piece["data"]
            pieces.append(base64.b64decode(data) if piece.get("base64Encoded") else data.encode())
            size += len(pieces[-1])
            if piece["eof"]:
                break
        await self._send("IO.close", {"handle": handle})
        cut = Failure.TOO_LARGE if size > self._request.max_bytes else None
        body = b"".join(pieces)[: self._request.max_bytes]
        return WireResponse(status_code=self.status, headers=self.headers, body=body, cut=cut)

    async def _continue(self, event: Mapping[str, Any]) -> None:
        await self._send("Fetch.continueRequest", {"requestId": event["requestId"]})

    async def _abort(self, event: Mapping[str, Any]) -> None:
        await self._send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"})
