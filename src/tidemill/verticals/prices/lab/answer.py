"""A shop's answer to a request: a pure function of the shop, its faults, the request and the moment."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidemill.lab.faults import (
    BlockPage,
    Fault,
    Forbidden403,
    Redesign,
    RobotsChange,
    RobotsDown,
    ServerError500,
    TooMany429,
)
from tidemill.verticals.prices.lab import pages
from tidemill.verticals.prices.lab.faults import CurrencyFlip, RedirectsToList
from tidemill.verticals.prices.lab.shop import LISTING, Shop

CLOSED_PATH = "/product/"
"""What robots.txt forbids after a robots change."""
_FLIPPED = {"USD": "EUR", "GBP": "USD", "EUR": "USD"}


class ShopAnswer(msgspec.Struct, frozen=True):
    """A status, a page, and headers beside its type."""

    status: int
    page: str
    headers: tuple[tuple[str, str], ...] = ()
    kind: str = "text/html; charset=utf-8"


def answer(shop: Shop, path: str, faults: Sequence[Fault], moment: datetime) -> ShopAnswer:
    """What the shop answers at `path`."""
    if path == "/robots.txt":
        return _robots(faults)
    if (instead := _instead(shop, faults)) is not None:
        return instead
    if path == LISTING:
        states = [(goods, shop.state(goods, moment)) for goods in shop.goods]
        return ShopAnswer(200, pages.listing_page(shop, [each for each in states if not each[1].discontinued]))
    goods = shop.at(path)
    if goods is None:
        return ShopAnswer(404, pages.notice_page(shop, "Page not found"))
    state = shop.state(goods, moment)
    if state.discontinued or any(isinstance(fault, RedirectsToList) for fault in faults):
        return ShopAnswer(302, "", (("location", LISTING),))
    flipped = any(isinstance(fault, CurrencyFlip) for fault in faults)
    currency = _FLIPPED[shop.currency] if flipped else shop.currency
    showing = pages.Showing(shop=shop, goods=goods, state=state, currency=currency)
    redesigned = any(isinstance(fault, Redesign) for fault in faults)
    return ShopAnswer(200, pages.product_page(showing, redesigned=redesigned))


def _robots(faults: Sequence[Fault]) -> ShopAnswer:
    if any(isinstance(fault, RobotsDown) for fault in faults):
        return ShopAnswer(503, "Service unavailable", kind="text/plain")
    closed = any(isinstance(fault, RobotsChange) for fault in faults)
    lines = [
        "User-agent: *",
        "Disallow: /cart",
        "Disallow: /checkout",
        *([f"Disallow: {CLOSED_PATH}"] if closed else []),
    ]
    return ShopAnswer(200, "\n".join([*lines, ""]), kind="text/plain")


def _instead(shop: Shop, faults: Sequence[Fault]) -> ShopAnswer | None:
    for fault in faults:
        match fault:
            case BlockPage():
                return ShopAnswer(200, pages.captcha_page(shop))
            case Forbidden403():
                return ShopAnswer(403, pages.notice_page(shop, "Forbidden"))
            case TooMany429(retry_after=seconds):
                return ShopAnswer(429, pages.notice_page(shop, "Too many requests"), (("retry-after", str(seconds)),))
            case ServerError500(status=status):
                return ShopAnswer(status, pages.notice_page(shop, "Internal error"))
            case _:
                continue
    return None
