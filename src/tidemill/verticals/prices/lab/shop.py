"""The shops: who they are, how they are made, and what stands at which address."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.verticals.prices.lab.goods import Goods, State, catalogue, state_at


class ShopMake(StrEnum):
    """How a shop is built, as far as a reader of its pages can tell."""

    WOOCOMMERCE = "woocommerce"
    MAGENTO = "magento"
    PLAIN = "schema.org"


class Shop(msgspec.Struct, frozen=True, kw_only=True):
    """A shop at an address; its goods and their prices follow from `seed` and `host`."""

    host: str
    origin: str
    name: str
    make: ShopMake
    currency: str
    seed: int
    goods: tuple[Goods, ...]
    start: datetime
    step: timedelta = timedelta(0)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of its product pages."""
        return tuple(self.path_of(goods) for goods in self.goods)

    def path_of(self, goods: Goods) -> str:
        """Where a product stands; for good, whatever it costs."""
        return f"/product/{goods.number}-{goods.slug}"

    def at(self, path: str) -> Goods | None:
        """What is sold at a path."""
        number = path.removeprefix("/product/").partition("-")[0]
        known = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else -1  # noqa: PLR2004 - no shop has more
        found = self.goods[known] if 0 <= known < len(self.goods) else None
        return found if found is not None and self.path_of(found) == path else None

    def state(self, goods: Goods, moment: datetime) -> State:
        """What is true of a product at `moment`."""
        return state_at(goods, self.seed, self.host, self.start, moment, self.step)


class TrueOffer(msgspec.Struct, frozen=True, kw_only=True):
    """What a perfect reader would have found at an address."""

    url: str
    title: str
    price_cents: int | None
    currency: str
    in_stock: bool


LISTING = "/shop"
"""The path of a shop's list of everything."""

_SHOPS = (
    ("prairie-ammo", "Prairie Ammo", ShopMake.WOOCOMMERCE, "USD"),
    ("northgate-outfitters", "Northgate Outfitters", ShopMake.MAGENTO, "USD"),
    ("harbour-supply", "Harbour Supply", ShopMake.PLAIN, "GBP"),
)
_ADAPTERS = {
    ShopMake.WOOCOMMERCE: "prices.sgammo",
    ShopMake.MAGENTO: "prices.template",
    ShopMake.PLAIN: "prices.generic",
}
SELECTORS = {
    "title": ".page-title-wrapper h1",
    "price": ".product-info-main [data-price-type=finalPrice]@data-price-amount",
    "currency": ".product-info-main meta[itemprop=priceCurrency]@content",
    "list_price": ".product-info-main [data-price-type=oldPrice]@data-price-amount",
    "availability": ".product-info-stock-sku .stock",
    "sku": ".product.attribute.sku .value",
    "gtin": ".additional-attributes td[data-th=UPC]",
}
"""The selectors that a person wrote down for the shop of Magento make."""


def build_shops(
    seed: int, count: int, start: datetime, *, products: int = 24, step: timedelta = timedelta(0)
) -> list[Shop]:
    """So many shops, each make in turn."""
    shops = []
    for number in range(count):
        slug, name, make, currency = _SHOPS[number % len(_SHOPS)]
        again = number // len(_SHOPS)
        host = f"{slug}{f'-{again + 1}' if again else ''}.test"
        goods = catalogue(seed, host, products)
        shops.append(
            Shop(
                host=host, origin=f"https://{host}", name=name, make=make, currency=currency, seed=seed, goods=goods,
                start=start, step=step,
            )
        )  # fmt: skip
    return shops


def truth(shop: Shop, moment: datetime) -> tuple[TrueOffer, ...]:
    """What the shop really asks at `moment`; of what it hides, no price."""
    offers = []
    for goods in shop.goods:
        state = shop.state(goods, moment)
        if state.discontinued:
            continue
        hidden = goods.hides_price and not state.in_stock
        offers.append(
            TrueOffer(
                url=shop.origin + shop.path_of(goods),
                title=goods.title,
                price_cents=None if hidden else state.price_cents,
                currency=shop.currency,
                in_stock=state.in_stock,
            )
        )
    return tuple(offers)


def shop_source(shop: Shop, pace: Mapping[str, float], schedule: str) -> dict[str, Any]:
    """The shop as a sources file names it: reviewed, approved, and not yet eligible for readers."""
    settings: dict[str, Any] = {"currency": shop.currency, "retailer": shop.name}
    if shop.make is ShopMake.MAGENTO:
        settings["selectors"] = dict(SELECTORS)
    return {
        "name": shop.host.removesuffix(".test"),
        "vertical": "prices",
        "base_url": shop.origin,
        "adapter": _ADAPTERS[shop.make],
        "language": "en",
        "time_zone": "UTC",
        "pace": dict(pace),
        "tos": {"reviewed_at": shop.start.isoformat(), "approved_by": "the lab"},
        "settings": settings,
        "targets": [{"url": shop.origin + path, "schedule": schedule} for path in shop.paths],
    }
