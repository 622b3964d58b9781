"""Events on pages without markup for them: repeated blocks, tables, calendars, pages about one event (P1)."""

from tidemill.core.record import RawRecord
from tidemill.reading.document import Document
from tidemill.reading.heuristics.blocks import blocks, leaves
from tidemill.reading.heuristics.context import Surroundings
from tidemill.reading.heuristics.grids import from_grids
from tidemill.reading.heuristics.outline import outline_of
from tidemill.reading.heuristics.records import Scribe
from tidemill.reading.heuristics.single import single_event
from tidemill.reading.setting import Setting

MOST = 500
"""Records of one page; more than that is no agenda."""


def read_heuristics(document: Document, setting: Setting) -> list[RawRecord]:
    """The events that the page's layout gives away, each with how sure that is (0.25 to 0.75)."""
    root = document.bounded_tree.body or document.bounded_tree.root
    if root is None:
        return []
    elements = outline_of(root)
    scribe = Scribe(document, setting, Surroundings(document, elements))
    grid = from_grids(elements, scribe)
    if grid:
        return grid[:MOST]
    found = leaves(elements, setting)
    grouped = blocks(found)
    single = single_event(elements, found, grouped, scribe)
    listed = [record for block, inside in grouped for record in scribe.of_block(block, inside, alike=len(grouped))]
    return _merged(single, listed)[:MOST]


def _merged(single: list[RawRecord], listed: list[RawRecord]) -> list[RawRecord]:
    """The page's own event first; of the others those that are not the same one again."""
    known = {(record.fields["title"].casefold(), record.fields["starts"][:10]) for record in single}
    merged = list(single)
    for record in listed:
        key = (record.fields["title"].casefold(), record.fields["starts"][:10])
        if key not in known:
            merged.append(record)
    return merged
