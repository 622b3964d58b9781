"""A page of one property: its units and floor plans tell no place of their own, and stand at its address."""

from collections.abc import Callable, Sequence

import msgspec

from tidemill.core.record import RawRecord, Strategy

_MARKED_UP = frozenset({Strategy.JSONLD, Strategy.MICRODATA})
_PLACE = ("address", "city", "state", "postal_code", "latitude", "longitude")
_OWN_PLACE = frozenset({"address", "neighborhood", "latitude"})
_TOLD_OF_ONE = frozenset({"beds", "size", "unit"})


def homes_of_property(
    records: Sequence[RawRecord], shown: Callable[[], Sequence[RawRecord]], url: str
) -> list[RawRecord]:
    """The units that a page shows of the one property that its data is about; the records as they are without such.

    `shown` are what the page's layout tells, asked for only where the data names one place and no rent; `url` is the
    page's own address, for units that have none.
    """
    if len(records) != 1:
        return list(records)
    place = records[0]
    if place.strategy not in _MARKED_UP or "address" not in place.fields or "rent" in place.fields:
        return list(records)
    units = [unit for unit in shown() if _is_unit(unit)]
    return [_placed(unit, place, url) for unit in units] or list(records)


def _is_unit(record: RawRecord) -> bool:
    told = record.fields.keys()
    return "rent" in told and "unread" not in told and not told & _OWN_PLACE and bool(told & _TOLD_OF_ONE)


def _placed(unit: RawRecord, place: RawRecord, url: str) -> RawRecord:
    """A unit with its property's address and name, and where those were read."""
    given = {name: place.fields[name] for name in _PLACE if name in place.fields}
    title = " ".join(str(each) for each in (place.fields.get("title"), unit.fields.get("unit")) if each)
    own = {"title": title, "url": url} if title else {"url": url}
    fields = {**own, **unit.fields, **given}
    places = {**(unit.places or {}), **{name: f"{place.origin}/{name}" for name in given}}
    return msgspec.structs.replace(unit, fields=fields, places=places)
