"""What reading a product page answers: a product with its price, or the reason why there is none."""

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from tidemill.core.record import Strategy
from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason


class Variant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One of the forms that a product is sold in, with its own price."""

    price: Decimal
    name: str = ""
    sku: str = ""
    gtin: str = ""
    url: str = ""
    availability: Availability = Availability.UNKNOWN


class QuantityTier(msgspec.Struct, frozen=True, gc=False):
    """The price of each, from a quantity on."""

    quantity: int
    price: Decimal


class Product(msgspec.Struct, frozen=True, kw_only=True):
    """A product as its page shows it; what the page does not say is empty.

    `price` is what one costs now, and None within a `NoOffer`, or where a list's
    box shows none that can be read. `list_price` is the crossed-out one. `high_price`
    is set where the price is the lowest of several and nothing on the page chooses one: then it is in `doubt`.
    `currency` is an ISO code. `places` says where each field was read, `strategy` and `confidence` how.
    """

    title: str = ""
    price: Decimal | None = None
    currency: str = ""
    list_price: Decimal | None = None
    high_price: Decimal | None = None
    availability: Availability = Availability.UNKNOWN
    url: str = ""
    sku: str = ""
    product_id: str = ""
    gtin: str = ""
    mpn: str = ""
    brand: str = ""
    image: str = ""
    description: str = ""
    shipping: Decimal | None = None
    tax: str = ""
    attributes: Mapping[str, str] = msgspec.field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    tiers: tuple[QuantityTier, ...] = ()
    doubt: QuarantineReason | None = None
    candidates: tuple[Decimal, ...] = ()
    strategy: Strategy = Strategy.HEURISTICS
    confidence: float = 0.0
    origin: str = ""
    places: Mapping[str, str] = msgspec.field(default_factory=dict)


class NoOffer(msgspec.Struct, frozen=True):
    """Why a page gave no offer, and what it did say of its product."""

    reason: ExtractReason | QuarantineReason
    detail: str = ""
    product: Product = Product()

    @property
    def price(self) -> None:
        """There is none; asked alike of both answers."""
        return


ProductReading = Product | NoOffer
