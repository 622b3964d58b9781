"""The `scrapingbee` fetcher: the same gates as ours, and a paid service that does the asking."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.budget import BudgetRefusal
from tidemill.core.degradation import FALLBACKS, Service
from tidemill.core.failure import Failure
from tidemill.core.urls import BadUrl, normalize
from tidemill.fetching.bee_protocol import (
    ANSWERED,
    BUSY_WAIT,
    KEY_WAIT,
    BadBeeOptions,
    BeeOptions,
    cost_of,
    options_of,
    question,
    site_response,
    trouble_of,
)
from tidemill.fetching.budget import Account, Reserved
from tidemill.fetching.http import HttpFetcher
from tidemill.fetching.outside import Api, ApiTrouble
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
LATE = timedelta(seconds=5)
"""How much longer than its own time-out we wait for its answer."""


class CreditUsage(msgspec.Struct):
    """What `/usage` says of our credits."""

    max_api_credit: int
    used_api_credit: int


class ScrapingBeeFetcher:
    """Gets pages through ScrapingBee. Robots.txt, pace and the address guard hold as for our own requests."""

    def __init__(
        self,
        http: HttpFetcher,
        transport: Transport,
        base_url: str,
        key: str,
        account: Account,
        book: ServiceRegistry,
        clock: Clock,
    ) -> None:
        """`http` lends its gates; `transport` carries the calls to ScrapingBee itself. An empty `key` is none."""
        self._http = http
        self._transport = transport
        self._api = Api(transport, base_url, key)
        self._key = key
        self._account = account
        self._book = book
        self._clock = clock
        self._resting: ApiTrouble | None = None

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Get one page, for money. What is wrong with ScrapingBee is told apart from what is wrong with the site."""
        if (known := self._known_trouble()) is not None:
            return await self._troubled(request, known)
        try:
            options = options_of(request.options)
        except BadBeeOptions as error:
            return _failed(request, ApiTrouble(Failure.CLIENT_ERROR, str(error), self._clock.now()))
        errand = _PaidRequest(self._api, self._key, options, self._account, self._clock, request.headers)
        terms = msgspec.structs.replace(
            request, etag="", last_modified="", timeout=max(request.timeout, LEAST_TIMEOUT)
        )  # fmt: skip
        result = await self._http.through(errand).fetch(terms)
        if errand.trouble is not None:
            return await self._troubled(request, errand.trouble)
        if errand.was_asked:
            await self._book.works(Service.SCRAPINGBEE)
        return msgspec.structs.replace(result, fetcher=NAME)

    async def close(self) -> None:
        """Close the connections to ScrapingBee; the gates are not ours."""
        await self._transport.close()

    async def probe(self) -> str:
        """Whether pages can be had again: it answers, it has credits left, and so has our own budget."""
        if not self._key:
            return FALLBACKS[Service.SCRAPINGBEE].setup
        answer = await self._api.call(
            "GET", "/usage", query={"api_key": self._key}, within=PROBE_TIMEOUT, max_bytes=PROBE_BYTES
        )
        trouble = self._usage_trouble(answer) or await self._budget_trouble()
        if not trouble:
            self._resting = None
        return trouble

    def _usage_trouble(self, answer: WireResponse | WireFailure) -> str:
        if isinstance(answer, WireFailure) or answer.status_code != 200:  # noqa: PLR2004 - the API's own code
            return trouble_of(answer, self._api, self._clock.now()).words
        try:
            usage = msgspec.json.decode(answer.body, type=CreditUsage)
        except msgspec.DecodeError:
            return f"scrapingbee talks nonsense about our credits ({self._api.words_of(answer)})"
        spent = usage.used_api_credit >= usage.max_api_credit
        return f"all {usage.max_api_credit} credits at scrapingbee are used up" if spent else ""

    async def _budget_trouble(self) -> str:
        refused = await self._account.room_for(BeeOptions().cost)
        return _over_budget(refused).words if refused is not None else ""

    def _known_trouble(self) -> ApiTrouble | None:
        """What is wrong without asking: no key, or it told us to stay away for a while."""
        if not self._key:
            words = f"scrapingbee is not set up: {FALLBACKS[Service.SCRAPINGBEE].setup}"
            return ApiTrouble(Failure.HELD_BACK, words, self._clock.now() + KEY_WAIT)
        if self._resting is not None and self._clock.now() < self._resting.until:
            return self._resting
        return None

    async def _troubled(self, request: FetchRequest, trouble: ApiTrouble) -> FetchResult:
        if not trouble.is_its_own:
            return _failed(request, trouble)
        if self._key:
            self._resting = trouble
        await self._book.degraded(Service.SCRAPINGBEE, trouble.words)
        return msgspec.structs.replace(_failed(request, trouble), degraded=(Service.SCRAPINGBEE,))


class _PaidRequest:
    """One fetch's way out: the transport that asks ScrapingBee instead of the site.

    ScrapingBee follows redirects by itself. We answer with a redirect of our own to where it ended, and hand out the
    page when that address is asked for: so the end of the way is judged as its beginning was, and paid for once.
    """

    def __init__(
        self, api: Api, key: str, options: BeeOptions, account: Account, clock: Clock, forward: Mapping[str, str]
    ) -> None:
        self._api = api
        self._key = key
        self._options = options
        self._account = account
        self._clock = clock
        self._forward = forward
        self._arrived: dict[str, WireResponse] = {}
        self.trouble: ApiTrouble | None = None
        self.was_asked = False

    async def send(self, request: WireRequest, depart: Callable[[], Awaitable[None]]) -> WireResponse | WireFailure:
        """Have ScrapingBee ask for the address."""
        if (known := self._arrived.pop(request.url, None)) is not None:
            return known
        options = BeeOptions() if request.url.endswith("/robots.txt") else self._options
        reserved = await self._account.reserve(options.cost)
        if not isinstance(reserved, Reserved):
            return self._give_up(_unpaid(reserved, self._clock.now()))
        await depart()
        answer = await self._ask(request, options)
        await self._account.settle(reserved, cost_of(answer, options.cost))
        if isinstance(answer, WireFailure) or ANSWERED not in answer.headers:
            return self._give_up(trouble_of(answer, self._api, self._clock.now()))
        self.was_asked = True
        return self._delivered(request, answer)

    async def close(self) -> None:
        """Nothing is held."""

    async def _ask(self, request: WireRequest, options: BeeOptions) -> WireResponse | WireFailure:
        return await self._api.call(
            "GET",
            "/",
            query=question(request, options, self._key, self._forward),
            headers={f"Spb-{name}": value for name, value in self._forward.items()},
            within=request.timeout + LATE,
            max_bytes=request.max_bytes,
        )

    def _delivered(self, request: WireRequest, answer: WireResponse) -> WireResponse:
        response = site_response(answer)
        assert response is not None  # noqa: S101 - the caller has looked for the header that says so
        ended = _resolved(answer.headers.get("spb-resolved-url", ""), request.url)
        if ended == request.url:
            return response
        self._arrived[ended] = response
        return WireResponse(status_code=302, headers={"location": ended})

    def _give_up(self, trouble: ApiTrouble) -> WireFailure:
        self.trouble = trouble
        return WireFailure(failure=trouble.failure, detail=trouble.words)


def _resolved(said: str, asked: str) -> str:
    """Where ScrapingBee ended, in the form in which it will be asked for; where it began if it does not say."""
    try:
        return normalize(said).partition("#")[0] if said else asked
    except BadUrl:
        return asked


def _unpaid(reason: BudgetRefusal | StoreError, now: datetime) -> ApiTrouble:
    """Why no money was put aside: there is none left, or nobody can tell just now."""
    if isinstance(reason, BudgetRefusal):
        return _over_budget(reason)
    words = f"what may be spent cannot be looked up: {reason}"
    return ApiTrouble(Failure.HELD_BACK, words, now + BUSY_WAIT, is_its_own=False)


def _over_budget(refused: BudgetRefusal) -> ApiTrouble:
    until = f"{refused.until:%Y-%m-%d %H:%M} UTC"
    words = f"our own budget of {refused.limit} credits a {refused.period} is spent until {until}"
    return ApiTrouble(Failure.OUT_OF_QUOTA, words, refused.until)


def _failed(request: FetchRequest, trouble: ApiTrouble) -> FetchResult:
    waits = trouble.failure in {Failure.HELD_BACK, Failure.OUT_OF_QUOTA}
    return FetchResult(
        status=status_of(trouble.failure),
        url=request.url,
        final_url=request.url,
        fetcher=NAME,
        failure=trouble.failure,
        error=trouble.words,
        retry_at=trouble.until if waits else None,
    )
