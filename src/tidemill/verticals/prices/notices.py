"""What subscribers are told of prices: a change of a price or of the stock, as one or several notices."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tidemill.operations.webhooks.feeds import ChangeFeed, FeedEntry
from tidemill.pipeline.webhooks import Notice
from tidemill.verticals.prices.views import ChangeView

FEED = "prices"
PRICE_DROP, PRICE_RISE, BACK_IN_STOCK, OUT_OF_STOCK, OTHER = (
    "price_drop", "price_rise", "back_in_stock", "out_of_stock", "changed",
)  # fmt: skip
KINDS = {
    PRICE_DROP: "A price fell in the same currency.",
    PRICE_RISE: "A price rose in the same currency.",
    BACK_IN_STOCK: "An offer can be had again.",
    OUT_OF_STOCK: "An offer can no longer be had.",
    OTHER: "An offer is new, or changed in another way.",
}
IN_STOCK = "IN_STOCK"


class PriceFilters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What narrows the feed: one product, or drops of at least so many percent."""

    product_id: int | None = None
    least_drop_percent: float | None = None


def kinds_of(change: ChangeView) -> list[str]:
    """Return the kinds of notice that a change gives; at least one."""
    found = []
    if change.availability == IN_STOCK and change.was_availability not in {None, IN_STOCK}:
        found.append(BACK_IN_STOCK)
    if change.availability != IN_STOCK and change.was_availability == IN_STOCK:
        found.append(OUT_OF_STOCK)
    if drop_percent(change) > 0:
        found.append(PRICE_DROP)
    elif change.was_cents and change.was_currency == change.currency and change.price_cents > change.was_cents:
        found.append(PRICE_RISE)
    return found or [OTHER]


def drop_percent(change: ChangeView) -> float:
    """Return by how many percent the price fell; 0 if it did not, or cannot be compared."""
    if not change.was_cents or change.was_currency != change.currency or change.price_cents >= change.was_cents:
        return 0.0
    return round(100 * (change.was_cents - change.price_cents) / change.was_cents, 2)


def covers(notice: Notice, only: PriceFilters) -> bool:
    """Return whether a notice is within the filters of a subscription."""
    if only.product_id is not None and only.product_id != notice.change["product_id"]:
        return False
    least = only.least_drop_percent or 0.0
    return notice.kind != PRICE_DROP or bool(notice.change["drop_percent"] >= least)


ReadChanges = Callable[..., Awaitable[list[ChangeView]]]


def price_feed(changes: ReadChanges, newest: Callable[[], Awaitable[int]]) -> ChangeFeed:
    """Return the feed; `changes` are those that readers may see, so that no notice reveals more."""

    async def after(cursor: int, limit: int) -> list[FeedEntry]:
        found = await changes(cursor, limit=limit)
        return [FeedEntry(each.seq, [notice_of(each, kind) for kind in kinds_of(each)]) for each in found]

    def notice_of(change: ChangeView, kind: str) -> Notice:
        told: dict[str, Any] = {**msgspec.structs.asdict(change), "drop_percent": drop_percent(change)}
        return feed.notice(change.seq, kind, change.observed_at, told)

    feed = ChangeFeed(name=FEED, kinds=KINDS, newest=newest, after=after, filters=PriceFilters, covers=covers)
    return feed
