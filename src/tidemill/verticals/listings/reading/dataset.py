"""Dataset items as scraping actors emit them: several shapes that are known, and a reason for all others.

An actor's items are JSON objects. Each field has a list of the names and paths that actors use for it, then the words
that a name must have to mean the same; an item in which too few of them are found is of an unknown shape, which is a
reason for a person and never a guess.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import absolute
from tidemill.verticals.listings.reading.naming import fields_by_name, words_of
from tidemill.verticals.listings.reading.plans import ranges_of
from tidemill.verticals.listings.reading.shapes import point_of, text_of, value_of

Item = Mapping[str, Any]

_CONFIDENCE = 0.95
_WRAPPERS = ("items", "results", "listings", "data", "properties", "apartments", "hits")

NAMES: Mapping[str, Sequence[str]] = {
    "id": (
        "id", "listingId", "listing_id", "propertyId", "property_id", "zpid", "listingKey", "key", "mlsId", "postId",
        "propertyCode", "adId",
    ),
    "url": ("url", "detailUrl", "listingUrl", "propertyUrl", "link", "hdpUrl", "detail_url", "source_url", "href"),
    "title": ("propertyName", "title", "name", "buildingName", "property_name", "community", "headline"),
    "address": (
        "address.streetAddress", "address.street", "address.line1", "address.addressLine1", "address.line",
        "address.full", "address.address",
        "address.fullAddress", "location.streetAddress", "location.address.line", "location.address",
        "location.fullAddress", "fullAddress", "streetAddress", "addressStreet", "street_address", "street",
        "full_address", "address", "formattedAddress", "displayAddress", "location.fullLocation",
    ),
    "unit": (
        "unit", "unitNumber", "address.unit", "apartment", "unit_number", "aptNumber", "address.addressLine2",
        "address.line2", "addressLine2",
    ),
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
    "beds": ("beds", "bedrooms", "bedsRange", "bedRange", "numberOfBedrooms", "bed", "beds_range", "description.beds",
             "housing"),
    "baths": (
        "baths", "bathrooms", "bathsRange", "bathRange", "numberOfBathrooms", "bath", "baths_range",
        "description.baths",
    ),
    "size": (
        "sqft", "squareFeet", "area", "livingArea", "size", "sqftRange", "floorSize", "square_feet", "description.sqft",
        "housing",
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
    has_place = fields.keys() & {"address", "latitude"} or fields.keys() >= {"neighborhood", "id"}
    if not has_place or not fields.keys() & {"rent", "beds", "id", "url"}:
        fields, places = {"unknown_shape": shape_of(item)}, {}
    if "url" in fields and base_url:
        fields["url"] = absolute(base_url, fields["url"])
    return RawRecord(
        fields=fields, strategy=Strategy.DATASET, confidence=_CONFIDENCE, origin=f"items/{index}", places=places
    )  # fmt: skip


def fields_of(item: Item) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields that an item tells, and the path at which each was found."""
    fields: dict[str, Any] = {}
    places: dict[str, str] = {}
    likely = fields_by_name(item)
    for field, paths in NAMES.items():
        for path, value in _candidates(item, paths, likely.get(field, [])):
            told = value_of(field, value)
            if told not in ("", [], None):
                fields[field], places[field] = told, path
                break
    for more in (_numbered_street(item, fields), _point(item, fields), _place_in_words(item, fields), ranges_of(item)):
        for field, told in more.items():
            if field not in fields or field == "address":
                fields[field], places[field] = told, "several fields"
    return fields, places


def _candidates(item: Item, paths: Sequence[str], likely: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Under the names that are known to the letter, then under those that mean the same; a pair of bounds first."""
    yield from ((path, value) for path, value in likely if ".." in path)
    yield from ((path, value) for path in paths if (value := at(item, path)) is not None)
    yield from likely


def at(item: Any, path: str) -> Any:
    """What stands at a dotted path; None if nothing does."""
    for name in path.split("."):
        item = item.get(name) if isinstance(item, dict) else None
    return item


def _numbered_street(item: Item, fields: Mapping[str, Any]) -> dict[str, str]:
    """A street whose number stands in a field of its own."""
    street = str(fields.get("address", ""))
    if not street or any(letter.isdigit() for letter in street):
        return {}
    address = item.get("address")
    holder = address if isinstance(address, dict) else item
    number = next((text_of(value) for name, value in holder.items() if words_of(name) in _HOUSE_NUMBERS), "")
    return {"address": f"{number} {street}"} if number else {}


def _point(item: Item, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Coordinates that stand in one value."""
    if "latitude" in fields:
        return {}
    for name, value in item.items():
        if frozenset() < words_of(name) <= _POINTS and (point := point_of(value)) is not None:
            return dict(zip(("latitude", "longitude"), point, strict=True))
    return {}


def _place_in_words(item: Item, fields: Mapping[str, Any]) -> dict[str, str]:
    """A `location` that is a text: a door if it begins with a number and a street, else the part of town."""
    place = text_of(item.get("location"))
    if not place or "address" in fields:
        return {}
    return {"address": place} if _DOOR.match(place) else {"neighborhood": place}


_HOUSE_NUMBERS = ({"house", "number"}, {"street", "number"}, {"building", "number"})
_POINTS = frozenset({"coordinates", "coordinate", "geometry", "geo", "location", "point", "position", "lat", "lng"})
_DOOR = re.compile(r"\d+[A-Za-z]?\s+[A-Za-z]{3}")


def shape_of(item: Any) -> str:
    """The names that an item of unknown shape has, for the person who will look at it."""
    if not isinstance(item, dict):
        return f"an item that is no object but {type(item).__name__}"
    return "an item with " + (", ".join(sorted(map(str, item))[:20]) or "no fields")
