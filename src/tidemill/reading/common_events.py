"""JSON-LD events of the common shape, decoded straight into typed values: the quick road for most pages.

It answers exactly what the general road (`schema_events`) would, or nothing: an unusual type, reference, nesting or
spelling anywhere in a block sends the whole block down the general road. A test holds the two against each other.
"""

from collections.abc import Callable
from html import unescape
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.schema_events import Absolute, is_event_type, last_segment, places_for
from tidemill.reading.text import squash

Words = Callable[[str], str]
"""What makes words of a string: `unescape`, or nothing to do in a block that cannot hold an entity."""
Some = Annotated[str, msgspec.Meta(min_length=1)]
Unless = msgspec.Raw | UnsetType
"""Read only where the field that it stands in for is empty."""
Unusual = Literal["\x00"] | UnsetType
"""No value fits it, so that a block with such a field does not decode here."""


class _Address(msgspec.Struct, frozen=True):
    kind: str = field(name="@type", default="")
    streetAddress: str = ""  # noqa: N815 - schema.org's own spelling, here and below
    postalCode: str = ""  # noqa: N815
    addressLocality: str = ""  # noqa: N815
    addressCountry: str = ""  # noqa: N815


class _Geo(msgspec.Struct, frozen=True):
    latitude: float | str | None = None
    longitude: float | str | None = None
    reference: Unusual = field(name="@id", default=UNSET)


class _Place(msgspec.Struct, frozen=True):
    name: Some
    kind: str = field(name="@type", default="")
    address: _Address | str | None = None
    geo: _Geo | None = None
    latitude: Unusual = UNSET
    longitude: Unusual = UNSET


class _Organizer(msgspec.Struct, frozen=True):
    name: str


class _Event(msgspec.Struct, frozen=True):
    kind: Some = field(name="@type")
    name: Some
    startDate: str  # noqa: N815
    location: _Place
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


_NOWHERE = (None, "")
_many = msgspec.json.Decoder(list[_Event]).decode
_one = msgspec.json.Decoder(_Event).decode


def read_common(body: bytes, origin: str, sure: float, absolute: Absolute) -> list[RawRecord] | None:
    """The records of a block whose events are all of the common shape; None when any of it is not."""
    start = body.lstrip()[:1]
    try:
        if start == b"[":
            events, paths = _many(body), True
        elif start == b"{":
            events, paths = [_one(body)], False
        else:
            return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # ValidationError is a DecodeError
        return None
    if not all(map(_is_common, events)):
        return None
    words = unescape if b"&" in body or b"\\u0026" in body else str
    places = places_for("location(0)")
    return [
        RawRecord(
            fields=_fields(event, words, absolute),
            strategy=Strategy.JSONLD,
            confidence=sure,
            origin=f"{origin}/{index}" if paths else origin,
            places=places,
        )
        for index, event in enumerate(events)
    ]


def _is_common(event: _Event) -> bool:
    """Whether the general road would find nothing more in the event than its type holds."""
    return (
        "T" in event.startDate
        and event.location.kind != "PostalAddress"
        and bool(event.url or event.mainEntityOfPage is UNSET)
        and bool(event.description or event.abstract is UNSET)
        and bool(event.image or event.photo is UNSET)
        and is_event_type(event.kind)
    )


def _fields(event: _Event, words: Words, absolute: Absolute) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": last_segment(event.kind), "title": words(event.name)}
    if event.description:
        fields["description"] = words(event.description)
    if event.url and (link := absolute(words(event.url))):
        fields["url"] = link
    if event.image and (link := _first_link(event.image, words, absolute)):
        fields["image"] = link
    _locate(fields, event.location, words)
    if event.organizer and (organizer := words(_name(event.organizer))):
        fields["organizer"] = organizer
    if event.eventStatus:
        fields["status"] = last_segment(words(event.eventStatus))
    if event.keywords:
        fields["category"] = words(event.keywords)
    fields["starts"] = event.startDate
    if event.endDate:
        fields["ends"] = words(event.endDate)
    return fields


def _name(organizer: _Organizer | str) -> str:
    return organizer if isinstance(organizer, str) else organizer.name


def _first_link(image: str | list[str], words: Words, absolute: Absolute) -> str:
    images = [image] if isinstance(image, str) else image
    for one in images:
        if one and (link := absolute(words(one))):
            return link
    return ""


def _locate(fields: dict[str, Any], place: _Place, words: Words) -> None:
    fields["place"] = words(place.name)
    address = place.address
    if isinstance(address, _Address):
        _address(fields, address, words)
    elif address:
        fields["address"] = squash(words(address))
    geo = place.geo
    if geo is not None and geo.latitude not in _NOWHERE and geo.longitude not in _NOWHERE:
        fields["latitude"] = geo.latitude
        fields["longitude"] = geo.longitude


def _address(fields: dict[str, Any], address: _Address, words: Words) -> None:
    street, code, city = words(address.streetAddress), words(address.postalCode), words(address.addressLocality)
    second = f"{code} {city}".strip() if code else city.strip()
    line = squash(f"{street}, {second}" if street and second else street or second)
    if line:
        fields["address"] = line
    if city:
        fields["city"] = city
    if code:
        fields["postal_code"] = code
    if address.addressCountry:
        fields["country"] = words(address.addressCountry)
