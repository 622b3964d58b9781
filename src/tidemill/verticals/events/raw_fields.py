"""What a page says of an event, field by field, as text: raw fields that rules need not ask the type of."""

from collections.abc import Mapping
from typing import Any

import msgspec


class RawEvent(msgspec.Struct, frozen=True, gc=False):
    """The fields of a raw event; what the page does not say is empty."""

    title: str = ""
    description: str = ""
    kind: str = ""
    category: str = ""
    status: str = ""
    organizer: str = ""
    starts: str = ""
    time: str = ""
    ends: str = ""
    written: str = ""
    unread: str = ""
    id: str = ""
    url: str = ""
    image: str = ""
    place: str = ""
    address: str = ""
    postal_code: str = ""
    city: str = ""
    country: str = ""
    latitude: Any = None
    longitude: Any = None
    shared_url: Any = None


SELECTABLE = frozenset(RawEvent.__struct_fields__) - {"shared_url", "written", "unread"}
"""The fields that a source's selectors may point at."""

_KEPT_AS_THEY_ARE = frozenset({"latitude", "longitude", "shared_url"})


def text_fields(fields: Mapping[str, Any]) -> RawEvent:
    """The fields as text, in one step where they are text already: nearly always."""
    try:
        return msgspec.convert(fields, RawEvent)
    except msgspec.ValidationError:
        texts = {name: value if name in _KEPT_AS_THEY_ARE else _text(value) for name, value in fields.items()}
        return msgspec.convert(texts, RawEvent)


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, bool | dict | list) else str(value)
