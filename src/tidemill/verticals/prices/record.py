"""An offer: what one shop asked for one product when its page was read."""

from datetime import datetime

import msgspec

from tidemill.reading.stock import Availability

LEAST_CENTS, MOST_CENTS = 1, 99_999_999
"""Between which amounts a price is believed."""

__all__ = ["LEAST_CENTS", "MOST_CENTS", "Availability", "Offer"]


class Offer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A product at its price.

    `price_cents` is the price of one, now, in the currency's smallest unit: cents, pence, yen. `list_price_cents`
    is the crossed-out one beside it. `identity_key` is the product's within its source: `PID:`, `SKU:` or `URL:`.
    `url` is canonical. `upc` has a right check digit; whether to trust it is the source's matter.
    `cost_per_round_cents` is derived here and nowhere else, in cents with two decimals.
    """

    source_id: int
    retailer: str
    url: str
    title: str
    price_cents: int
    currency: str
    availability: Availability
    observed_at: datetime
    identity_key: str
    adapter_version: str
    sku: str | None = None
    product_id: str | None = None
    upc: str | None = None
    mpn: str | None = None
    brand: str | None = None
    caliber: str | None = None
    grain_weight: int | None = None
    round_count: int | None = None
    case_material: str | None = None
    bullet_type: str | None = None
    load_type: str | None = None
    shell_length: str | None = None
    cost_per_round_cents: float | None = None
    list_price_cents: int | None = None
    shipping_cents: int | None = None
    tax_included: bool | None = None
    image_url: str | None = None
    confidence: float = 1.0
