"""Schema.org products, from JSON-LD, microdata or RDFa alike, in the many shapes that shops give them."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from tidemill.core.record import Strategy
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.schema_org import local_name
from tidemill.reading.stock import Availability, availability_in
from tidemill.verticals.prices.reading.claims.claim import Absolute, PriceClaim, amount_of, money_of, text_of
from tidemill.verticals.prices.reading.product import Variant

Item = Mapping[str, Any]

_PRODUCTS = frozenset(
    {"product", "productmodel", "individualproduct", "productgroup", "someproducts", "vehicle", "car", "motorcycle",
     "productcollection", "itemoffered"}
)  # fmt: skip
_OTHER_SOLD_TYPES = frozenset(
    {"book", "videogame", "softwareapplication", "musicalbum", "movie", "drug", "mobileapplication", "creativework",
     "thing", "menuitem", "course", "webapplication", "game"}
)  # fmt: skip
_OFFERS = frozenset({"offer", "aggregateoffer", "offerforpurchase"})
_GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "ean", "upc", "isbn", "barcode")
_LIST_KINDS = frozenset({"listprice", "strikethroughprice", "msrp", "srp", "regularprice", "suggestedretailprice"})
_MOST_OFFERS, _MOST_VARIANTS, _DEEPEST = 200, 200, 4


class Offers(msgspec.Struct, frozen=True, kw_only=True):
    """What a product's offers come to."""

    price: Decimal | None = None
    high: Decimal | None = None
    list_price: Decimal | None = None
    shipping: Decimal | None = None
    currency: str = ""
    availability: str = ""
    fields: Mapping[str, str] = msgspec.field(default_factory=dict)
    variants: tuple[Variant, ...] = ()


class _OfferData(msgspec.Struct, frozen=True, kw_only=True):
    """One offer."""

    price: Decimal
    currency: str = ""
    high: Decimal | None = None
    list_price: Decimal | None = None
    shipping: Decimal | None = None
    availability: str = ""
    url: str = ""
    sku: str = ""
    name: str = ""
    gtin: str = ""
    used: bool = False


def types_of(item: Item) -> set[str]:
    """The types of an object, bare and in lower case."""
    type_ = item.get("@type")
    types = type_ if isinstance(type_, list) else [type_]
    return {local_name(one).lower() for one in types if isinstance(one, str)}


def is_product(item: Item) -> bool:
    """Whether an object is a product, or something that is sold as one, or a bare offer."""
    types = types_of(item)
    if types & _PRODUCTS or any(type_.endswith("product") for type_ in types):
        return True
    return bool(types & _OFFERS) or (bool(types & _OTHER_SOLD_TYPES) and "offers" in {key.lower() for key in item})


def claim_of(
    item: Item, origin: str, strategy: Strategy, confidence: float, absolute: Absolute, known: Mapping[str, Item]
) -> PriceClaim:
    """What one product object says; a bare offer is a product of which only the offer is told."""
    item = _lowercase_keys(item)
    if types_of(item) & _OFFERS:
        product = _lowercase_keys(_resolved(item.get("itemoffered"), known))
        item = {**product, "offers": {key: value for key, value in item.items() if key != "itemoffered"}}
    offers = _offers(item, known)
    fields = _fields(item, absolute)
    for name, value in offers.fields.items():
        fields[name] = fields.get(name) or value
    if offers.availability or item.get("availability"):
        fields["availability"] = offers.availability or text_of(item["availability"])
    elif offers.price and _counts_offers(item.get("offers")):
        fields["availability"] = "InStock"
    return PriceClaim(
        strategy=strategy,
        origin=origin,
        confidence=confidence,
        fields={name: value for name, value in fields.items() if value},
        places=_PLACES,
        price=offers.price,
        currency=offers.currency,
        list_price=offers.list_price,
        high=offers.high,
        shipping=offers.shipping,
        variants=offers.variants,
    )


def _counts_offers(value: Any) -> bool:
    """Whether an aggregate of offers, which says nothing of stock, counts one at least: somebody sells it."""
    offers = _lowercase_keys(value[0] if isinstance(value, list) and value else value)
    count = text_of(offers.get("offercount"))
    return "aggregateoffer" in types_of(offers) and count.isdecimal() and int(count[:9]) > 0


_PLACES = {
    "title": "name", "price": "offers.price", "currency": "offers.priceCurrency", "availability": "offers.availability",
    "sku": "sku", "product_id": "productID", "gtin": "gtin", "mpn": "mpn", "brand": "brand", "image": "image",
    "url": "url", "description": "description", "list_price": "offers.priceSpecification",
}  # fmt: skip


def _lowercase_keys(item: Any) -> dict[str, Any]:
    """An object with its keys in lower case: shops write `Offers` and `priceCurrency` as they like."""
    return (
        {key if key.startswith("@") else key.lower(): value for key, value in item.items()}
        if isinstance(item, Mapping)
        else {}
    )


def _resolved(value: Any, known: Mapping[str, Item]) -> Any:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, Mapping) and len(value) <= 2 and isinstance(value.get("@id"), str):  # noqa: PLR2004 - a reference, with its type at most
        return known.get(value["@id"], value)
    return value


def _fields(item: Item, absolute: Absolute) -> dict[str, str]:
    identity = text_of(item.get("productid"))
    return {
        "title": text_of(item.get("name")),
        "brand": text_of(item.get("brand") or item.get("manufacturer")),
        "sku": text_of(item.get("sku")),
        "product_id": "" if as_gtin(identity.rpartition(":")[2]) else identity,
        "mpn": text_of(item.get("mpn") or item.get("model")),
        "gtin": _gtin(item, identity),
        "image": _link(item.get("image"), absolute),
        "url": _link(item.get("url"), absolute),
        "description": text_of(item.get("description"))[:2_000],
    }


def _gtin(item: Item, identity: str) -> str:
    written = [text_of(item.get(key)) for key in _GTINS] + [identity.rpartition(":")[2]]
    return next((gtin for each in written if each and (gtin := as_gtin(each))), "")


def _link(value: Any, absolute: Absolute) -> str:
    if isinstance(value, list):
        value = next((each for each in value if each), "")
    if isinstance(value, Mapping):
        value = value.get("contentUrl") or value.get("url") or value.get("@id") or ""
    return absolute(value) if isinstance(value, str) else ""


def _offers(item: Item, known: Mapping[str, Item]) -> Offers:
    found = list(_each_offer(item.get("offers") or item.get("offer"), known, 0))
    if not found:
        found = list(_of_variants(item, known))
    if not found and (item.get("price") or item.get("pricespecification")):
        found = [one for one in [_offer_data(item)] if one is not None]
    if not found:
        return Offers(availability=_availability_alone(item.get("offers")))
    return _combined(found)


def _availability_alone(offers: Any) -> str:
    """The stock that an offer without a price tells of: sold out, and the price taken away."""
    for offer in offers if isinstance(offers, list) else [offers]:
        if isinstance(offer, Mapping) and (text := text_of(_lowercase_keys(offer).get("availability"))):
            return text
    return ""


def _each_offer(value: Any, known: Mapping[str, Item], depth: int) -> Iterator[_OfferData]:
    if depth > _DEEPEST:
        return
    for each in (value if isinstance(value, list) else [value])[:_MOST_OFFERS]:
        offer = _lowercase_keys(_resolved(each, known))
        if not offer:
            continue
        inner = list(_each_offer(offer.get("offers"), known, depth + 1)) if "offers" in offer else []
        own = _offer_data(offer)
        if inner and (own is None or own.high is not None):
            yield from inner
        elif own is not None:
            yield own


def _of_variants(item: Item, known: Mapping[str, Item]) -> Iterator[_OfferData]:
    variants = item.get("hasvariant")
    for each in (variants if isinstance(variants, list) else [variants])[:_MOST_VARIANTS]:
        variant = _lowercase_keys(_resolved(each, known))
        for one in _each_offer(variant.get("offers"), known, 1) if variant else ():
            yield msgspec.structs.replace(
                one,
                name=text_of(variant.get("name")) or one.name,
                sku=text_of(variant.get("sku")) or one.sku,
                gtin=_gtin(variant, ""),
                url=one.url or text_of(variant.get("url")),
            )


def _offer_data(offer: Item) -> _OfferData | None:
    price, high, listed, currency = _amounts(offer)
    if price is None:
        return None
    shipping = _lowercase_keys(offer.get("shippingdetails"))
    score_price = _lowercase_keys(shipping.get("shippingrate"))
    return _OfferData(
        price=price,
        currency=currency,
        high=high if high is not None and high > price else None,
        list_price=listed if listed is not None and listed > price else None,
        shipping=amount_of(score_price.get("value"), currency) if score_price else None,
        availability=text_of(offer.get("availability")),
        url=text_of(offer.get("url")),
        sku=text_of(offer.get("sku")),
        name=text_of(offer.get("name")),
        gtin=_gtin(offer, ""),
        used="used" in text_of(offer.get("itemcondition")).lower(),
    )


def _amounts(offer: Item) -> tuple[Decimal | None, Decimal | None, Decimal | None, str]:
    """An offer's price, the upper end of its range, its list price, and the currency of all three."""
    currency = offer.get("pricecurrency") or offer.get("currency")
    price, code = money_of(offer.get("price"), currency)
    low, low_code = money_of(offer.get("lowprice"), currency)
    high, _ = money_of(offer.get("highprice"), currency)
    listed = None
    for specification in _specifications(offer):
        if _is_per_unit(specification):
            continue
        amount, written = money_of(
            specification.get("price") or specification.get("minprice"),
            specification.get("pricecurrency") or currency,
        )
        if local_name(text_of(specification.get("pricetype"))).lower() in _LIST_KINDS:
            listed = amount
        elif price is None and low is None:
            price, code = amount, code or written
    return (price if price is not None else low), high, listed, code or low_code


def _is_per_unit(specification: Item) -> bool:
    """Whether a specification prices a measure of the thing, not the thing."""
    quantity = _lowercase_keys(specification.get("referencequantity"))
    return bool(quantity) and text_of(quantity.get("unitcode") or quantity.get("unittext")).upper() not in _PIECES


_PIECES = frozenset({"", "C62", "EA", "H87", "PCE", "NMP", "PR", "SET"})
"""Units that mean one of it."""


def _specifications(offer: Item) -> list[dict[str, Any]]:
    value = offer.get("pricespecification")
    return [found for each in (value if isinstance(value, list) else [value]) if (found := _lowercase_keys(each))]


def _combined(found: list[_OfferData]) -> Offers:
    """The offer that stands for all: the first that is new and can be had; a range, where they differ."""
    new = [one for one in found if not one.used] or found
    there = [one for one in new if availability_in(one.availability) is Availability.IN_STOCK]
    priced = [one for one in there or new if one.price] or there or new
    first = priced[0]
    dearest = max(one.high or one.price for one in priced)
    cheapest = min(one.price for one in priced)
    several = len(priced) > 1
    return Offers(
        price=first.price,
        high=dearest if dearest > cheapest else first.high,
        list_price=first.list_price,
        shipping=first.shipping,
        currency=first.currency or next((one.currency for one in found if one.currency), ""),
        availability=first.availability or next((one.availability for one in found if one.availability), ""),
        fields={} if several else {"sku": first.sku, "gtin": first.gtin},
        variants=tuple(
            Variant(
                price=one.price, name=one.name, sku=one.sku, gtin=one.gtin, url=one.url,
                availability=availability_in(one.availability),
            )
            for one in found
        )
        if len(found) > 1
        else (),
    )  # fmt: skip
