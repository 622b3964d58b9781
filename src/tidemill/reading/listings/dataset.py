"""Dataset items as scraping actors emit them: several shapes that are known, and a reason for all others.

An actor's items are JSON objects. Each field has a list of the names and paths that actors use for it; an item in
which too few of them are found is of an unknown shape, which is a reason for a person and never a guess.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.text import plain

Item = Mapping[str, Any]

_SURE = 0.95
_WRAPPERS = ("items", "results", "listings", "data", "properties", "apartments", "hits")

NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id", "listingId", "listing_id", "propertyId", "property_id", "zpid", "listingKey", "key", "mlsId"),
    "url": ("url", "detailUrl", "listingUrl", "propertyUrl", "link", "hdpUrl", "detail_url", "source_url", "href"),
    "title": ("propertyName", "title", "name", "buildingName", "property_name", "community", "headline"),
    "address": (
        "address.streetAddress", "address.street", "address.line1", "address.line", "address.full", "address.address",
        "address.fullAddress", "location.streetAddress", "location.address.line", "location.address",
        "location.fullAddress", "fullAddress", "streetAddress", "addressStreet", "street_address", "street",
        "full_address", "address", "formattedAddress",
    ),
    "unit": ("unit", "unitNumber", "address.unit", "apartment", "unit_number", "aptNumber"),
    "city": (
        "address.city", "address.addressLocality", "location.city", "location.address.city", "city", "addressCity",
    ),
    "state": (
        "address.state", "address.addressRegion", "location.state", "location.address.state_code", "state",
        "addressState", "stateCode",
    ),
    "postal_code": (
        "address.postalCode", "address.zip", "address.zipcode", "address.zipCode", "location.postalCode",
        "location.address.postal_code", "postalCode", "zip", "zipcode", "zipCode", "addressZipcode",
    ),
    "neighborhood": ("neighborhood", "neighbourhood", "location.neighborhood", "address.neighborhood"),
    "rent": (
        "rent", "price", "rentRange", "priceRange", "monthlyRent", "rent_price", "unformattedPrice", "listPrice",
        "list_price", "pricing", "rentPrice", "priceText",
    ),
    "beds": ("beds", "bedrooms", "bedsRange", "bedRange", "numberOfBedrooms", "bed", "beds_range", "description.beds"),
    "baths": (
        "baths", "bathrooms", "bathsRange", "bathRange", "numberOfBathrooms", "bath", "baths_range",
        "description.baths",
    ),
    "size": (
        "sqft", "squareFeet", "area", "livingArea", "size", "sqftRange", "floorSize", "square_feet", "description.sqft",
    ),
    "available": ("availability", "availableDate", "availableFrom", "available", "moveInDate", "available_date"),
    "kind": ("propertyType", "homeType", "type", "property_type", "kind"),
    "description": ("description", "descriptionText", "summary", "about"),
    "latitude": (
        "latitude", "lat", "location.latitude", "location.lat", "coordinates.latitude", "coordinates.lat",
        "latLong.latitude", "geo.latitude", "location.coordinates.lat", "location.address.coordinate.lat",
        "address.latitude",
    ),
    "longitude": (
        "longitude", "lng", "lon", "location.longitude", "location.lng", "location.lon", "coordinates.longitude",
        "coordinates.lng", "coordinates.lon", "latLong.longitude", "geo.longitude", "location.coordinates.lng",
        "location.address.coordinate.lon", "address.longitude",
    ),
    "amenities": ("amenities", "features", "unitAmenities", "communityAmenities"),
    "images": ("images", "photos", "imageUrls", "photoUrls", "imgSrc", "image", "primaryPhoto", "thumbnail"),
    "currency": ("currency", "priceCurrency"),
}  # fmt: skip
"""The names and paths that actors use, the most telling first."""

_LOWER = ("min", "minimum", "low", "from", "minPrice", "minRent", "lower")
_UPPER = ("max", "maximum", "high", "to", "maxPrice", "maxRent", "upper")
_ONE = ("value", "amount", "formatted", "display", "text", "price", "rent", "range")
_PAIRS = {
    "rent": (("rentMin", "rentMax"), ("minRent", "maxRent"), ("priceMin", "priceMax"), ("minPrice", "maxPrice"),
             ("list_price_min", "list_price_max"), ("rent_min", "rent_max")),
    "beds": (("bedsMin", "bedsMax"), ("minBeds", "maxBeds"), ("beds_min", "beds_max")),
    "baths": (("bathsMin", "bathsMax"), ("minBaths", "maxBaths"), ("baths_min", "baths_max")),
    "size": (("sqftMin", "sqftMax"), ("minSqft", "maxSqft"), ("sqft_min", "sqft_max")),
}  # fmt: skip
_HOLLOW = re.compile(r"^(?:null|none|n/a|undefined|-+)$", re.IGNORECASE)


class NotADataset(ValueError):
    """The page is no JSON, or JSON that holds no list of items."""


def read_dataset(body: bytes, base_url: str = "") -> list[RawRecord]:
    """The raw listings of a dataset; an item of unknown shape becomes a record that says so.

    Raises:
        NotADataset: there is no list of items at all.
    """
    return [_record(item, index, base_url) for index, item in enumerate(items_of(body))]


def items_of(body: bytes) -> list[Any]:
    """The list of items, at the top or under one of the usual names; JSON Lines too."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        value = _lines(body)
    if isinstance(value, dict):
        value = next((value[name] for name in _WRAPPERS if isinstance(value.get(name), list)), None)
    if not isinstance(value, list):
        msg = "no list of items"
        raise NotADataset(msg)
    return value


def _lines(body: bytes) -> list[Any]:
    try:
        return [msgspec.json.decode(line) for line in body.splitlines() if line.strip()]
    except (msgspec.DecodeError, RecursionError) as error:
        msg = f"not JSON: {error}"
        raise NotADataset(msg) from error


def _record(item: Any, index: int, base_url: str) -> RawRecord:
    fields, places = fields_of(item) if isinstance(item, dict) else ({}, {})
    if not ("address" in fields or "latitude" in fields) or not fields.keys() & {"rent", "beds", "id", "url"}:
        fields, places = {"unknown_shape": shape_of(item)}, {}
    if str(fields.get("url", "")).startswith("/") and base_url:
        fields["url"] = base_url.rstrip("/") + fields["url"]
    return RawRecord(
        fields=fields, strategy=Strategy.DATASET, confidence=_SURE, origin=f"items/{index}", places=places
    )  # fmt: skip


def fields_of(item: Item) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields that an item tells, and the path at which each was found (X11)."""
    fields: dict[str, Any] = {}
    places: dict[str, str] = {}
    for field, paths in NAMES.items():
        for path, value in _candidates(item, field, paths):
            told = value_of(field, value)
            if told not in ("", [], None):
                fields[field], places[field] = told, path
                break
    return fields, places


def _candidates(item: Item, field: str, paths: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for low, high in _PAIRS.get(field, ()):
        if item.get(low) not in (None, ""):
            yield f"{low}..{high}", {"min": item[low], "max": item.get(high)}
    for path in paths:
        value = at(item, path)
        if value is not None:
            yield path, value


def at(item: Any, path: str) -> Any:
    """What stands at a dotted path; None if nothing does."""
    for name in path.split("."):
        item = item.get(name) if isinstance(item, dict) else None
    return item


def value_of(field: str, value: Any) -> Any:
    """A value in the shape that raw listings have it."""
    if field in {"amenities", "images"}:
        return texts_of(value)
    if field in {"latitude", "longitude"}:
        return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    if isinstance(value, dict):
        return span_of(value) if field in {"rent", "beds", "baths", "size"} else ""
    if isinstance(value, list):
        return texts_of(value)[0] if field in {"rent", "beds"} and len(value) == 1 and texts_of(value) else ""
    text = (
        ""
        if value is None or isinstance(value, bool)
        else plain(f"{value:g}" if isinstance(value, float) else str(value))
    )
    return "" if _HOLLOW.match(text) else text


def span_of(value: Item) -> str:
    """A range that an object tells, as a person would write it."""
    low = next((value[name] for name in _LOWER if value.get(name) not in (None, "")), None)
    high = next((value[name] for name in _UPPER if value.get(name) not in (None, "")), None)
    if low is None and high is None:
        one = next((value[name] for name in _ONE if value.get(name) not in (None, "")), "")
        return plain(str(one)) if not isinstance(one, dict | list) else ""
    low = high if low is None else low
    return f"{low} - {high}" if high is not None and str(high) != str(low) else str(low)


def texts_of(value: Any) -> list[str]:
    """The texts of a list of texts, or of objects that each name one."""
    found = []
    for one in value if isinstance(value, list) else [value]:
        text = one
        if isinstance(one, dict):
            text = next(
                (
                    one[name]
                    for name in ("url", "src", "href", "name", "title", "text")
                    if isinstance(one.get(name), str)
                ),
                None,
            )
        if isinstance(text, str) and text.strip():
            found.append(plain(text))
    return found


def shape_of(item: Any) -> str:
    """The names that an item of unknown shape has, for the person who will look at it."""
    if not isinstance(item, dict):
        return f"an item that is no object but {type(item).__name__}"
    return "an item with " + (", ".join(sorted(map(str, item))[:20]) or "no fields")
