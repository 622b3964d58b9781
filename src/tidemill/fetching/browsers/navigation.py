"""One navigation under way: what may be asked, what was answered, and where the page wants to go instead."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tidemill.core.failure import Failure
from tidemill.fetching.translate import REDIRECTS
from tidemill.pipeline.ports import WireRequest, WireResponse

Send = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
BeforeSend = Callable[[], Awaitable[None]]

NOT_OURS = frozenset(
    {"connection", "content-encoding", "content-length", "etag", "last-modified", "transfer-encoding", "keep-alive"}
)
"""Headers that speak of the bytes on the wire: a rendered page is not those bytes."""
_SET_BY_THE_BROWSER = frozenset({"user-agent", "accept", "accept-encoding", "if-none-match", "if-modified-since"})
_MARKUP = ("text/html", "application/xhtml+xml")
_SEE_OTHER = 303
_OK = 200


class Journey:
    """Stands at every crossing of a navigation: the browser pauses there and does as it is told.

    A redirect, by the server or by a script, is not followed: it ends this journey, so that the next address is
    judged, paced and asked for like any other.
    """

    def __init__(self, request: WireRequest, before_send: BeforeSend, send: Send) -> None:
        """`before_send` is awaited when the request may leave; `send` speaks to the browser."""
        self._request = request
        self._before_send = before_send
        self._send = send
        self._has_left = False
        self.answer: WireResponse | None = None
        self.trouble: Exception | None = None
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.turn = WireResponse(status_code=0, headers={})
        self.turned = asyncio.Event()

    async def cross(self, event: Mapping[str, Any]) -> None:
        """Decide on a paused request or response of the main frame."""
        if "responseStatusCode" in event:
            await self._judge_answer(event)
        elif "responseErrorReason" in event:
            await self._go_on(event)
        elif not self._has_left:
            await self._leave(event)
        else:
            await self._turn(event)

    async def _leave(self, event: Mapping[str, Any]) -> None:
        self._has_left = True
        try:
            await self._before_send()
        except Exception as trouble:  # noqa: BLE001 - kept, and raised where the page was asked for
            self.trouble = trouble
            await self._stop(event)
            return
        await self._send(
            "Fetch.continueRequest", {"requestId": event["requestId"], "headers": self._with_own_headers(event)}
        )

    def _with_own_headers(self, event: Mapping[str, Any]) -> list[dict[str, str]]:
        """The browser's own headers, and those that the source's settings add for this host."""
        own = {name: value for name, value in self._request.headers.items() if name.lower() not in _SET_BY_THE_BROWSER}
        taken = {name.lower() for name in own}
        usual = {name: value for name, value in event["request"]["headers"].items() if name.lower() not in taken}
        return [{"name": name, "value": value} for name, value in {**usual, **own}.items()]

    async def _turn(self, event: Mapping[str, Any]) -> None:
        """A script sends us elsewhere: as a redirect, if it is a plain question for a page of the web."""
        request = event["request"]
        if request["method"] == "GET" and not self.turned.is_set():
            self.turn = WireResponse(status_code=_SEE_OTHER, headers={"location": request["url"]})
            self.turned.set()
        await self._stop(event)

    async def _judge_answer(self, event: Mapping[str, Any]) -> None:
        self.status = event["responseStatusCode"]
        headers = {each["name"].lower(): each["value"] for each in event.get("responseHeaders", ())}
        self.headers = {name: value for name, value in headers.items() if name not in NOT_OURS}
        promised = headers.get("content-length", "")
        if self.status in REDIRECTS and "location" in headers:
            self.answer = WireResponse(status_code=self.status, headers=self.headers)
            await self._stop(event)
        elif promised.isdecimal() and int(promised) > self._request.max_bytes:
            self.answer = WireResponse(status_code=self.status, headers=self.headers, cut=Failure.TOO_LARGE)
            await self._stop(event)
        elif headers.get("content-type", "text/html").lower().startswith(_MARKUP) or self.status != _OK:
            await self._go_on(event)
        else:
            self.answer = await self._as_it_is(event)
            await self._stop(event)

    async def _as_it_is(self, event: Mapping[str, Any]) -> WireResponse:
        """What is no page (JSON, a feed, a file): its bytes, not the picture that the browser would draw of them."""
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

    async def _go_on(self, event: Mapping[str, Any]) -> None:
        await self._send("Fetch.continueRequest", {"requestId": event["requestId"]})

    async def _stop(self, event: Mapping[str, Any]) -> None:
        await self._send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"})
