"""ScrapingBee's API: what to ask for, what it costs, and what its answers mean."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.fetching.service_api import ApiTrouble, ServiceApi
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

LONGEST_TIMEOUT = timedelta(seconds=140)
SHORTEST_TIMEOUT = timedelta(seconds=1)
SITE_HEADER_PREFIX = "spb-"
SERVICE_HEADERS = frozenset({"spb-cost", "spb-initial-status-code", "spb-resolved-url"})
SITE_STATUS_HEADER = "spb-initial-status-code"
"""Only an answer of the site carries this; without it, the answer is ScrapingBee's own."""

BUSY_WAIT = timedelta(seconds=30)
QUOTA_WAIT = timedelta(hours=1)
DOWN_WAIT = timedelta(minutes=5)
KEY_WAIT = timedelta(minutes=15)


class BeeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A source's options under ScrapingBee's own names: plain requests unless it says otherwise."""

    render_js: bool = False
    premium_proxy: bool = False
    stealth_proxy: bool = False
    country_code: str = ""
    wait: int = 0
    wait_for: str = ""

    @property
    def cost(self) -> int:
        """Credits that one page costs."""
        if self.stealth_proxy:
            return 75
        if self.premium_proxy:
            return 25 if self.render_js else 10
        return 5 if self.render_js else 1


class BadBeeOptions(ValueError):
    """A source's settings for ScrapingBee that it would not understand."""


def options_of(settings: Mapping[str, Any]) -> BeeOptions:
    """Return a source's settings for ScrapingBee; raise `BadBeeOptions` with a message for a person."""
    try:
        return msgspec.convert(settings.get("scrapingbee", {}), BeeOptions)
    except msgspec.ValidationError as error:
        msg = f"the source's settings for scrapingbee: {error}"
        raise BadBeeOptions(msg) from error


def query_for(request: WireRequest, options: BeeOptions, key: str, forward: Mapping[str, str]) -> dict[str, str]:
    """Return the query of a call for one page; `forward` are the headers that go on to the site."""
    limit = min(max(request.timeout, SHORTEST_TIMEOUT), LONGEST_TIMEOUT)
    query = {
        "api_key": key,
        "url": request.url,
        "render_js": _flag(options.render_js),
        "transparent_status_code": "true",
        "timeout": str(limit // timedelta(milliseconds=1)),
    }
    chosen = {
        "premium_proxy": _flag(options.premium_proxy) if options.premium_proxy else "",
        "stealth_proxy": _flag(options.stealth_proxy) if options.stealth_proxy else "",
        "country_code": options.country_code,
        "wait": str(options.wait) if options.wait else "",
        "wait_for": options.wait_for,
        "forward_headers": "true" if forward else "",
    }
    return query | {name: value for name, value in chosen.items() if value}


def _flag(value: bool) -> str:  # noqa: FBT001 - turns a flag into the API's word for it
    return "true" if value else "false"


def site_response(answer: WireResponse) -> WireResponse | None:
    """Return the site's response with its own headers; None when the answer is ScrapingBee's own."""
    if SITE_STATUS_HEADER not in answer.headers:
        return None
    headers = {
        name.removeprefix(SITE_HEADER_PREFIX): value
        for name, value in answer.headers.items()
        if name.startswith(SITE_HEADER_PREFIX) and name not in SERVICE_HEADERS and name != "spb-content-encoding"
    }
    headers.setdefault("content-type", answer.headers.get("content-type", ""))
    return msgspec.structs.replace(answer, headers=headers)


def cost_of(answer: WireResponse | WireFailure, estimate: int) -> int:
    """Return the credits that a call cost; a page whose answer does not say so cost what was expected."""
    if isinstance(answer, WireFailure):
        return 0
    excerpt = answer.headers.get("spb-cost", "")
    if excerpt.isascii() and excerpt.isdigit():
        return int(excerpt[:9])
    return estimate if SITE_STATUS_HEADER in answer.headers else 0


def trouble_of(answer: WireResponse | WireFailure, api: ServiceApi, now: datetime) -> ApiTrouble:
    """Return what ScrapingBee's own error means for us."""
    if isinstance(answer, WireFailure):
        return ApiTrouble(Failure.HELD_BACK, f"scrapingbee cannot be reached: {answer.detail}", now + DOWN_WAIT)
    excerpt = api.excerpt(answer)
    code = 402 if answer.status_code == 401 and _is_about_quota(excerpt) else answer.status_code  # noqa: PLR2004 - theirs
    meaning = ERROR_MEANINGS.get(code, ErrorMeaning(Failure.HELD_BACK, f"scrapingbee answered {code}", DOWN_WAIT))
    return ApiTrouble(meaning.failure, f"{meaning.message} ({excerpt})", now + meaning.wait, meaning.is_service_fault)


class ErrorMeaning(msgspec.Struct, frozen=True):
    """What one of its status codes means, and how long to stay away for it."""

    failure: Failure
    message: str
    wait: timedelta = timedelta(0)
    is_service_fault: bool = True


ERROR_MEANINGS = {
    400: ErrorMeaning(Failure.CLIENT_ERROR, "scrapingbee does not take our request", is_service_fault=False),
    401: ErrorMeaning(Failure.HELD_BACK, "scrapingbee refuses our key; check `scrapingbee_key`", KEY_WAIT),
    402: ErrorMeaning(Failure.OUT_OF_QUOTA, "scrapingbee has no credits left for us", QUOTA_WAIT),
    403: ErrorMeaning(Failure.HELD_BACK, "scrapingbee refuses our key; check `scrapingbee_key`", KEY_WAIT),
    429: ErrorMeaning(Failure.HELD_BACK, "scrapingbee asks us to wait", BUSY_WAIT, is_service_fault=False),
    500: ErrorMeaning(Failure.SERVER_ERROR, "scrapingbee could not get the page", is_service_fault=False),
}
"""By its documentation. A 500 is about the page, which may be tried again; other 5xx are about the service."""


def _is_about_quota(excerpt: str) -> bool:
    plain = excerpt.lower()
    return "limit" in plain or "credit" in plain
