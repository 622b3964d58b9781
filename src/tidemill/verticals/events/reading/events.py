"""Events on a page, by structured data, selectors or heuristics, whichever works first."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial

import msgspec

from tidemill.core.record import Found, RawRecord, Strategy
from tidemill.reading import jsonld, microdata, pagination
from tidemill.reading.document import Document
from tidemill.reading.ladder import Rung, first_usable
from tidemill.reading.moments import Grain, parse_moment
from tidemill.reading.outline import outline_of
from tidemill.reading.page_answer import page_answer
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.selectors import Spec, read_selectors
from tidemill.verticals.events.reading import heuristics, schema_events
from tidemill.verticals.events.reading.common_events import read_common

_CONFIDENCE = {Strategy.JSONLD: 0.95, Strategy.MICRODATA: 0.9}
_REPAIRED = 0.85
FURTHEST_ZONE = timedelta(hours=26)
"""How far two clocks may be apart and still tell the same event."""
_NAMED_EVENTS = re.compile(rb'"@type"\s*:\s*"[^"]*Event"')
"""How a block names its events, readable or not."""
_NOTHING_KNOWN: dict[str, schema_events.Item] = {}


def read_events(document: Document, context: ReadingContext, selectors: Spec | None = None) -> Found:
    """Every event that the page shows, as raw records of the first strategy that finds any.

    `selectors` is an adapter's specification, tried after structured data. An answer without records
    says nothing about why: ask `blocked` and `declares_empty`.
    """
    unreadable: list[int] = []
    rungs = [
        Rung(Strategy.JSONLD, partial(from_jsonld, context=context, unreadable=unreadable)),
        Rung(Strategy.MICRODATA, lambda page: _as_shown(page, from_microdata(page, context), context)),
    ]
    if selectors:
        rungs.append(Rung(Strategy.SELECTORS, partial(read_selectors, spec=selectors)))
    rungs.append(Rung(Strategy.HEURISTICS, partial(heuristics.read_heuristics, context=context)))
    result = first_usable(document, rungs, is_usable)
    answer = found(document, result.records, result.notes)
    if unreadable and answer.records and answer.records[0].strategy is Strategy.JSONLD:
        return msgspec.structs.replace(answer, truncated=True)
    return answer


def found(document: Document, records: Sequence[RawRecord], notes: Sequence[str] = ()) -> Found:
    """The answer for a page's records: without duplicates, shared URLs marked, with its pagination."""
    if not have_own_urls(records):
        records = with_shared_urls_marked(without_duplicates(records))
    return page_answer(
        document, records, total=pagination.total(document), next_url=pagination.next_url(document), notes=notes
    )


def is_usable(record: RawRecord) -> bool:
    """Whether a record has what no event can do without: a title and something about a date."""
    return "title" in record.fields and "starts" in record.fields


def from_jsonld(document: Document, context: ReadingContext, unreadable: list[int] | None = None) -> list[RawRecord]:
    """The events in the page's JSON-LD, broken blocks repaired or skipped one by one.

    `unreadable` collects the blocks with events that could not be read: then the page has more than its records.
    """
    records: list[RawRecord] = []
    for index, body in enumerate(jsonld.bodies(document)):
        common = read_common(body, f"json-ld/{index}", _CONFIDENCE[Strategy.JSONLD], document.absolute)
        records += _general_records(document, index, body, context, unreadable) if common is None else common
    return records


def _general_records(
    document: Document, index: int, body: bytes, context: ReadingContext, unreadable: list[int] | None
) -> Iterator[RawRecord]:
    """The events of a block of any shape."""
    block = jsonld.block(index, body)
    found = list(jsonld.objects(block.value, schema_events.is_event, schema_events.NESTED))
    if unreadable is not None and (block.broken or block.repaired) and len(found) < len(_NAMED_EVENTS.findall(body)):
        unreadable.append(index)  # what was saved of the block is less than it held
    known = jsonld.objects_by_id(block.value) if b"@id" in body else _NOTHING_KNOWN
    confidence = _REPAIRED if block.repaired else _CONFIDENCE[Strategy.JSONLD]
    for path, item in found:
        yield from schema_events.records_of(
            item, f"json-ld/{index}{path}", strategy=Strategy.JSONLD, confidence=confidence,
            absolute=document.absolute, known=known, today=context.today,
        )  # fmt: skip


def from_microdata(document: Document, context: ReadingContext) -> list[RawRecord]:
    """The events in the page's microdata, or its RDFa, which is read alike."""
    records: list[RawRecord] = []
    for index, item in enumerate([*microdata.items(document), *microdata.rdfa_items(document)]):
        for path, event in jsonld.objects(item, schema_events.is_event, schema_events.NESTED):
            records += schema_events.records_of(
                event,
                f"microdata/{index}{path}",
                strategy=Strategy.MICRODATA,
                confidence=_CONFIDENCE[Strategy.MICRODATA],
                absolute=document.absolute,
                known=_NOTHING_KNOWN,
                today=context.today,
            )
    return records


def _as_shown(document: Document, records: Sequence[RawRecord], context: ReadingContext) -> list[RawRecord]:
    """The records with the time that people read; a place that only repeats a title is none, the page may tell it."""
    shown = [_without_repeated_place(with_shown_time(record, context)) for record in records]
    if all("place" in record.fields for record in shown):
        return shown
    root = document.bounded_tree.body
    return heuristics.with_only_address(shown, outline_of(root)) if root is not None else shown


def _without_repeated_place(record: RawRecord) -> RawRecord:
    title = record.fields.get("title")
    fields = {name: value for name, value in record.fields.items() if name not in _WHERE or value != title}
    return msgspec.structs.replace(record, fields=fields) if len(fields) < len(record.fields) else record


_WHERE = frozenset({"place", "address"})


def with_shown_time(record: RawRecord, context: ReadingContext) -> RawRecord:
    """The record with the time that people read, where its stamp is in UTC and the words beside it are local."""
    starts, shown = str(record.fields.get("starts", "")), record.fields.get("shown", "")
    if not shown or not starts.endswith(("Z", "+00:00", "+0000")):
        return record
    stamp = parse_moment(starts, context.now, context.time_zone)
    local = parse_moment(shown, context.now, context.time_zone, context.language, day_first=context.day_first)
    if stamp is None or local is None or local.grain is not Grain.MINUTE or not local.date_given:
        return record
    if abs(local.starts - stamp.starts) > FURTHEST_ZONE:
        return record
    fields = {**record.fields, "starts": local.starts.isoformat(timespec="minutes")}
    if local.ends is None:
        fields.pop("ends", None)  # it was stamped in the same way
    return msgspec.structs.replace(record, fields=fields)


def have_own_urls(records: Sequence[RawRecord]) -> bool:
    """Whether each record has an address that no other has, and none an id: then there is nothing to compare."""
    addresses = {record.fields.get("url") for record in records if "id" not in record.fields}
    return len(addresses) == len(records) and None not in addresses


def without_duplicates(records: Sequence[RawRecord]) -> Sequence[RawRecord]:
    """The records without those that a page shows twice: the same title, start, place and address."""
    seen: dict[tuple[object, ...], RawRecord] = {}
    for record in records:
        fields = record.fields
        key = (
            fields.get("title"),
            str(fields.get("starts")),
            fields.get("time"),
            fields.get("place"),
            fields.get("url"),
        )
        seen.setdefault(key, record)
    return records if len(seen) == len(records) else list(seen.values())


def with_shared_urls_marked(records: Sequence[RawRecord]) -> Sequence[RawRecord]:
    """The records, marked where an id or address is not theirs alone and so cannot be their identity."""
    ids = Counter(record.fields["id"] for record in records if "id" in record.fields)
    urls = Counter(record.fields["url"] for record in records if "url" in record.fields)
    if len(ids) == ids.total() and len(urls) == urls.total():
        return records
    return [_marked(record, ids, urls) for record in records]


def _marked(record: RawRecord, ids: Counter[str], urls: Counter[str]) -> RawRecord:
    fields = dict(record.fields)
    if ids[fields.get("id", "")] > 1:
        del fields["id"]
    if urls[fields.get("url", "")] > 1:
        fields["shared_url"] = True
    return msgspec.structs.replace(record, fields=fields)
