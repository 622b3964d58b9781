"""Products, offers and prices as readers see them, and what people decide about them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import msgspec

from tidemill.core.views.records import BadCursor

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class PriceCursor(msgspec.Struct, frozen=True):
    """The last price of a history already seen; written as text it is what a client passes on."""

    observed_at: datetime
    id: int

    @property
    def text(self) -> str:
        """Microseconds since 1970 and the key."""
        return f"{(self.observed_at - EPOCH) // MICROSECOND}.{self.id}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The cursor that `text` writes."""
        try:
            micros, key = text.split(".")
            return cls(EPOCH + int(micros) * MICROSECOND, int(key))
        except (ValueError, OverflowError) as error:
            msg = f"{text!r} is not a place in a history of prices; leave it out to start at the beginning"
            raise BadCursor(msg) from error


class OfferFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which offers; None means any."""

    product_id: int | None = None
    source: str | None = None
    text: str | None = None
    availability: str | None = None


class OfferView(msgspec.Struct, frozen=True, kw_only=True):
    """What a shop asks, corrections applied; `observed_at` is when the price was read, `last_seen_at` the page.

    As of a moment in the past `last_seen_at` is None: it is not kept.
    """

    id: int
    source_id: int
    source_name: str
    product_id: int | None
    retailer: str
    identity_key: str
    url: str
    title: str
    brand: str | None
    upc: str | None
    price_id: int
    price_cents: int
    currency: str
    availability: str
    cost_per_round_cents: float | None
    shipping_cents: int | None
    tax_included: bool | None
    corrected: bool
    observed_at: datetime
    last_seen_at: datetime | None


class ProductFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which products; None means any."""

    text: str | None = None
    brand: str | None = None
    upc: str | None = None


class ProductView(msgspec.Struct, frozen=True, kw_only=True):
    """A canonical product that readers may see, with how many shops offer it.

    `lowest_cents` is the lowest price in stock, and None where shops ask different currencies.
    """

    id: int
    title: str
    brand: str | None
    upc: str | None
    attributes: Mapping[str, Any]
    offers: int
    in_stock: int
    lowest_cents: int | None
    lowest_currency: str | None


class LowestView(msgspec.Struct, frozen=True, kw_only=True):
    """The lowest price in one currency: now and in stock, and ever."""

    currency: str
    now: OfferView | None
    ever_cents: int
    ever_at: datetime


class ProductDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A product with every offer that readers may see, the cheapest in stock first."""

    product: ProductView
    offers: Sequence[OfferView]


class PricePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A price as it was read; `price_cents` is what readers go by, `raw_cents` what the page said."""

    id: int
    source_product_id: int
    source_name: str
    price_cents: int
    raw_cents: int
    currency: str
    availability: str
    corrected: bool
    run_type: str
    run_id: int
    observed_at: datetime

    @property
    def cursor(self) -> PriceCursor:
        """Where the history goes on after this price."""
        return PriceCursor(self.observed_at, self.id)


class ChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """A price that told readers something new, in the order in which the changes became visible (`seq`)."""

    seq: int
    price_id: int
    source_product_id: int
    product_id: int | None
    source_name: str
    title: str
    url: str
    price_cents: int
    currency: str
    availability: str
    was_cents: int | None
    was_currency: str | None
    was_availability: str | None
    observed_at: datetime


class CorrectionView(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said about a price; of several, the newest holds."""

    id: int
    price_id: int
    source_name: str
    title: str
    kind: str
    raw_cents: int
    raw_currency: str
    price_cents: int | None
    currency: str | None
    reason: str
    made_by: str
    made_at: datetime


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """How a shop's product stands to the canonical ones, and why."""

    source_product_id: int
    source_name: str
    title: str
    url: str
    brand: str | None
    upc: str | None
    product_id: int | None
    product_title: str | None
    status: str
    reason: str
    detail: str
    linked_by: str
    linked_at: datetime


class OfferFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A shop's product with its link, its source and a price that is held back, for whoever asks why."""

    id: int
    title: str
    url: str
    price_id: int | None
    last_seen_at: datetime
    gone_at: datetime | None
    out_since: datetime | None
    held_cents: int | None
    held_currency: str | None
    held_at: datetime | None
    held_run_id: int | None
    product_id: int | None
    link_status: str | None
    link_reason: str | None
    link_detail: str | None
    linked_by: str | None
    source_name: str
    visibility: str


class PriceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A price as its row has it, with its offer and what people said about it, the newest first."""

    row: Mapping[str, Any]
    offer: OfferFacts | None
    said: Sequence[Mapping[str, Any]]


class ProductFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A product as its row has it, with every offer that stands for it."""

    row: Mapping[str, Any]
    offers: Sequence[OfferFacts]
