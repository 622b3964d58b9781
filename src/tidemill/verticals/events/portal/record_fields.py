"""The fields of an event's record that pages show."""

from datetime import date
from typing import Any

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


def shown_fields(record: msgspec.Raw) -> list[tuple[str, str]]:
    """Return every field that a record has, in words; nested ones with their parts."""
    fields: dict[str, Any] = msgspec.json.decode(record)
    return [(name, _written(value)) for name, value in fields.items() if value not in (None, "", [], {})]


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_written(part)}" for name, part in value.items() if part not in (None, ""))
    if isinstance(value, list):
        return ", ".join(_written(each) for each in value)
    return str(value)
