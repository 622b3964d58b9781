"""Schema.org events, from JSON-LD or microdata alike, as raw records with one vocabulary of fields."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.schema_org import local_name
from tidemill.reading.text import block_of, decoded, squash
from tidemill.verticals.events.reading.schedules import occurrences

Item = dict[str, Any]
Absolute = Callable[[str], str]

NESTED = frozenset({"subEvent", "subEvents", "event", "events", "hasPart", "itemListElement", "broadcastOfEvent"})
"""Where an event holds further events of its own; an event named under any other key is only referred to."""

_OCCASIONS = frozenset({"Festival", "Hackathon", "EventSeries", "CourseInstance"})
_MOST_DATES = 60

_encode = msgspec.json.Encoder().encode


def is_event(item: Mapping[str, Any]) -> bool:
    """Whether an object's `@type` is schema.org's Event or one of its kinds."""
    kind = item.get("@type")
    if isinstance(kind, str):
        return is_event_type(kind)
    return isinstance(kind, list) and any(isinstance(one, str) and is_event_type(one) for one in kind)


def records_of(
    item: Item,
    origin: str,
    *,
    strategy: Strategy,
    confidence: float,
    absolute: Absolute,
    known: Mapping[str, Item],
    today: str,
) -> Iterator[RawRecord]:
    """The raw records of one schema.org event: one, or one for each date that it is given on.

    `known` resolves references by `@id`; `today` (ISO) is where open-ended schedules start to be written out.
    """
    fields = _fields(item, absolute, known)
    places = places_for(_shape(item.get("location")))
    block = "" if strategy is Strategy.JSONLD else block_of(_encode(item).decode())
    for index, (starts, ends) in enumerate(_dates(item, today)):
        date = dict(fields) if index else fields
        if starts:
            date["starts"] = starts
        if ends:
            date["ends"] = ends
        suffix = f"@{index}" if index else ""
        yield RawRecord(
            fields=date, strategy=strategy, confidence=confidence, origin=origin + suffix, places=places, block=block
        )


@lru_cache(maxsize=512)
def is_event_type(kind: str) -> bool:
    """Whether a vocabulary name is schema.org's Event or one of its kinds."""
    name = local_name(kind)
    return name in _OCCASIONS or name.endswith("Event")


@lru_cache(maxsize=64)
def places_for(location: str) -> Mapping[str, str]:
    """Where each field stands in an event object; one mapping for all records of the same shape."""
    return {
        "title": "name", "description": "description", "starts": "startDate", "ends": "endDate", "url": "url",
        "image": "image", "status": "eventStatus", "kind": "@type", "category": "keywords", "organizer": "organizer",
        "place": f"{location}.name" if location != "location" else "location",
        "address": f"{location}.address", "city": f"{location}.address.addressLocality",
        "postal_code": f"{location}.address.postalCode", "country": f"{location}.address.addressCountry",
        "latitude": f"{location}.geo.latitude", "longitude": f"{location}.geo.longitude",
    }  # fmt: skip


def _shape(location: object) -> str:
    if isinstance(location, dict):
        return "location(0)"
    return "location[0]" if isinstance(location, list) else "location"


def _fields(item: Item, absolute: Absolute, known: Mapping[str, Item]) -> dict[str, Any]:
    get = item.get
    fields: dict[str, Any] = {"kind": _kind(item["@type"])}
    for field, key, other in _WORDS:
        if (value := get(key) or get(other)) and (text := text_of(value)):
            fields[field] = text
    for field, key, other in _LINKS:
        if (value := get(key) or get(other)) and (link := link_of(value, absolute)):
            fields[field] = link
    if location := _resolved(get("location"), known):
        _locate(fields, location, known)
    if (value := get("organizer")) and (organizer := text_of(_resolved(value, known))):
        fields["organizer"] = organizer
    if status := get("eventStatus"):
        fields["status"] = local_name(text_of(status))
    if keywords := get("keywords") or get("genre") or get("eventType"):
        fields["category"] = _listed(keywords)
    if (value := get("identifier")) and (own := _own_id(value)):
        fields["id"] = own
    return fields


_WORDS = (
    ("title", "name", "summary"),
    ("description", "description", "abstract"),
    ("shown", "startDate@text", ""),
)
_LINKS = (("url", "url", "mainEntityOfPage"), ("image", "image", "photo"))


def text_of(value: object) -> str:
    """A property's words: of a string, a number, a language-tagged value, a named thing, or the first of a list."""
    if isinstance(value, str):
        return decoded(value)
    if isinstance(value, list):
        return next(filter(None, map(text_of, value)), "")
    if isinstance(value, dict):
        return text_of(value.get("name") or value.get("@value") or value.get("headline"))
    return "" if value is None or isinstance(value, bool) else str(value)


def link_of(value: object, absolute: Absolute) -> str:
    """A property's address: of a string, an object with a `url` (an ImageObject), or the first of a list."""
    if isinstance(value, str):
        return absolute(decoded(value)) if value else ""
    if isinstance(value, list):
        return next(filter(None, (link_of(one, absolute) for one in value)), "")
    if isinstance(value, dict):
        return link_of(value.get("url") or value.get("contentUrl") or value.get("@id"), absolute)
    return ""


def _locate(fields: dict[str, Any], location: object, known: Mapping[str, Item]) -> None:
    if isinstance(location, str):
        fields["place"] = text_of(location)
        return
    if not isinstance(location, dict):
        return
    name = text_of(location.get("name"))
    kind = location.get("@type")
    if not name and kind == "VirtualLocation":
        name = "Online"
    if name:
        fields["place"] = name
    address = location if kind == "PostalAddress" else _resolved(location.get("address"), known)
    if address:
        _address(fields, address)
    geo = _resolved(location.get("geo"), known) or location
    if isinstance(geo, dict):
        _coordinates(fields, geo)


def _address(fields: dict[str, Any], address: object) -> None:
    if not isinstance(address, dict):
        fields["address"] = squash(text_of(address))
        return
    get = address.get
    street, code, city = text_of(get("streetAddress")), text_of(get("postalCode")), text_of(get("addressLocality"))
    line = squash(", ".join(filter(None, (street, f"{code} {city}".strip()))))
    if line:
        fields["address"] = line
    if city:
        fields["city"] = city
    if code:
        fields["postal_code"] = code
    if country := text_of(address.get("addressCountry")):
        fields["country"] = country


def _coordinates(fields: dict[str, Any], geo: Item) -> None:
    latitude, longitude = geo.get("latitude"), geo.get("longitude")
    if latitude not in (None, "") and longitude not in (None, ""):
        fields["latitude"] = latitude
        fields["longitude"] = longitude


def _resolved(value: object, known: Mapping[str, Item]) -> object:
    """The first sound value of a property, references followed; a place on earth before a place online."""
    if isinstance(value, list):
        followed = [one for one in (_resolved(each, known) for each in value) if one]
        physical = [one for one in followed if not (isinstance(one, dict) and one.get("@type") == "VirtualLocation")]
        return next(iter(physical or followed), None)
    if isinstance(value, dict) and len(value) == 1 and "@id" in value:
        return known.get(str(value["@id"]), value)
    return value


def _kind(kind: object) -> str:
    names = kind if isinstance(kind, list) else [kind]
    kinds = [local_name(name) for name in names if isinstance(name, str)]
    return next((name for name in kinds if name != "Event"), "Event")


def _listed(value: object) -> str:
    return ", ".join(filter(None, map(text_of, value))) if isinstance(value, list) else text_of(value)


def _own_id(identifier: object) -> str:
    if isinstance(identifier, dict):
        identifier = identifier.get("value") or identifier.get("@value")
    return squash(text_of(identifier)) if isinstance(identifier, str | int) else ""


def _dates(item: Item, today: str) -> list[tuple[str, str]]:
    """The (start, end) pairs as written: usually one; several of a list of dates or of a schedule."""
    starts, ends, schedule = item.get("startDate"), item.get("endDate"), item.get("eventSchedule")
    if isinstance(starts, str) and "T" in starts and schedule is None:
        return [(starts, text_of(ends))]
    if isinstance(starts, list) and len(starts) > 1:
        closing = ends if isinstance(ends, list) and len(ends) == len(starts) else [None] * len(starts)
        return [(text_of(one), text_of(other)) for one, other in zip(starts, closing, strict=True)][:_MOST_DATES]
    if schedule and not (starts and not _runs_for_days(text_of(starts), text_of(ends))):
        return occurrences(schedule, today, _MOST_DATES) or [(text_of(starts), text_of(ends))]
    return [(_with_time(text_of(starts), item.get("startTime")), _with_time(text_of(ends), item.get("endTime")))]


def _runs_for_days(starts: str, ends: str) -> bool:
    return bool(ends) and starts[:10] != ends[:10]


def _with_time(day: str, time: object) -> str:
    """A bare date with the time that older sites put in a property of its own."""
    if day and time and "T" not in day and ":" not in day:
        return f"{day} {text_of(time)}"
    return day
