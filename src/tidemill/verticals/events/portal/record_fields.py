"""The fields of an event's record that pages show."""

from datetime import date

import msgspec


class ShownDate(msgspec.Struct, frozen=True):
    """When, in the event's own time zone."""

    start: date | None = None
    end: date | None = None
    time_zone: str = ""


class ShownPlace(msgspec.Struct, frozen=True):
    """Where, as far as it is told."""

    address: str = ""
    postal_code: str = ""
    city: str = ""


class RecordFields(msgspec.Struct, frozen=True):
    """What of an event's record that pages show; whatever a record lacks stays empty."""

    description: str = ""
    detail_url: str | None = None
    event_time: str = ""
    organizer: str = ""
    structured_date: ShownDate = ShownDate()
    structured_location: ShownPlace = ShownPlace()


_decoder = msgspec.json.Decoder(RecordFields)


def record_fields(record: msgspec.Raw) -> RecordFields:
    """Return what a page shows of a record."""
    return _decoder.decode(record)
