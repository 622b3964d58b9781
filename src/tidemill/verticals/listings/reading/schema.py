"""Schema.org's homes for rent, from JSON-LD or microdata alike, as raw listings with one vocabulary of fields."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading import jsonld, microdata
from tidemill.reading.document import Document
from tidemill.reading.text import plain

Item = dict[str, Any]
Absolute = Callable[[str], str]

HOMES = frozenset({
    "Apartment", "ApartmentComplex", "House", "SingleFamilyResidence", "Residence", "Accommodation", "Room", "Suite",
    "RealEstateListing", "GatedResidenceCommunity", "Condominium", "Townhouse",
})  # fmt: skip
NESTED = frozenset({"itemListElement", "item", "hasPart", "@graph"})
"""Where a list of homes holds further ones; a building's floor plans are the building's own."""

_CONFIDENCE = {Strategy.JSONLD: 0.95, Strategy.MICRODATA: 0.9}
_WRAPPERS = ("mainEntity", "about", "itemOffered", "item")
PLACES: Mapping[str, str] = {
    "title": "name", "url": "url", "id": "identifier", "address": "address.streetAddress", "city":
    "address.addressLocality", "state": "address.addressRegion", "postal_code": "address.postalCode", "rent": "offers",
    "beds": "numberOfBedrooms", "baths": "numberOfBathroomsTotal", "size": "floorSize", "latitude": "geo.latitude",
    "longitude": "geo.longitude", "images": "image", "amenities": "amenityFeature", "description": "description",
    "available": "offers.availabilityStarts", "kind": "@type",
}  # fmt: skip


def from_jsonld(document: Document) -> list[RawRecord]:
    """The homes in the page's JSON-LD."""
    records: list[RawRecord] = []
    for block in jsonld.blocks(document):
        for path, item in jsonld.objects(block.value, is_home, NESTED):
            records += _record(item, f"json-ld/{block.index}{path}", Strategy.JSONLD, document.absolute)
    return records


def from_microdata(document: Document) -> list[RawRecord]:
    """The homes in the page's microdata or RDFa."""
    records: list[RawRecord] = []
    for index, top in enumerate([*microdata.items(document), *microdata.rdfa_items(document)]):
        for path, item in jsonld.objects(top, is_home, NESTED):
            records += _record(item, f"microdata/{index}{path}", Strategy.MICRODATA, document.absolute)
    return records


def is_home(item: Item) -> bool:
    """Whether an object is a home, or an offer of one."""
    kinds = _kinds(item)
    if kinds & HOMES or _kinds(offered(item)) & HOMES:
        return True
    return bool(kinds & {"Offer", "Product", "RentAction"}) and any(
        isinstance(inner, dict) and _kinds(inner) & HOMES for inner in (item.get(name) for name in _WRAPPERS)
    )


def _record(item: Item, origin: str, strategy: Strategy, absolute: Absolute) -> Iterator[RawRecord]:
    fields = fields_of(item, absolute)
    if "rent" in fields or "address" in fields:
        yield RawRecord(
            fields=fields, strategy=strategy, confidence=_CONFIDENCE[strategy], origin=origin, places=PLACES
        )


def fields_of(item: Item, absolute: Absolute) -> dict[str, Any]:
    """A home's fields; what its wrapper says stands in for what it does not say itself."""
    inner = next((one for name in _WRAPPERS if isinstance(one := item.get(name), dict)), None) or offered(item)
    both = {**item, **{name: value for name, value in inner.items() if value not in (None, "", [])}}
    offer = first_offer(item) or first_offer(inner) or (item if _kinds(item) & {"Offer"} else {})
    fields: dict[str, Any] = {
        "title": text_of(both.get("name")),
        "url": absolute(text_of(item.get("url") or both.get("url") or offer.get("url") or own_name(both))),
        "id": text_of(both.get("identifier") or both.get("sku") or both.get("productID")),
        "rent": rent_text(offer),
        "currency": text_of(offer.get("priceCurrency")),
        "available": text_of(offer.get("availabilityStarts")),
        "beds": amount(both.get("numberOfBedrooms") or both.get("numberOfRooms")),
        "baths": amount(both.get("numberOfBathroomsTotal") or both.get("numberOfFullBathrooms")),
        "size": size_text(both.get("floorSize")),
        "description": text_of(both.get("description")),
        "kind": next(iter(sorted(_kinds(both) & HOMES)), ""),
        "images": pictures(both.get("image") or both.get("photo"), absolute),
        "amenities": amenities(both.get("amenityFeature")),
        **address_fields(both.get("address") or both.get("location")),
        **geo_fields(both.get("geo")),
    }
    return {name: value for name, value in fields.items() if value not in ("", [], None)}


def address_fields(address: Any) -> dict[str, str]:
    """A postal address in its parts, or the one line that it is."""
    if isinstance(address, list):
        address = next(iter(address), None)
    if isinstance(address, str):
        return {"address": plain(address)}
    if not isinstance(address, dict):
        return {}
    if isinstance(inner := address.get("address"), dict | str):
        return address_fields(inner)
    names = {
        "address": "streetAddress", "city": "addressLocality", "state": "addressRegion", "postal_code": "postalCode",
    }  # fmt: skip
    return {field: text for field, name in names.items() if (text := text_of(address.get(name)))}


def geo_fields(geo: Any) -> dict[str, Any]:
    """Coordinates, if there are."""
    if not isinstance(geo, dict):
        return {}
    return {name: geo[name] for name in ("latitude", "longitude") if geo.get(name) not in (None, "")}


def first_offer(item: Mapping[str, Any]) -> Item:
    """The offer of a home: the first, where there are several."""
    offers = item.get("offers")
    if isinstance(offers, list):
        offers = next((one for one in offers if isinstance(one, dict)), None)
    return offers if isinstance(offers, dict) else {}


def offered(item: Mapping[str, Any]) -> Item:
    """The home that a product's offer is of."""
    home = first_offer(item).get("itemOffered")
    return home if isinstance(home, dict) else {}


def own_name(item: Mapping[str, Any]) -> str:
    """An `@id` that is an address on the web."""
    name = item.get("@id")
    return name if isinstance(name, str) and name.startswith(("http://", "https://", "/")) and "#" not in name else ""


def rent_text(offer: Mapping[str, Any]) -> str:
    """An offer's rent as a person would write it."""
    detail = offer.get("priceSpecification")
    if isinstance(detail, list):
        detail = next((one for one in detail if isinstance(one, dict)), None)
    detail = detail if isinstance(detail, dict) else {}
    low = amount(offer.get("lowPrice") or detail.get("minPrice") or offer.get("price") or detail.get("price"))
    high = amount(offer.get("highPrice") or detail.get("maxPrice"))
    unit = text_of(detail.get("unitText"))
    written = f"{low} - {high}" if low and high and low != high else low
    return f"{written} / {unit}" if written and unit else written


def size_text(size: Any) -> str:
    """A floor's size with its unit."""
    if not isinstance(size, dict):
        return amount(size)
    unit = text_of(size.get("unitText")) or ("m²" if text_of(size.get("unitCode")) == "MTK" else "sqft")
    low, high = amount(size.get("value") or size.get("minValue")), amount(size.get("maxValue"))
    return f"{low} - {high} {unit}" if low and high else f"{low} {unit}" if low else ""


def amount(value: Any) -> str:
    """A number, a text, or the value of a QuantitativeValue."""
    if isinstance(value, dict):
        low, high = value.get("value") or value.get("minValue"), value.get("maxValue")
        return f"{low}-{high}" if low is not None and high is not None else text_of(low)
    return text_of(value)


def amenities(features: Any) -> list[str]:
    """What a home has, by name; a feature that is told not to be there is not."""
    found = []
    for feature in features if isinstance(features, list) else [features]:
        if isinstance(feature, str):
            found.append(plain(feature))
        elif isinstance(feature, dict) and feature.get("value") not in (False, "false", "False", 0, "no"):
            found.append(text_of(feature.get("name")))
    return [one for one in found if one]


def pictures(value: Any, absolute: Absolute) -> list[str]:
    """The addresses of pictures, of whatever shape they are told in."""
    found = []
    for one in value if isinstance(value, list) else [value]:
        address = (
            one
            if isinstance(one, str)
            else text_of(one.get("url") or one.get("contentUrl"))
            if isinstance(one, dict)
            else ""
        )
        if address and (whole := absolute(address)):
            found.append(whole)
    return found


def text_of(value: Any) -> str:
    """One line of text out of whatever stands for one."""
    if isinstance(value, list):
        value = next(iter(value), "")
    if isinstance(value, dict):
        value = value.get("name") or value.get("value") or value.get("@value") or value.get("@id") or ""
    if value is None or isinstance(value, bool | dict | list):
        return ""
    return plain(f"{value:g}" if isinstance(value, float) else str(value), 2_000)


def _kinds(item: Mapping[str, Any]) -> set[str]:
    kinds = item.get("@type")
    names = kinds if isinstance(kinds, list) else [kinds]
    return {name.rpartition("/")[2].rpartition(":")[2] for name in names if isinstance(name, str)}
