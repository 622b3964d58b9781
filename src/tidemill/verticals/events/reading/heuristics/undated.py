"""Blocks built like those that are events, whose date nobody can read: counted as dropped, never skipped."""

from collections.abc import Iterator, Sequence

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.outline import Element
from tidemill.reading.text import block_of
from tidemill.verticals.events.reading.heuristics.blocks import Leaf
from tidemill.verticals.events.reading.heuristics.fields import link_of, title_of

FEWEST_EVENTS = 2
"""Events of one kind in one list, from which on their siblings are taken for events too."""
_CONFIDENCE = 0.3
_LONGEST = 200

EventBlock = tuple[Element, Sequence[Leaf]]
"""A block that is an event, and where in it its dates stand."""


def undated_siblings(events: Sequence[EventBlock], document: Document) -> list[RawRecord]:
    """The blocks beside events that are built as they are and tell no date that can be read, as raw records.

    Where they are more than the events, the list is one of something else.
    """
    lists: dict[tuple[int, str], list[EventBlock]] = {}
    for block, inside in events:
        if block.parent is not None:
            lists.setdefault((block.parent.order, block.kind), []).append((block, inside))
    found: list[RawRecord] = []
    for alike in lists.values():
        if len(alike) >= FEWEST_EVENTS:
            undated = list(_undated_in(alike, document))
            found += undated if len(undated) <= len(alike) else []
    return found


def _undated_in(alike: Sequence[EventBlock], document: Document) -> Iterator[RawRecord]:
    first, _ = alike[0]
    dated = {block.order for block, _ in alike}
    slots = {slot for block, inside in alike for leaf in inside if (slot := _steps(leaf.element, block))}
    has_links = all(any(one.tag == "a" for one in block.walk()) for block, _ in alike)
    for block in first.parent.children if first.parent is not None else ():
        if block.kind != first.kind or block.order in dated:
            continue
        title, element = title_of(block)
        written = next((text for one in block.walk() if _steps(one, block) in slots and (text := one.text)), "")
        url = link_of(block, element, document)
        is_built_alike = bool(written) and (bool(url) or not has_links)
        if title and is_built_alike and title != written:
            yield _record(block, title, written, url)


def _steps(element: Element, block: Element) -> tuple[str, ...]:
    """The way from a block to an element in it, by kinds; () if that is the block itself or not in it."""
    steps: list[str] = []
    current: Element | None = element
    while current is not None and current is not block:
        steps.append(current.kind)
        current = current.parent
    return tuple(steps) if current is block else ()


def _record(block: Element, title: str, written: str, url: str) -> RawRecord:
    fields = {"title": title, "unread": written[:_LONGEST], **({"url": url} if url else {})}
    return RawRecord(
        fields=fields,
        strategy=Strategy.HEURISTICS,
        confidence=_CONFIDENCE,
        origin=f"heuristics/{block.path()}[{block.order}]",
        places=dict.fromkeys(fields, block.path()),
        block=block_of(block.node.html or ""),
    )
