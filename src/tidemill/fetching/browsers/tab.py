"""A browser context on loan, with one page in it: it goes to an address, waits, and reads what is there."""

import asyncio
import base64
from contextlib import suppress
from datetime import timedelta
from typing import Any

import msgspec
from playwright.async_api import BrowserContext, CDPSession, Error, Page

from tidemill.core.failure import Failure
from tidemill.core.urls import hostname, origin_of
from tidemill.fetching.browsers.chromium import Chromium
from tidemill.fetching.browsers.errands import Errands
from tidemill.fetching.browsers.gateway import Gateway
from tidemill.fetching.browsers.journey import Depart, Journey
from tidemill.fetching.browsers.net_errors import navigation_failure
from tidemill.fetching.browsers.scripts import READ, WAIT
from tidemill.fetching.browsers.trouble import BrowserLost
from tidemill.fetching.translate import failure_of_code
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

BUDGET = 5
"""A page with all that it loads may be so many times as large as the page alone."""
LARGEST_SCREENSHOT = 500_000
SCREENSHOT_SECONDS = 2
PING_SECONDS = 1
CLOSE_SECONDS = 3
CLEAN_SECONDS = 3
_OURS = "tidemill"
_STAGES = [
    {"urlPattern": "*", "requestStage": "Request"},
    {"resourceType": "Document", "requestStage": "Response"},
]


class Patience(msgspec.Struct, frozen=True):
    """What to wait for once a page is there: an element that fits `selector`, else for the network to fall silent.

    Neither is waited for longer than `limit`: then the page counts as it stands.
    """

    selector: str = ""
    limit: timedelta = timedelta(seconds=5)


class Tab:
    """One context and its page; `is_spoilt` says that it must not be used again."""

    def __init__(self, chromium: Chromium, gateway: Gateway, context: BrowserContext, page: Page) -> None:
        """Not for callers: see `open_tab`."""
        self.chromium = chromium
        self.gateway = gateway
        self._context = context
        self._page = page
        self._session: CDPSession | None = None
        self._frame = ""
        self._journey: Journey | None = None
        self._errands = Errands(None)
        self._deciding: set[asyncio.Task[None]] = set()
        self._signs: dict[tuple[str, str], asyncio.Event] = {}
        self._crashed = asyncio.Event()
        self._origin = ""
        self.is_spoilt = False
        self.tasks = 0

    async def prepare(self) -> None:
        """Take the page's reins: everything that it wants to load is paused for our decision."""
        session = self._session = await self._context.new_cdp_session(self._page)
        self._page.on("crash", lambda _: self._crashed.set())
        self._context.on("page", self._shut)
        session.on("Fetch.requestPaused", self._paused)
        session.on("Page.lifecycleEvent", self._note)
        await asyncio.gather(
            session.send("Page.enable"),
            session.send("Page.setLifecycleEventsEnabled", {"enabled": True}),
            session.send("Page.setPrerenderingAllowed", {"isAllowed": False}),
            session.send("Fetch.enable", {"patterns": _STAGES}),
        )
        self._frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    async def load(self, request: WireRequest, depart: Depart, patience: Patience) -> WireResponse | WireFailure:
        """Go to one address and answer with what is there; redirects of any kind are answers, not followed.

        Raises BrowserLost when the browser dies or the page crashes meanwhile.
        """
        self.gateway.begin(BUDGET * request.max_bytes)
        self._origin = origin_of(request.url)
        self._signs.clear()
        journey = self._journey = Journey(request, depart, self._send)
        errands = self._errands = Errands(request.allows_subrequest)
        self.is_spoilt = True  # until it is seen to have come through this one
        try:
            answer = await self._visited(journey, request, patience)
        except Error as error:
            raise BrowserLost(str(error).partition("\n")[0]) from error
        finally:
            self._journey = None
            await self._drop_decisions()
        return msgspec.structs.replace(answer, subrequest_hosts=errands.told(self.gateway.asked, hostname(request.url)))

    async def _visited(self, journey: Journey, request: WireRequest, patience: Patience) -> WireResponse | WireFailure:
        try:
            async with asyncio.timeout(request.timeout.total_seconds()):
                answer = await self.chromium.ask(self._go(journey, request, patience), self._crashed)
        except TimeoutError:
            return WireFailure(failure=Failure.TIMED_OUT, detail=f"the page took longer than {request.timeout}")
        self.is_spoilt = False
        return self._over_budget(journey) if self.gateway.is_over_budget else answer

    async def is_hung(self) -> bool:
        """Whether the page no longer answers at all."""
        with suppress(Error, TimeoutError, BrowserLost):
            async with asyncio.timeout(PING_SECONDS):
                await self._send("Runtime.evaluate", {"expression": "1"})
                return False
        return True

    async def screenshot(self) -> bytes:
        """What a person would see, as a JPEG; nothing when the page cannot be drawn in time."""
        options = {"format": "jpeg", "quality": 40, "optimizeForSpeed": True}
        with suppress(Error, TimeoutError, BrowserLost):
            async with asyncio.timeout(SCREENSHOT_SECONDS):
                taken = await self.chromium.ask(self._send("Page.captureScreenshot", options), self._crashed)
                picture = base64.b64decode(taken["data"])
                return picture if len(picture) <= LARGEST_SCREENSHOT else b""
        return b""

    async def clean(self) -> None:
        """Leave the page and forget what the site has stored, so that every visit begins alike."""
        self.gateway.begin(0)
        try:
            async with asyncio.timeout(CLEAN_SECONDS):
                await self.chromium.ask(self._clean(), self._crashed)
        except (Error, TimeoutError, BrowserLost):
            self.is_spoilt = True

    async def close(self) -> bool:
        """Close page and context; False when they would not go in time."""
        await self._drop_decisions()
        await self.gateway.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.chromium.ask(self._context.close())
        except TimeoutError:
            return False
        except (Error, BrowserLost):
            return True  # the browser is gone, and took it along
        return True

    async def _go(self, journey: Journey, request: WireRequest, patience: Patience) -> WireResponse | WireFailure:
        arrival = await self._send("Page.navigate", {"url": request.url})
        if journey.trouble is not None:
            raise journey.trouble
        if (answer := journey.answer) is not None:
            return answer
        if error := arrival.get("errorText", ""):
            return self.gateway.troubles.get(hostname(request.url)) or navigation_failure(error)
        world = await self._send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": _OURS})
        context = world["executionContextId"]
        await self._settle(journey, arrival["loaderId"], context, patience)
        if journey.turned.is_set():
            return journey.turn
        return await self._read(journey, context, request.max_bytes)

    async def _settle(self, journey: Journey, loader: str, context: int, patience: Patience) -> None:
        """Wait for what the page is worth waiting for, or until a script sends us elsewhere."""
        is_refused = failure_of_code(journey.status) is not None
        ready = self._sign(loader, "load").wait() if is_refused else self._ready(loader, context, patience)
        waiting = asyncio.ensure_future(ready)
        turning = asyncio.ensure_future(journey.turned.wait())
        try:
            limit = patience.limit.total_seconds()
            await asyncio.wait((waiting, turning), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            turning.cancel()
            await asyncio.gather(waiting, turning, return_exceptions=True)

    async def _ready(self, loader: str, context: int, patience: Patience) -> bool:
        """Return when the element is there, or the network silent if none is named or the selector is no selector."""
        milliseconds = patience.limit // timedelta(milliseconds=1)
        came = await self._call(context, WAIT, patience.selector, milliseconds) if patience.selector else None
        return await self._sign(loader, "networkIdle").wait() if came is None else bool(came)

    async def _read(self, journey: Journey, context: int, max_bytes: int) -> WireResponse:
        seen = await self._call(context, READ, max_bytes)
        body = seen["markup"].encode("utf-8", "replace")
        cut = Failure.TOO_LARGE if len(body) > max_bytes or seen["decoded"] > max_bytes else None
        headers = {**journey.headers, "content-type": "text/html; charset=utf-8"}
        return WireResponse(status_code=journey.status, headers=headers, body=body[:max_bytes], cut=cut)

    def _over_budget(self, journey: Journey) -> WireResponse:
        return WireResponse(status_code=journey.status, headers=journey.headers, cut=Failure.TOO_LARGE)

    async def _call(self, context: int, function: str, *arguments: object) -> Any:
        answer = await self._send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "executionContextId": context,
                "arguments": [{"value": argument} for argument in arguments],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        return None if "exceptionDetails" in answer else answer["result"].get("value")

    async def _clean(self) -> None:
        await self._send("Page.navigate", {"url": "about:blank"})
        await asyncio.gather(
            self._send("Storage.clearDataForOrigin", {"origin": self._origin, "storageTypes": "all"}),
            self._context.clear_cookies(),
        )

    async def _send(self, method: str, values: dict[str, Any]) -> dict[str, Any]:
        assert self._session is not None  # noqa: S101 - `open_tab` prepares every tab
        answer: dict[str, Any] = await self._session.send(method, values)
        return answer

    def _paused(self, event: dict[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._decide(event))
        self._deciding.add(task)
        task.add_done_callback(self._deciding.discard)

    async def _decide(self, event: dict[str, Any]) -> None:
        """Let a paused request go on, or not."""
        request = {"requestId": event["requestId"]}
        with suppress(Error):  # the page has moved on, and the request with it
            if self._journey is None:
                await self._send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
            elif event["resourceType"] == "Document" and event["frameId"] == self._frame:
                await self._journey.cross(event)
            elif _is_answered(event) or self._errands.allow(event):
                await self._send("Fetch.continueRequest", request)
            else:
                await self._send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"})

    async def _drop_decisions(self) -> None:
        for task in list(self._deciding):
            task.cancel()
        await asyncio.gather(*self._deciding, return_exceptions=True)

    def _note(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self._sign(event["loaderId"], event["name"]).set()

    def _sign(self, loader: str, name: str) -> asyncio.Event:
        return self._signs.setdefault((loader, name), asyncio.Event())

    def _shut(self, page: Page) -> None:
        """A window that the page opened: nobody looks at it."""
        task = asyncio.get_running_loop().create_task(_closed(page))
        self._deciding.add(task)
        task.add_done_callback(self._deciding.discard)


async def open_tab(chromium: Chromium, gateway: Gateway, user_agent: str) -> Tab:
    """A fresh context behind the gateway, ready to go."""
    proxy = await gateway.open()
    try:
        context = await chromium.new_context(proxy, user_agent)
        tab = Tab(chromium, gateway, context, await chromium.ask(context.new_page()))
        await chromium.ask(tab.prepare())
    except Error as error:
        await gateway.close()
        raise BrowserLost(str(error).partition("\n")[0]) from error
    except BaseException:  # whatever it is, a cancellation too: the proxy must not go on listening for nobody
        await gateway.close()
        raise
    return tab


def _is_answered(event: dict[str, Any]) -> bool:
    """Whether a request has left already, and what is paused is its answer."""
    return "responseStatusCode" in event or "responseErrorReason" in event


async def _closed(page: Page) -> None:
    with suppress(Error):
        await page.close()
