"""JSON-LD events of the common shape, decoded straight into typed values: the quick road for most pages.

It answers exactly what the general road (`schema_events`) would, or nothing: an unusual type, reference, nesting or
spelling anywhere in a block sends the whole block down the general road. A test holds the two against each other.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.schema_org import local_name
from tidemill.reading.text import decoded, squash
from tidemill.verticals.events.reading.schema_events import Absolute, is_event_type, places_for

Fields = dict[str, Any]
Some = Annotated[str, msgspec.Meta(min_length=1)]
Unless = msgspec.Raw | UnsetType
"""Read only where the field that it stands in for is empty."""
Unusual = Literal["\x00"] | UnsetType
"""No value fits it, so that a block with such a field does not decode here."""


class _Address(msgspec.Struct, frozen=True, gc=False):
    kind: str = field(name="@type", default="")
    streetAddress: str = ""  # noqa: N815 - schema.org's own spelling, here and below
    postalCode: str = ""  # noqa: N815
    addressLocality: str = ""  # noqa: N815
    addressCountry: str = ""  # noqa: N815


class _Geo(msgspec.Struct, frozen=True, gc=False):
    latitude: float | str | None = None
    longitude: float | str | None = None
    reference: Unusual = field(name="@id", default=UNSET)


class _Place(msgspec.Struct, frozen=True, gc=False):
    name: Some
    kind: str = field(name="@type", default="")
    address: _Address | str | None = None
    geo: _Geo | None = None
    latitude: Unusual = UNSET
    longitude: Unusual = UNSET


class _Organizer(msgspec.Struct, frozen=True, gc=False):
    name: str


class _Event(msgspec.Struct, frozen=True, gc=False):
    kind: Some = field(name="@type")
    name: Some
    startDate: str  # noqa: N815
    location: msgspec.Raw
    endDate: str | None = None  # noqa: N815
    description: str | None = None
    url: str | None = None
    image: str | list[str] | None = None
    organizer: _Organizer | str | None = None
    eventStatus: str | None = None  # noqa: N815
    keywords: str | None = None
    mainEntityOfPage: Unless = UNSET  # noqa: N815
    abstract: Unless = UNSET
    photo: Unless = UNSET
    unusual_0: Unusual = field(name="subEvent", default=UNSET)
    unusual_1: Unusual = field(name="subEvents", default=UNSET)
    unusual_2: Unusual = field(name="event", default=UNSET)
    unusual_3: Unusual = field(name="events", default=UNSET)
    unusual_4: Unusual = field(name="hasPart", default=UNSET)
    unusual_5: Unusual = field(name="itemListElement", default=UNSET)
    unusual_6: Unusual = field(name="broadcastOfEvent", default=UNSET)
    unusual_7: Unusual = field(name="eventSchedule", default=UNSET)
    unusual_8: Unusual = field(name="startTime", default=UNSET)
    unusual_9: Unusual = field(name="endTime", default=UNSET)
    unusual_10: Unusual = field(name="identifier", default=UNSET)
    unusual_11: Unusual = field(name="genre", default=UNSET)
    unusual_12: Unusual = field(name="eventType", default=UNSET)
    unusual_13: Unusual = field(name="startDate@text", default=UNSET)


class _Graph(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    parts: list[msgspec.Raw] = field(name="@graph")
    context: msgspec.Raw | UnsetType = field(name="@context", default=UNSET)


class _ListItem(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    item: msgspec.Raw
    kind: Literal["ListItem"] = field(name="@type")
    position: int | str | None = None
    url: str | None = None
    name: str | None = None


class _ItemList(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    kind: Literal["ItemList"] = field(name="@type")
    itemListElement: list[_ListItem]  # noqa: N815
    context: msgspec.Raw | UnsetType = field(name="@context", default=UNSET)
    name: str | None = None
    url: str | None = None
    description: str | None = None
    numberOfItems: int | str | None = None  # noqa: N815
    itemListOrder: str | None = None  # noqa: N815


_NOWHERE = (None, "")
_LONGEST_REMEMBERED = 1_000
_JSONLD = Strategy.JSONLD
_MISREAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # a ValidationError is a DecodeError
_many = msgspec.json.Decoder(list[_Event]).decode
_one = msgspec.json.Decoder(_Event).decode
_place = msgspec.json.Decoder(_Place).decode
_graph = msgspec.json.Decoder(_Graph).decode
_item_list = msgspec.json.Decoder(_ItemList).decode
_HEAD = 600
"""Bytes within which a block names what it gathers its events in."""
_HOLDS_EVENTS = re.compile(
    rb'"@type"\s*:\s*(?:"[^"]*(?:Event|Festival|Hackathon|EventSeries|CourseInstance|\\)"|\[[^\]]*(?:Event"|Festival"'
    rb'|Hackathon"|EventSeries"|CourseInstance"|\\))'
)
"""Whether a part of a graph has an event in it somewhere, or a type that is spelled with escapes."""
_Found = list[tuple[str, _Event]]
"""Events and where in their block they stand."""


def read_common(body: bytes, origin: str, confidence: float, absolute: Absolute) -> list[RawRecord] | None:
    """The records of a block whose events are all of the common shape; None when any of it is not."""
    try:
        events = _events_in(body)
    except _MISREAD:
        return None
    if events is None:
        return None
    places = places_for("location(0)")
    records: list[RawRecord] = []
    for path, event in events:
        fields = _fields(event, absolute)
        if fields is None:
            return None
        where = origin + path
        records.append(RawRecord(fields=fields, strategy=_JSONLD, confidence=confidence, origin=where, places=places))
    return records


def _events_in(body: bytes) -> _Found | None:
    """The events of a list, of an object that is one, of a graph or of an `ItemList`; None for any other shape."""
    start = body.lstrip()[:1]
    if start == b"[":
        return [(f"/{index}", event) for index, event in enumerate(_many(body))]
    if start != b"{":
        return None
    head = body[:_HEAD]
    if b'"@graph"' in head:
        return _of_parts((f"/@graph/{index}", part) for index, part in enumerate(_graph(body).parts))
    if b'"ItemList"' in head:
        elements = _item_list(body).itemListElement
        return _of_parts((f"/itemListElement/{index}/item", one.item) for index, one in enumerate(elements))
    return [("", _one(body))]


def _of_parts(parts: Iterable[tuple[str, msgspec.Raw]]) -> _Found | None:
    """The parts that are events; None where a part that is none, or none of the common shape, has one in it."""
    found: _Found = []
    for path, part in parts:
        try:
            event = _one(part)
        except msgspec.ValidationError:
            if _HOLDS_EVENTS.search(part):
                return None
            continue
        if _occasion(event.kind):
            found.append((path, event))
        elif _HOLDS_EVENTS.search(part):
            return None
    return found


def _fields(event: _Event, absolute: Absolute) -> Fields | None:
    """An event's fields; None if the general road might find others in it."""
    kind, located = _occasion(event.kind), _located(bytes(event.location))
    if not kind or located is None or _says_more(event):
        return None
    title, description, url, ends = event.name, event.description, event.url, event.endDate
    fields: Fields = {"kind": kind, "title": decoded(title)}
    if description:
        fields["description"] = decoded(description)
    if url and (link := absolute(decoded(url))):
        fields["url"] = link
    if event.image and (link := _first_link(event.image, absolute)):
        fields["image"] = link
    fields |= located
    if event.organizer and (organizer := _name(event.organizer)):
        fields["organizer"] = organizer
    if event.eventStatus:
        fields["status"] = _bare(event.eventStatus)
    if event.keywords:
        fields["category"] = decoded(event.keywords)
    fields["starts"] = event.startDate
    if ends:
        fields["ends"] = decoded(ends)
    return fields


def _says_more(event: _Event) -> bool:
    """Whether the general road would look further than its type goes: for a time, or for what a field left empty."""
    return (
        "T" not in event.startDate
        or not (event.url or event.mainEntityOfPage is UNSET)
        or not (event.description or event.abstract is UNSET)
        or not (event.image or event.photo is UNSET)
    )


@lru_cache(maxsize=512)
def _occasion(kind: str) -> str:
    """The bare word for a kind of event; '' for what is none."""
    return local_name(kind) if is_event_type(kind) else ""


@lru_cache(maxsize=512)
def _bare(status: str) -> str:
    return local_name(decoded(status))


def _name(organizer: _Organizer | str) -> str:
    name = organizer if isinstance(organizer, str) else organizer.name
    return decoded(name)


def _first_link(image: str | list[str], absolute: Absolute) -> str:
    images = [image] if isinstance(image, str) else image
    for one in images:
        if one and (link := absolute(decoded(one))):
            return link
    return ""


def _located(location: bytes) -> Fields | None:
    """The fields of a place as JSON, for reading only; None if it is of no common shape.

    Agendas name few places, and each of them in the same words again and again.
    """
    return _remembered(location) if len(location) <= _LONGEST_REMEMBERED else _fields_of_place(location)


def _fields_of_place(location: bytes) -> Fields | None:
    try:
        place = _place(location)
    except _MISREAD:
        return None
    if place.kind == "PostalAddress":
        return None
    address, geo = place.address, place.geo
    fields: Fields = {"place": decoded(place.name)}
    if isinstance(address, _Address):
        _add_address(fields, address)
    elif address:
        fields["address"] = squash(decoded(address))
    if geo is not None and geo.latitude not in _NOWHERE and geo.longitude not in _NOWHERE:
        fields["latitude"] = geo.latitude
        fields["longitude"] = geo.longitude
    return fields


_remembered = lru_cache(maxsize=2_048)(_fields_of_place)


def _add_address(fields: Fields, address: _Address) -> None:
    street, code, city = map(decoded, (address.streetAddress, address.postalCode, address.addressLocality))
    second = f"{code} {city}".strip()
    line = squash(f"{street}, {second}" if street and second else street or second)
    if line:
        fields["address"] = line
    if city:
        fields["city"] = city
    if code:
        fields["postal_code"] = code
    if address.addressCountry:
        fields["country"] = decoded(address.addressCountry)
