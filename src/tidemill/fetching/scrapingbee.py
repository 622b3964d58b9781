"""The `scrapingbee` fetcher: the same gates as ours, and a paid service that sends the requests."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.services.budget import BudgetRefusal
from tidemill.core.services.degradation import FALLBACKS, Service
from tidemill.core.urls import BadUrl, normalize
from tidemill.fetching.bee_protocol import (
    BUSY_WAIT,
    KEY_WAIT,
    SITE_STATUS_HEADER,
    BadBeeOptions,
    BeeOptions,
    cost_of,
    options_of,
    query_for,
    site_response,
    trouble_of,
)
from tidemill.fetching.budget import Account, Reserved
from tidemill.fetching.http import HttpFetcher
from tidemill.fetching.service_api import ApiTrouble, ServiceApi
from tidemill.fetching.translate import status_of
from tidemill.pipeline.ports import (
    Clock,
    FetchRequest,
    FetchResult,
    ServiceRegistry,
    StoreError,
    Transport,
    WireFailure,
    WireRequest,
    WireResponse,
)

NAME = "scrapingbee"
LEAST_TIMEOUT = timedelta(seconds=60)
"""It tries several proxies before it gives up; less than this cuts it short."""
PROBE_TIMEOUT = timedelta(seconds=10)
PROBE_BYTES = 100_000
EXTRA_WAIT = timedelta(seconds=5)
"""How much longer than its own time-out we wait for its answer."""


class CreditUsage(msgspec.Struct):
    """The part of `/usage` that tells our credits."""

    max_api_credit: int
    used_api_credit: int


class ScrapingBeeFetcher:
    """Fetches pages through ScrapingBee. Robots.txt, pace and the address guard hold as for our own requests."""

    def __init__(
        self,
        http: HttpFetcher,
        transport: Transport,
        base_url: str,
        key: str,
        account: Account,
        services: ServiceRegistry,
        clock: Clock,
    ) -> None:
        """Use the gates of `http`; `transport` carries the calls to ScrapingBee itself. An empty `key` is none."""
        self._http = http
        self._transport = transport
        self._api = ServiceApi(transport, base_url, key)
        self._key = key
        self._account = account
        self._services = services
        self._clock = clock
        self._paused_by: ApiTrouble | None = None

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page, for money; faults of ScrapingBee are told apart from faults of the site."""
        if (known := self._known_trouble()) is not None:
            return await self._report_trouble(request, known)
        try:
            options = options_of(request.options)
        except BadBeeOptions as error:
            return _failed(request, ApiTrouble(Failure.CLIENT_ERROR, str(error), self._clock.now()))
        paid_transport = _PaidTransport(self._api, self._key, options, self._account, self._clock, request.headers)
        terms = msgspec.structs.replace(
            request, etag="", last_modified="", timeout=max(request.timeout, LEAST_TIMEOUT)
        )  # fmt: skip
        result = await self._http.through(paid_transport).fetch(terms)
        if paid_transport.trouble is not None:
            return await self._report_trouble(request, paid_transport.trouble)
        if paid_transport.was_asked:
            await self._services.works(Service.SCRAPINGBEE)
        return msgspec.structs.replace(result, fetcher=NAME)

    async def close(self) -> None:
        """Close the connections to ScrapingBee; the gates belong to `http`."""
        await self._transport.close()

    async def probe(self) -> str:
        """Return '' if ScrapingBee answers and both its credits and our budget have room, else what is wrong."""
        if not self._key:
            return FALLBACKS[Service.SCRAPINGBEE].setup
        answer = await self._api.call(
            "GET", "/usage", query={"api_key": self._key}, within=PROBE_TIMEOUT, max_bytes=PROBE_BYTES
        )
        trouble = self._usage_trouble(answer) or await self._budget_trouble()
        if not trouble:
            self._paused_by = None
        return trouble

    def _usage_trouble(self, answer: WireResponse | WireFailure) -> str:
        if isinstance(answer, WireFailure) or answer.status_code != 200:  # noqa: PLR2004 - the API's own code
            return trouble_of(answer, self._api, self._clock.now()).message
        try:
            usage = msgspec.json.decode(answer.body, type=CreditUsage)
        except msgspec.DecodeError:
            return f"scrapingbee talks nonsense about our credits ({self._api.excerpt(answer)})"
        spent = usage.used_api_credit >= usage.max_api_credit
        return f"all {usage.max_api_credit} credits at scrapingbee are used up" if spent else ""

    async def _budget_trouble(self) -> str:
        refused = await self._account.exceeded_limit(BeeOptions().cost)
        return _over_budget(refused).message if refused is not None else ""

    def _known_trouble(self) -> ApiTrouble | None:
        """Return what is known to be wrong without a call: no key, or ScrapingBee told us to wait."""
        if not self._key:
            message = f"scrapingbee is not set up: {FALLBACKS[Service.SCRAPINGBEE].setup}"
            return ApiTrouble(Failure.HELD_BACK, message, self._clock.now() + KEY_WAIT)
        if self._paused_by is not None and self._clock.now() < self._paused_by.until:
            return self._paused_by
        return None

    async def _report_trouble(self, request: FetchRequest, trouble: ApiTrouble) -> FetchResult:
        if not trouble.is_service_fault:
            return _failed(request, trouble)
        if self._key:
            self._paused_by = trouble
        await self._services.degraded(Service.SCRAPINGBEE, trouble.message)
        return msgspec.structs.replace(_failed(request, trouble), degraded=(Service.SCRAPINGBEE,))


class _PaidTransport:
    """The transport of one fetch, which has ScrapingBee send the request to the site.

    ScrapingBee follows redirects by itself. We answer with a redirect of our own to where it ended, and hand out the
    page when that address is requested: so the final address is judged like the first one, and paid for once.
    """

    def __init__(
        self, api: ServiceApi, key: str, options: BeeOptions, account: Account, clock: Clock, forward: Mapping[str, str]
    ) -> None:
        self._api = api
        self._key = key
        self._options = options
        self._account = account
        self._clock = clock
        self._forward = forward
        self._redirect_targets: dict[str, WireResponse] = {}
        self.trouble: ApiTrouble | None = None
        self.was_asked = False

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Have ScrapingBee request the address."""
        if (known := self._redirect_targets.pop(request.url, None)) is not None:
            return known
        options = BeeOptions() if request.url.endswith("/robots.txt") else self._options
        reserved = await self._account.reserve(options.cost)
        if not isinstance(reserved, Reserved):
            return self._fail(_not_reserved(reserved, self._clock.now()))
        await before_send()
        answer = await self._ask(request, options)
        await self._account.settle(reserved, cost_of(answer, options.cost))
        if isinstance(answer, WireFailure) or SITE_STATUS_HEADER not in answer.headers:
            return self._fail(trouble_of(answer, self._api, self._clock.now()))
        self.was_asked = True
        return self._site_answer(request, answer)

    async def close(self) -> None:
        """Close nothing."""

    async def _ask(self, request: WireRequest, options: BeeOptions) -> WireResponse | WireFailure:
        return await self._api.call(
            "GET",
            "/",
            query=query_for(request, options, self._key, self._forward),
            headers={f"Spb-{name}": value for name, value in self._forward.items()},
            within=request.timeout + EXTRA_WAIT,
            max_bytes=request.max_bytes,
        )

    def _site_answer(self, request: WireRequest, answer: WireResponse) -> WireResponse:
        response = site_response(answer)
        assert response is not None  # noqa: S101 - the caller has looked for the header that says so
        final_url = _final_url(answer.headers.get("spb-resolved-url", ""), request.url)
        if final_url == request.url:
            return response
        self._redirect_targets[final_url] = response
        return WireResponse(status_code=302, headers={"location": final_url})

    def _fail(self, trouble: ApiTrouble) -> WireFailure:
        self.trouble = trouble
        return WireFailure(failure=trouble.failure, detail=trouble.message)


def _final_url(excerpt: str, requested: str) -> str:
    """Return where ScrapingBee ended, in the form in which it will be requested; where it began if it does not say."""
    try:
        return normalize(excerpt).partition("#")[0] if excerpt else requested
    except BadUrl:
        return requested


def _not_reserved(reason: BudgetRefusal | StoreError, now: datetime) -> ApiTrouble:
    """Return why nothing was reserved: the budget is spent, or it cannot be looked up just now."""
    if isinstance(reason, BudgetRefusal):
        return _over_budget(reason)
    message = f"what may be spent cannot be looked up: {reason}"
    return ApiTrouble(Failure.HELD_BACK, message, now + BUSY_WAIT, is_service_fault=False)


def _over_budget(refused: BudgetRefusal) -> ApiTrouble:
    until = f"{refused.until:%Y-%m-%d %H:%M} UTC"
    message = f"our own budget of {refused.limit} credits a {refused.period} is spent until {until}"
    return ApiTrouble(Failure.OUT_OF_QUOTA, message, refused.until)


def _failed(request: FetchRequest, trouble: ApiTrouble) -> FetchResult:
    waits = trouble.failure in {Failure.HELD_BACK, Failure.OUT_OF_QUOTA}
    return FetchResult(
        status=status_of(trouble.failure),
        url=request.url,
        final_url=request.url,
        fetcher=NAME,
        failure=trouble.failure,
        error=trouble.message,
        retry_at=trouble.until if waits else None,
    )
