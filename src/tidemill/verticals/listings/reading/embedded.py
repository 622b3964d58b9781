"""Homes in a page's own data: the JSON that a site's script draws its cards from, in the shapes of actors."""

from collections.abc import Iterator
from typing import Any

import msgspec

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.verticals.listings.reading.dataset import fields_of
from tidemill.verticals.listings.reading.naming import fields_by_name
from tidemill.verticals.listings.reading.plans import plans_of

_CONFIDENCE = 0.8
_MOST_NODES = 200_000
_MOST_HOMES = 1_000
_SCRIPTS = 'script[type="application/json"], script#__NEXT_DATA__'


def from_scripts(document: Document) -> list[RawRecord]:
    """The homes of the longest list that holds any; a page's other lists are what it features, or its ads."""
    best: list[RawRecord] = []
    for index, script in enumerate(document.css(_SCRIPTS)):
        try:
            value = msgspec.json.decode(script.text(deep=True))
        except (msgspec.DecodeError, RecursionError):
            continue
        for path, items in lists_in(value):
            homes = [
                record
                for place, item in enumerate(items[:_MOST_HOMES])
                if (record := home_of(item, f"script/{index}{path}/{place}", document)) is not None
            ]
            best = max(best, homes, key=len)
    return best


def lists_in(value: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Every list of objects at any depth, with its path."""
    pending: list[tuple[str, Any]] = [("", value)]
    for _ in range(_MOST_NODES):
        if not pending:
            return
        path, current = pending.pop()
        if isinstance(current, dict):
            pending.extend(
                (f"{path}/{name}", inner) for name, inner in current.items() if isinstance(inner, dict | list)
            )
        elif isinstance(current, list):
            if objects := [item for item in current if isinstance(item, dict)]:
                yield path, objects
            pending.extend((f"{path}/{place}", inner) for place, inner in enumerate(current))


def may_be_home(item: dict[str, Any]) -> bool:
    """A cheap look before a thorough one: most objects in a page's data name neither rent nor rooms."""
    return bool(fields_by_name(item).keys() & {"rent", "beds"}) or next(plans_of(item), None) is not None


def home_of(item: dict[str, Any], origin: str, document: Document) -> RawRecord | None:
    """An object as a home; None unless it has a place, something to rent, and a name or an address of its own."""
    if not may_be_home(item):
        return None
    fields, places = fields_of(item)
    has_place = "address" in fields or "latitude" in fields
    if not (has_place and fields.keys() & {"rent", "beds"} and fields.keys() & {"id", "url"}):
        return None
    if "url" in fields:
        fields["url"] = document.absolute(str(fields["url"]))
    return RawRecord(fields=fields, strategy=Strategy.DATASET, confidence=_CONFIDENCE, origin=origin, places=places)
