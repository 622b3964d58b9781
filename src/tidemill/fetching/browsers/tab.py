"""A browser context with one page in it: loads an address, waits, and reads what is there."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import msgspec
from playwright.async_api import BrowserContext, CDPSession, Error, Page

from tidemill.core.failure import Failure
from tidemill.core.urls import hostname, origin_of
from tidemill.fetching.browsers.chromium import Chromium
from tidemill.fetching.browsers.errors import BrowserLost
from tidemill.fetching.browsers.gateway import Gateway
from tidemill.fetching.browsers.navigation import BeforeSend, Navigation
from tidemill.fetching.browsers.net_errors import navigation_failure
from tidemill.fetching.browsers.own_requests import ANSWERS_WITHIN, ASKS_WITHIN, OwnRequests
from tidemill.fetching.browsers.scripts import READ, SETTLE, WAIT
from tidemill.fetching.browsers.subrequests import SubRequests
from tidemill.fetching.translate import failure_of_code
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

BYTES_FACTOR = 5
"""A page with all that it loads may be this many times as large as the page alone."""
LARGEST_SCREENSHOT = 500_000
SCREENSHOT_SECONDS = 2
PING_SECONDS = 1
CLOSE_SECONDS = 3
CLEAN_SECONDS = 3
_WORLD_NAME = "tidemill"
_PAUSE_AT = [
    {"urlPattern": "*", "requestStage": "Request"},
    {"resourceType": "Document", "requestStage": "Response"},
]


class WaitRule(msgspec.Struct, frozen=True):
    """What to wait for once a page is loaded: an element that fits `selector`, else an idle network.

    Neither is waited for longer than `limit`; then the page is taken as it is.
    """

    selector: str = ""
    limit: timedelta = timedelta(seconds=5)


class LoadedDocument(msgspec.Struct, frozen=True):
    """The document that a page shows: its address, the answer's status and headers, and our world in it."""

    url: str = ""
    status: int = 0
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    world: int = 0


class Tab:
    """One context and its page; `is_unusable` says that it must not be used again."""

    def __init__(self, chromium: Chromium, gateway: Gateway, context: BrowserContext, page: Page) -> None:
        """Made by `open_tab`."""
        self.chromium = chromium
        self.gateway = gateway
        self._context = context
        self._page = page
        self._session: CDPSession | None = None
        self._frame = ""
        self._navigation: Navigation | None = None
        self._subrequests = SubRequests(None)
        self._deciding: set[asyncio.Task[None]] = set()
        self._lifecycle_events: dict[tuple[str, str], asyncio.Event] = {}
        self._crashed = asyncio.Event()
        self._origin = ""
        self._loaded = LoadedDocument()
        self._own_requests = OwnRequests()
        self.is_unusable = False
        self.is_kept_open = False
        self.tasks = 0

    async def prepare(self) -> None:
        """Attach to the page, so that everything it wants to load is paused for our decision."""
        session = self._session = await self._context.new_cdp_session(self._page)
        self._page.on("crash", lambda _: self._crashed.set())
        self._context.on("page", self._close_popup)
        session.on("Fetch.requestPaused", self._on_request_paused)
        session.on("Page.lifecycleEvent", self._on_lifecycle_event)
        session.on("Network.responseReceived", self._own_requests.on_response)
        session.on("Network.loadingFinished", self._own_requests.on_finished)
        session.on("Network.loadingFailed", self._own_requests.on_failed)
        await asyncio.gather(
            session.send("Page.enable"),
            session.send("Page.setLifecycleEventsEnabled", {"enabled": True}),
            session.send("Page.setPrerenderingAllowed", {"isAllowed": False}),
            session.send("Fetch.enable", {"patterns": _PAUSE_AT}),
            session.send("Network.enable"),
        )
        self._frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    async def load(self, request: WireRequest, before_send: BeforeSend, wait: WaitRule) -> WireResponse | WireFailure:
        """Load one address and return what is there; redirects of any kind are returned, not followed.

        Raise BrowserLost when the browser dies or the page crashes meanwhile.
        """
        self.gateway.reset(BYTES_FACTOR * request.max_bytes)
        self._origin = origin_of(request.url)
        self._lifecycle_events.clear()
        self._loaded = LoadedDocument()
        self._own_requests.forget()
        navigation = self._navigation = Navigation(request, before_send, self._send)
        subrequests = self._subrequests = SubRequests(request.allows_subrequest)
        self.is_unusable = True  # until this load has succeeded
        try:
            answer = await self._navigate_in_time(navigation, request, wait)
        except Error as error:
            raise BrowserLost(str(error).partition("\n")[0]) from error
        finally:
            self._navigation = None
            if not self.is_kept_open:  # an open page goes on, and what it asks next is held
                await self._cancel_decisions()
        return msgspec.structs.replace(
            answer, subrequest_hosts=subrequests.hosts_requested(self.gateway.hosts_requested, hostname(request.url))
        )

    async def _navigate_in_time(
        self, navigation: Navigation, request: WireRequest, wait: WaitRule
    ) -> WireResponse | WireFailure:
        try:
            async with asyncio.timeout(request.timeout.total_seconds()):
                answer = await self.chromium.wait_for(self._navigate(navigation, request, wait), self._crashed)
        except TimeoutError:
            return WireFailure(failure=Failure.TIMED_OUT, detail=f"the page took longer than {request.timeout}")
        self.is_unusable = False
        return self._over_budget(navigation) if self.gateway.is_over_budget else answer

    def is_open_at(self, url: str) -> bool:
        """Whether the page of this address is open and can be read again without loading it."""
        return self.is_kept_open and not self.is_unusable and self._loaded.url == url

    async def read_again(self, request: WireRequest, before_send: BeforeSend) -> WireResponse | None:
        """Let the open page send what it wanted to ask by itself, and return what it shows after the answers.

        Between readings its requests are held, so that the site is asked when its pace allows it. None when the page
        asked for nothing or got no good answer: what it shows may then be old, and it must be loaded again.
        Raise BrowserLost when the browser dies or the page crashes meanwhile.
        """
        self.gateway.reset(BYTES_FACTOR * request.max_bytes)
        self.is_unusable = True  # until this reading has succeeded
        subrequests = self._subrequests = SubRequests(request.allows_subrequest)
        try:
            async with asyncio.timeout(request.timeout.total_seconds()):
                answer = await self.chromium.wait_for(self._read_again(request, before_send), self._crashed)
        except TimeoutError:
            return None
        except Error as error:
            raise BrowserLost(str(error).partition("\n")[0]) from error
        finally:
            self._own_requests.is_released = False
        if answer is None or self.gateway.is_over_budget:
            return None
        self.is_unusable = False
        hosts = list(subrequests.hosts_requested((), ""))
        with suppress(ValueError):
            hosts.remove(hostname(request.url))  # the one request that was admitted
        return msgspec.structs.replace(answer, subrequest_hosts=tuple(hosts))

    async def _read_again(self, request: WireRequest, before_send: BeforeSend) -> WireResponse | None:
        own = self._own_requests
        if not await own.asked_within(ASKS_WITHIN):
            return None
        await before_send()
        own.release()
        for event in own.take_held():
            await self._decide(event)
        if not await own.answered_within(ANSWERS_WITHIN):
            return None
        await self._call(self._loaded.world, SETTLE)
        return await self._read_markup(self._loaded.status, self._loaded.headers, self._loaded.world, request.max_bytes)

    async def is_hung(self) -> bool:
        """Whether the page no longer responds at all."""
        with suppress(Error, TimeoutError, BrowserLost):
            async with asyncio.timeout(PING_SECONDS):
                await self._send("Runtime.evaluate", {"expression": "1"})
                return False
        return True

    async def screenshot(self) -> bytes:
        """Return a JPEG of the page, or nothing when it cannot be drawn in time."""
        options = {"format": "jpeg", "quality": 40, "optimizeForSpeed": True}
        with suppress(Error, TimeoutError, BrowserLost):
            async with asyncio.timeout(SCREENSHOT_SECONDS):
                taken = await self.chromium.wait_for(self._send("Page.captureScreenshot", options), self._crashed)
                picture = base64.b64decode(taken["data"])
                return picture if len(picture) <= LARGEST_SCREENSHOT else b""
        return b""

    async def clean(self) -> None:
        """Leave the page and clear what the site has stored, so that every load starts alike."""
        self.gateway.reset(0)
        try:
            async with asyncio.timeout(CLEAN_SECONDS):
                await self.chromium.wait_for(self._clear_storage(), self._crashed)
        except (Error, TimeoutError, BrowserLost):
            self.is_unusable = True

    async def close(self) -> bool:
        """Close page and context; return False when that takes too long."""
        await self._cancel_decisions()
        await self.gateway.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.chromium.wait_for(self._context.close())
        except TimeoutError:
            return False
        except (Error, BrowserLost):
            return True  # it is gone with the browser
        return True

    async def _navigate(
        self, navigation: Navigation, request: WireRequest, wait: WaitRule
    ) -> WireResponse | WireFailure:
        arrival = await self._send("Page.navigate", {"url": request.url})
        if navigation.error is not None:
            raise navigation.error
        if (answer := navigation.answer) is not None:
            return answer
        if error := arrival.get("errorText", ""):
            return self.gateway.troubles.get(hostname(request.url)) or navigation_failure(error)
        world = await self._send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": _WORLD_NAME})
        context = world["executionContextId"]
        await self._wait_until_settled(navigation, arrival["loaderId"], context, wait)
        if navigation.is_redirected.is_set():
            return navigation.script_redirect
        self._loaded = LoadedDocument(request.url, navigation.status, navigation.headers, context)
        return await self._read_markup(navigation.status, navigation.headers, context, request.max_bytes)

    async def _wait_until_settled(self, navigation: Navigation, loader: str, context: int, wait: WaitRule) -> None:
        """Wait until the page is ready, or until a script navigates elsewhere."""
        is_refused = failure_of_code(navigation.status) is not None
        ready = (
            self._lifecycle_event(loader, "load").wait()
            if is_refused
            else self._wait_until_ready(loader, context, wait)
        )
        waiting = asyncio.ensure_future(ready)
        turning = asyncio.ensure_future(navigation.is_redirected.wait())
        try:
            limit = wait.limit.total_seconds()
            await asyncio.wait((waiting, turning), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            turning.cancel()
            await asyncio.gather(waiting, turning, return_exceptions=True)

    async def _wait_until_ready(self, loader: str, context: int, wait: WaitRule) -> bool:
        """Wait for the element, or for an idle network if none is named or the selector is invalid."""
        milliseconds = wait.limit // timedelta(milliseconds=1)
        came = await self._call(context, WAIT, wait.selector, milliseconds) if wait.selector else None
        return await self._lifecycle_event(loader, "networkIdle").wait() if came is None else bool(came)

    async def _read_markup(self, status: int, headers: Mapping[str, str], context: int, max_bytes: int) -> WireResponse:
        seen = await self._call(context, READ, max_bytes)
        body = seen["markup"].encode("utf-8", "replace")
        cut = Failure.TOO_LARGE if len(body) > max_bytes or seen["decoded"] > max_bytes else None
        headers = {**headers, "content-type": "text/html; charset=utf-8"}
        return WireResponse(status_code=status, headers=headers, body=body[:max_bytes], cut=cut)

    def _over_budget(self, navigation: Navigation) -> WireResponse:
        return WireResponse(status_code=navigation.status, headers=navigation.headers, cut=Failure.TOO_LARGE)

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

    async def _clear_storage(self) -> None:
        await self._send("Page.navigate", {"url": "about:blank"})
        await asyncio.gather(
            self._send("Storage.clearDataForOrigin", {"origin": self._origin, "storageTypes": "all"}),
            self._context.clear_cookies(),
        )

    async def _send(self, method: str, values: dict[str, Any]) -> dict[str, Any]:
        assert self._session is not None  # noqa: S101 - `open_tab` prepares every tab
        answer: dict[str, Any] = await self._session.send(method, values)
        return answer

    def _on_request_paused(self, event: dict[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._decide(event))
        self._deciding.add(task)
        task.add_done_callback(self._deciding.discard)

    async def _decide(self, event: dict[str, Any]) -> None:
        """Let a paused request go on, or block it."""
        request = {"requestId": event["requestId"]}
        with suppress(Error):  # the page has navigated, and the request is gone
            if self._navigation is None and self.is_kept_open:
                await self._decide_between_loads(event)
            elif self._navigation is None:
                await self._send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
            elif event["resourceType"] == "Document" and event["frameId"] == self._frame:
                await self._navigation.decide(event)
            elif _is_response(event) or self._subrequests.allow(event):
                await self._send("Fetch.continueRequest", request)
            else:
                await self._send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"})

    async def _decide_between_loads(self, event: dict[str, Any]) -> None:
        """Hold what an open page wants to ask until it is read again; it may not leave for another page."""
        request = {"requestId": event["requestId"]}
        if event["resourceType"] == "Document" and event["frameId"] == self._frame:
            self._loaded = LoadedDocument()  # a page that wants to reload itself is loaded by us
            await self._send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
        elif _is_response(event):
            await self._send("Fetch.continueRequest", request)
        elif not self._own_requests.is_released:
            await self._fail_all(self._own_requests.hold(event))
        elif self._subrequests.allow(event):
            self._own_requests.sent(event)
            await self._send("Fetch.continueRequest", request)
        else:
            await self._send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"})

    async def _fail_all(self, events: Sequence[dict[str, Any]]) -> None:
        for event in events:
            await self._send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"})

    async def _cancel_decisions(self) -> None:
        for task in list(self._deciding):
            task.cancel()
        await asyncio.gather(*self._deciding, return_exceptions=True)

    def _on_lifecycle_event(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self._lifecycle_event(event["loaderId"], event["name"]).set()

    def _lifecycle_event(self, loader: str, name: str) -> asyncio.Event:
        return self._lifecycle_events.setdefault((loader, name), asyncio.Event())

    def _close_popup(self, page: Page) -> None:
        """Close a window that the page opened."""
        task = asyncio.get_running_loop().create_task(_close_page(page))
        self._deciding.add(task)
        task.add_done_callback(self._deciding.discard)


async def open_tab(chromium: Chromium, gateway: Gateway, user_agent: str) -> Tab:
    """Open a new context behind the gateway, ready to load pages."""
    proxy = await gateway.open()
    try:
        context = await chromium.new_context(proxy, user_agent)
        tab = Tab(chromium, gateway, context, await chromium.wait_for(context.new_page()))
        await chromium.wait_for(tab.prepare())
    except Error as error:
        await gateway.close()
        raise BrowserLost(str(error).partition("\n")[0]) from error
    except BaseException:  # also a cancellation: the proxy must not be left listening
        await gateway.close()
        raise
    return tab


def _is_response(event: dict[str, Any]) -> bool:
    """Whether the paused event is a response, not a request."""
    return "responseStatusCode" in event or "responseErrorReason" in event


async def _close_page(page: Page) -> None:
    with suppress(Error):
        await page.close()
