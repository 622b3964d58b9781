"""Listings on a search page, by whatever means it offers them: structured data, selectors, result cards."""

from collections.abc import Sequence
from functools import partial

import msgspec

from tidemill.core.record import Found, RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.ladder import Rung, first_usable
from tidemill.reading.page_answer import page_answer
from tidemill.reading.selectors import Spec, read_selectors
from tidemill.verticals.listings.reading.cards import read_cards
from tidemill.verticals.listings.reading.dataset import read_dataset
from tidemill.verticals.listings.reading.embedded import from_scripts
from tidemill.verticals.listings.reading.paging import next_of, total_of
from tidemill.verticals.listings.reading.property_page import homes_of_property
from tidemill.verticals.listings.reading.rent import Period, Rent, parse_rent
from tidemill.verticals.listings.reading.rooms import Span, parse_baths, parse_beds, parse_size
from tidemill.verticals.listings.reading.schema import from_jsonld, from_microdata

__all__ = [
    "Period",
    "Rent",
    "Span",
    "parse_baths",
    "parse_beds",
    "parse_rent",
    "parse_size",
    "read_dataset",
    "read_listings",
]


def read_listings(document: Document, selectors: Spec | None = None) -> Found:
    """Every home that the page shows, as raw records of the first strategy that finds any.

    An answer without records says nothing about why: ask `blocked` and `declares_empty`.
    """
    rungs = [Rung(Strategy.JSONLD, from_jsonld), Rung(Strategy.MICRODATA, from_microdata)]
    if selectors:
        rungs.append(Rung(Strategy.SELECTORS, partial(read_selectors, spec=selectors)))
    rungs.append(Rung(Strategy.HEURISTICS, read_layout))
    result = first_usable(document, rungs, is_usable)
    shown = homes_of_property(result.records, partial(read_layout, document), document.url)
    records = with_shown_fields(without_duplicates(without_shared_ids(shown)), document)
    return page_answer(
        document, records, total=total_of(document, selectors), next_url=next_of(document), notes=result.notes
    )


def read_layout(document: Document) -> Sequence[RawRecord]:
    """What a page shows without markup for it: its cards, or the data behind them if that tells as much."""
    cards, embedded = read_cards(document), from_scripts(document)
    return embedded if len(embedded) >= len(cards) and _told(embedded) >= _told(cards) else cards or embedded


def _told(records: Sequence[RawRecord]) -> float:
    """How many of the fields that matter a record tells, on average."""
    told = sum(len(record.fields.keys() & _THAT_MATTER) for record in records)
    return told / len(records) if records else 0.0


_THAT_MATTER = frozenset({"address", "rent", "beds", "baths", "size", "url"})


def with_shown_fields(records: list[RawRecord], document: Document) -> list[RawRecord]:
    """Records of markup that names no rent, completed by what the page shows of the same home.

    Sites tell search engines where a home is, and leave what it costs to the card.
    """
    marked_up = {Strategy.JSONLD, Strategy.MICRODATA}
    if all("rent" in record.fields or record.strategy not in marked_up for record in records):
        return records
    shown = {
        record.fields.get("url"): record
        for record in read_layout(document)
        if record.fields.get("url") and "unread" not in record.fields
    }
    return [
        with_fields_of(record, twin) if (twin := shown.get(record.fields.get("url"))) and "rent" not in record.fields
        else record for record in records
    ]  # fmt: skip


def with_fields_of(record: RawRecord, shown: RawRecord) -> RawRecord:
    """A record with what only its card says, and where that was read."""
    missing = {name: value for name, value in shown.fields.items() if name not in record.fields}
    places = {**(record.places or {}), **dict.fromkeys(missing, shown.origin)}
    return msgspec.structs.replace(record, fields={**record.fields, **missing}, places=places)


def is_usable(record: RawRecord) -> bool:
    """Whether a record has what no listing can do without: a place and something to tell it by."""
    fields = record.fields
    return (
        "unread" not in fields
        and bool(fields.keys() & {"address", "latitude", "neighborhood"})
        and ("rent" in fields or "beds" in fields or "id" in fields)
    )


def without_shared_ids(records: Sequence[RawRecord]) -> list[RawRecord]:
    """The records without ids that different homes share: such a number is the site's, the agent's or the list's."""
    homes: dict[object, set[tuple[object, ...]]] = {}
    for record in records:
        fields = record.fields
        if "id" in fields:
            told = (fields.get("address"), fields.get("unit"), fields.get("url"), fields.get("title"))
            homes.setdefault(fields["id"], set()).add(told)
    shared = {id_ for id_, told in homes.items() if len({(one[0], one[2]) for one in told}) > 1 and len(told) > 1}
    if not shared:
        return list(records)
    return [_without_id(record) if record.fields.get("id") in shared else record for record in records]


def _without_id(record: RawRecord) -> RawRecord:
    fields = {name: value for name, value in record.fields.items() if name != "id"}
    return msgspec.structs.replace(record, fields=fields)


def without_duplicates(records: Sequence[RawRecord]) -> list[RawRecord]:
    """Each home once: pages repeat theirs in a carousel of featured ones, or on the map."""
    kept: dict[object, RawRecord] = {}
    for record in records:
        fields = record.fields
        key = fields.get("id") or (fields.get("url"), fields.get("address"), fields.get("unit"), fields.get("beds"))
        kept.setdefault(key, record)
    return list(kept.values())
