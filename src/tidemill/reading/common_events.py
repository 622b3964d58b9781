"""JSON-LD events of the common shape, decoded straight into typed values: the quick road for most pages.

It answers exactly what the general road (`schema_events`) would, or nothing: an unusual type, reference, nesting or
spelling anywhere in a block sends the whole block down the general road. A test holds the two against each other.
"""

from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, field

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.schema_events import is_event_type, last_segment, places_for
from tidemill.reading.text import squash

Unusual = msgspec.Raw | UnsetType


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
    name: str
    kind: str = field(name="@type", default="")
    address: _Address | str | None = None
    geo: _Geo | None = None
    latitude: Unusual = UNSET
    longitude: Unusual = UNSET


class _Organizer(msgspec.Struct, frozen=True):
    name: str


class _Event(msgspec.Struct, frozen=True):
    kind: str = field(name="@type")
    name: str
    startDate: str  # noqa: N815
    location: _Place
    endDate: str | None = None  # noqa: N815
    description: str | None = None
    url: str | None = None
    image: str | list[str] | None = None
    organizer: _Organizer | str | None = None
    eventStatus: str | None = None  # noqa: N815
    keywords: str | None = None
    mainEntityOfPage: Unusual = UNSET  # noqa: N815
    abstract: Unusual = UNSET
    photo: Unusual = UNSET
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


_many = msgspec.json.Decoder(list[_Event]).decode
_one = msgspec.json.Decoder(_Event).decode


def read_common(body: bytes, origin: str, sure: float, absolute: Callable[[str], str]) -> list[RawRecord] | None:
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
    places = places_for("location(0)")
    return [
        _record(event, f"{origin}/{index}" if paths else origin, sure, absolute, places)
        for index, event in enumerate(events)
    ]


def _is_common(event: _Event) -> bool:
    """Whether the general road would find nothing more in the event than its type holds."""
    place = event.location
    return (
        event.unusual_0 is event.unusual_1 is event.unusual_2 is event.unusual_3 is UNSET
        and event.unusual_4 is event.unusual_5 is event.unusual_6 is event.unusual_7 is UNSET
        and event.unusual_8 is event.unusual_9 is event.unusual_10 is event.unusual_11 is UNSET
        and event.unusual_12 is event.unusual_13 is place.latitude is place.longitude is UNSET
        and "T" in event.startDate
        and place.kind != "PostalAddress"
        and bool(event.name and place.name and event.kind)
        and bool(event.url or event.mainEntityOfPage is UNSET)
        and bool(event.description or event.abstract is UNSET)
        and bool(event.image or event.photo is UNSET)
        and (place.geo is None or place.geo.reference is UNSET)
        and is_event_type(event.kind)
    )


def _record(
    event: _Event, origin: str, sure: float, absolute: Callable[[str], str], places: Mapping[str, str]
) -> RawRecord:
    fields: dict[str, Any] = {"kind": last_segment(event.kind), "title": _words(event.name)}
    if event.description:
        fields["description"] = _words(event.description)
    if event.url and (link := absolute(_words(event.url))):
        fields["url"] = link
    if event.image and (link := _first_link(event.image, absolute)):
        fields["image"] = link
    _locate(fields, event.location)
    if event.organizer and (organizer := _name(event.organizer)):
        fields["organizer"] = organizer
    if event.eventStatus:
        fields["status"] = last_segment(_words(event.eventStatus))
    if event.keywords:
        fields["category"] = _words(event.keywords)
    fields["starts"] = event.startDate
    if event.endDate:
        fields["ends"] = _words(event.endDate)
    return RawRecord(fields=fields, strategy=Strategy.JSONLD, confidence=sure, origin=origin, places=places)


def _words(text: str) -> str:
    return unescape(text) if "&" in text else text


def _name(organizer: _Organizer | str) -> str:
    return _words(organizer if isinstance(organizer, str) else organizer.name)


def _first_link(image: str | list[str], absolute: Callable[[str], str]) -> str:
    if isinstance(image, str):
        return absolute(_words(image))
    return next((link for one in image if one and (link := absolute(_words(one)))), "")


def _locate(fields: dict[str, Any], place: _Place) -> None:
    fields["place"] = _words(place.name)
    address = place.address
    if isinstance(address, str):
        if address:
            fields["address"] = squash(_words(address))
    elif address is not None:
        _address(fields, address)
    geo = place.geo
    if geo is not None and geo.latitude not in (None, "") and geo.longitude not in (None, ""):
        fields["latitude"] = geo.latitude
        fields["longitude"] = geo.longitude


def _address(fields: dict[str, Any], address: _Address) -> None:
    street, code, city = _words(address.streetAddress), _words(address.postalCode), _words(address.addressLocality)
    second = f"{code} {city}".strip() if code else city.strip()
    line = squash(f"{street}, {second}" if street and second else street or second)
    if line:
        fields["address"] = line
    if city:
        fields["city"] = city
    if code:
        fields["postal_code"] = code
    if address.addressCountry:
        fields["country"] = _words(address.addressCountry)
