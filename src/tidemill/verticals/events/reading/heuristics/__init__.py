"""Events on pages without markup for them: repeated blocks, tables, calendars, pages about one event."""

from functools import partial

import msgspec

from tidemill.core.record import RawRecord
from tidemill.reading.document import Document
from tidemill.reading.outline import HEADINGS, Element, outline_of, with_lines
from tidemill.reading.reading_context import ReadingContext
from tidemill.verticals.events.reading.heuristics.blocks import Leaf, blocks, leaves
from tidemill.verticals.events.reading.heuristics.context import BlockContext
from tidemill.verticals.events.reading.heuristics.dating import DATE_HINT, moments_in
from tidemill.verticals.events.reading.heuristics.files import dates_in_file_names
from tidemill.verticals.events.reading.heuristics.grids import from_grids
from tidemill.verticals.events.reading.heuristics.hidden_events import hidden_events
from tidemill.verticals.events.reading.heuristics.introductions import with_introductions
from tidemill.verticals.events.reading.heuristics.months import days_under_months, is_in_row_of_month, is_numbered
from tidemill.verticals.events.reading.heuristics.papers import one_a_meeting
from tidemill.verticals.events.reading.heuristics.record_builder import RecordBuilder
from tidemill.verticals.events.reading.heuristics.single import single_event
from tidemill.verticals.events.reading.heuristics.stated_once import with_only_address, with_stated_facts
from tidemill.verticals.events.reading.heuristics.undated import undated_siblings
from tidemill.verticals.events.reading.heuristics.wording import without_dates

__all__ = ["read_heuristics", "with_only_address"]

_LEAD = 12
"""Characters before a date at which a line still begins with it: a weekday, a dash."""
MOST = 500
"""Records of one page; more than that is no agenda."""


def read_heuristics(document: Document, context: ReadingContext) -> list[RawRecord]:
    """The events that the page's layout gives away, each with how sure that is (0.25 to 0.75)."""
    root = document.bounded_tree.body or document.bounded_tree.root
    if root is None:
        return []
    elements = with_lines(outline_of(root), partial(_begins_with_a_date, context=context))
    builder = RecordBuilder(document, context, BlockContext(document, elements))
    grid = from_grids(elements, builder)
    if grid:
        return grid[:MOST]
    found = _dates(elements, context)
    grouped = blocks(found)[:MOST]
    single, used = single_event(found, grouped, builder)
    if single:
        grouped = [(block, inside) for block, inside in grouped if _stands_apart(block, inside, used)]
    told = [
        (block, inside, list(builder.records_of_block(block, inside, alike=len(grouped)))) for block, inside in grouped
    ]
    listed = [record for _, _, records in told for record in records]
    listed = _without_places(listed)
    records = _once([*(_marked(one) if listed else one for one in single), *listed])[:MOST]
    records = records or hidden_events(document, elements, builder)
    records = one_a_meeting(records)
    dated = with_stated_facts(with_introductions(records, elements, found, context), elements, context)
    return [*dated, *undated_siblings([(block, inside) for block, inside, its in told if its], document)]


def _dates(elements: list[Element], context: ReadingContext) -> list[Leaf]:
    """The dates as they are written; the numbered lines under months where those are more; else those of files."""
    written, numbered = leaves(elements, context), days_under_months(elements, context)
    if written and len(numbered) > len(written):
        numbered = [leaf for leaf in numbered if without_dates(leaf.element.text) or is_in_row_of_month(leaf.element)]
    return max(written, numbered, key=len) or dates_in_file_names(elements, context)


def _begins_with_a_date(line: str, context: ReadingContext) -> bool:
    if is_numbered(line):
        return True
    opening = line[: 2 * _LEAD]
    return DATE_HINT.search(opening) is not None and any(
        begins <= _LEAD for begins, _, _ in moments_in(opening, context)
    )


def _marked(record: RawRecord) -> RawRecord:
    """The page's own event on a page with others: its address is not its alone, so it cannot be its identity."""
    return msgspec.structs.replace(record, fields={**record.fields, "shared_url": True})


def _stands_apart(block: Element, inside: list[Leaf], used: set[int]) -> bool:
    """Whether a block beside the page's own event is one too: not a part of that event, nor a line of its text."""
    if any(leaf.element.order in used for leaf in inside):
        return False
    if not without_dates(block.text):  # a bare date: the same event on another day
        return True
    return any(element.tag == "a" or element.tag in HEADINGS for element in block.walk())


def _without_places(records: list[RawRecord]) -> list[RawRecord]:
    """The records without those that are named after the place of another at the same moment: its address once more."""
    places = {
        (other.fields["starts"], str(other.fields["place"]).casefold(), other.origin)
        for other in records
        if "place" in other.fields
    }
    return [
        one for one in records
        if not any(
            starts == one.fields["starts"] and origin != one.origin
            and str(one.fields["title"]).casefold().startswith(place)
            for starts, place, origin in places
        )
    ] if len(records) <= _FEW else records  # fmt: skip


_FEW = 200


def _once(records: list[RawRecord]) -> list[RawRecord]:
    """The records, each title once a moment: pages repeat their events in margins, archives and print versions."""
    seen: dict[tuple[str, str], RawRecord] = {}
    for record in records:
        seen.setdefault((record.fields["title"].casefold(), record.fields["starts"]), record)
    return list(seen.values())
