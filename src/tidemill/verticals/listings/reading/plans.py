"""A building's floor plans or units: what its item does not say itself, as the range over all of them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tidemill.verticals.listings.reading.naming import fields_by_name, words_of
from tidemill.verticals.listings.reading.rent import Rent, parse_rent
from tidemill.verticals.listings.reading.rooms import Span, count, parse_baths, parse_beds, parse_size
from tidemill.verticals.listings.reading.shapes import figure_of

Item = Mapping[str, Any]

_LISTS = ({"models"}, {"floor", "plans"}, {"floorplans"}, {"units"}, {"available", "units"}, {"unit", "types"},
          {"plans"}, {"layouts"})  # fmt: skip
_DETAILS = {"details", "specs", "summary"}
_MOST = 500


def plans_of(item: Item) -> Iterator[Item]:
    """The plans that an item lists; those of a plan only if it names no rent of its own."""
    for name, value in item.items():
        if words_of(name) in _LISTS and isinstance(value, list):
            for plan in value[:_MOST]:
                if isinstance(plan, dict):
                    inner = [] if "rent" in _figures(plan) else list(plans_of(plan))
                    yield from inner or [plan]


def ranges_of(item: Item) -> dict[str, str]:
    """Rent, beds, baths and size over all plans of an item, as far as they tell them."""
    told: dict[str, list[tuple[float, float]]] = {}
    for plan in plans_of(item):
        figures = _figures(plan)
        for field, read in _READERS.items():
            if (span := read(figures.get(field, ""))) is not None:
                told.setdefault(field, []).append(span)
    return {field: _written(field, spans) for field, spans in told.items()}


def _figures(plan: Item) -> dict[str, str]:
    """What one plan says; a list of its details says beds, baths and size in words."""
    likely = fields_by_name(plan)
    found = {
        field: next(filter(None, (figure_of(value) for _, value in likely.get(field, ()))), "") for field in _READERS
    }
    details = next((value for name, value in plan.items() if frozenset() < words_of(name) <= _DETAILS), None)
    if isinstance(details, list):
        words = " | ".join(one for one in details if isinstance(one, str))
        found = {field: text or (words if field != "rent" else "") for field, text in found.items()}
    return {field: text for field, text in found.items() if text}


def _rent(text: str) -> tuple[float, float] | None:
    rent: Rent | None = parse_rent(text) if text else None
    if rent is None or rent.low is None:
        return None
    return rent.low / 100, (rent.high or rent.low) / 100


def _rooms(text: str, words: Callable[[str], Span | None]) -> tuple[float, float] | None:
    span = (count(text) or words(text)) if text else None
    return None if span is None else (span.low, span.high)


def _size(text: str) -> tuple[float, float] | None:
    span = (parse_size(text) or parse_size(f"{text} sqft")) if text else None
    return None if span is None else (span.low, span.high)


_READERS: Mapping[str, Callable[[str], tuple[float, float] | None]] = {
    "rent": _rent,
    "beds": lambda text: _rooms(text, parse_beds),
    "baths": lambda text: _rooms(text, parse_baths),
    "size": _size,
}


def _written(field: str, spans: list[tuple[float, float]]) -> str:
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    text = f"{low:.10g}" if low == high else f"{low:.10g} - {high:.10g}"
    return f"{text} sqft" if field == "size" else text
