"""What a page says of a listing, field by field, as text: raw fields that rules need not ask the type of."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidemill.reading.text import plain


class RawListing(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The fields of a raw listing; what the page does not say is empty."""

    id: str = ""
    url: str = ""
    title: str = ""
    address: str = ""
    unit: str = ""
    city: str = ""
    state: str = ""
    postal_code: str = ""
    neighborhood: str = ""
    rent: str = ""
    currency: str = ""
    beds: str = ""
    baths: str = ""
    size: str = ""
    available: str = ""
    kind: str = ""
    description: str = ""
    latitude: float | None = None
    longitude: float | None = None
    amenities: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


SELECTABLE = frozenset(RawListing.__struct_fields__) | {"image"}
"""The fields that a source's selectors may point at."""

_TEXTS = tuple(
    name for name in RawListing.__struct_fields__ if name not in {"latitude", "longitude", "amenities", "images"}
)
_MOST = 40
_LONGEST = 2_000


def text_fields(fields: Mapping[str, Any]) -> RawListing:
    """The fields, whatever types they came in."""
    texts = {name: text for name in _TEXTS if (text := _text(fields.get(name)))}
    return RawListing(
        **texts,
        latitude=_degrees(fields.get("latitude"), 90),
        longitude=_degrees(fields.get("longitude"), 180),
        amenities=_texts(fields.get("amenities")),
        images=_texts(fields.get("images") or fields.get("image")),
    )


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool | dict | list | tuple):
        return ""
    return plain(f"{value:g}" if isinstance(value, float) else str(value), _LONGEST)


def _texts(value: Any) -> tuple[str, ...]:
    """A list's texts, or a text's parts; each once, and not too many."""
    if isinstance(value, str):
        value = value.split(",") if not value.startswith("http") else [value]
    found = [text for one in value if (text := _text(one))] if isinstance(value, Sequence) else []
    return tuple(dict.fromkeys(found))[:_MOST]


def _degrees(value: Any, limit: int) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if -limit <= number <= limit and number != 0 else None
