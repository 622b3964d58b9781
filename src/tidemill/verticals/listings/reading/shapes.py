"""Values of dataset items in whatever shape actors give them: numbers, texts, objects, lists, or lists of objects."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tidemill.reading.text import plain
from tidemill.verticals.listings.reading.naming import FORMATS, HIGH, LOW, words_of

Item = Mapping[str, Any]

_HOLLOW = re.compile(r"^(?:null|none|n/a|undefined|-+)$", re.IGNORECASE)
_FIGURE = FORMATS | {"price", "rent", "monthly", "dimension"}
_PERIOD = frozenset({"frequency", "period", "interval", "term", "unit"})
_PAIR = re.compile(r"\s*(-?\d{1,2}\.\d+)\s*[,;]\s*(-?\d{1,3}\.\d+)\s*")
_MOST_TEXTS = 60
_POINT = 2
_LONGEST_UNIT = 12


def value_of(field: str, value: Any) -> Any:
    """A value in the shape that raw listings have it; '' or an empty list if it is none."""
    if field == "images":
        return list(dict.fromkeys(links_in(value)))[:_MOST_TEXTS]
    if field == "amenities":
        return value if isinstance(value, str) else list(dict.fromkeys(labels_in(value)))[:_MOST_TEXTS]
    if field in {"latitude", "longitude"}:
        return value if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    if field in {"rent", "beds", "baths", "size"}:
        return figure_of(value)
    text = text_of(value)
    if field == "url":
        return text if text.startswith(("http://", "https://", "/")) else ""
    return "" if field == "unit" and (len(text) > _LONGEST_UNIT or "," in text) else text


def text_of(value: Any) -> str:
    """A number or a text as one line; '' for what is neither, and for words that say that there is nothing."""
    if value is None or isinstance(value, bool | dict | list):
        return ""
    text = plain(f"{value:g}" if isinstance(value, float) else str(value))
    return "" if _HOLLOW.match(text) else text


def figure_of(value: Any) -> str:
    """A rent, a number of rooms or a size as a person would write it."""
    if isinstance(value, list):
        return figure_of(value[0]) if len(value) == 1 else ""
    return span_of(value) if isinstance(value, dict) else text_of(value)


def span_of(value: Item) -> str:
    """A range that an object tells, or the one figure in it, with what it is counted in."""
    low = high = one = unit = ""
    for name, inner in value.items():
        words, text = words_of(name), text_of(inner)
        if not text or not words:
            continue
        if words <= _PERIOD:
            unit = unit or _counted_in(text)
        elif words & LOW and words - LOW <= _FIGURE:
            low = low or text
        elif words & HIGH and words - HIGH <= _FIGURE:
            high = high or text
        elif words <= _FIGURE and (not one or words & {"formatted", "display"}):
            one = text
    low, high = low or high, high or low
    told = f"{low} - {high}" if low != high else low or one
    return f"{told} {unit}".strip() if told else ""


def _counted_in(text: str) -> str:
    """`monthly` and `m²` as they are, `week` as `per week`."""
    return f"per {text.lower()}" if text.isalpha() and not text.lower().endswith(("ly", "ft", "m", "feet")) else text


def links_in(value: Any) -> Iterator[str]:
    """The addresses of pictures: of each object in a list the first that it names."""
    if isinstance(value, str):
        if value.startswith(("http://", "https://", "/")):
            yield value
    elif isinstance(value, list):
        for one in value:
            yield from links_in(one) if not isinstance(one, dict) else _first(links_in(one))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from links_in(inner)


def labels_in(value: Any) -> Iterator[str]:
    """What a home has, by name: texts, objects that name one, or groups of them under a heading."""
    if isinstance(value, str):
        yield plain(value)
    elif isinstance(value, list):
        for one in value:
            yield from labels_in(one)
    elif isinstance(value, dict):
        groups = [inner for inner in value.values() if isinstance(inner, list) and inner]
        if groups:
            yield from labels_in(groups)
        else:
            names = (value.get(name) for name in ("name", "title", "text", "label", "value"))
            yield from _first(plain(name) for name in names if isinstance(name, str) and name.strip())


def _first(found: Iterator[str]) -> list[str]:
    one = next(found, "")
    return [one] if one else []


def point_of(value: Any) -> tuple[Any, Any] | None:
    """Latitude and longitude out of `42.34, -71.07`, or of a GeoJSON point, which has them the other way round."""
    if isinstance(value, str) and (match := _PAIR.fullmatch(value)):
        return match[1], match[2]
    if isinstance(value, dict) and value.get("type") == "Point":
        pair = value.get("coordinates")
        if isinstance(pair, list) and len(pair) >= _POINT:
            return pair[1], pair[0]
    return None
