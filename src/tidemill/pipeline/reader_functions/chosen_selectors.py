"""Selectors that a person points at on a stored page: what an element can be called, and what a selector finds."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.reader_functions.function import ReaderFunction
from tidemill.reading.document import Document
from tidemill.reading.inspection.picking import BlockChoice, WayTrial, block_choices, element_at, tried_way, ways_to
from tidemill.reading.text import squash

SELECTORS = "selectors"
VALUES_SHOWN = 5


class FieldSelector(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks for: where a field stands (`way`), in which block (`item`; '' for a page of one record)."""

    field: str
    way: str
    item: str = ""


class ElementChoice(msgspec.Struct, frozen=True, kw_only=True):
    """An element that a person pointed at: its words, the blocks around it and the ways to it."""

    element: int
    tag: str
    words: str
    item: str
    blocks: Sequence[BlockChoice]
    ways: Sequence[WayTrial]


class SelectorTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What a selector finds on one stored page, and what the adapter reads there with it.

    `read_by` is the strategy by which the adapter read the page; selectors may lose to data that the page brings.
    """

    page_id: int
    fetched_at: datetime
    way: WayTrial
    records: int
    read_by: str
    values_read: Sequence[str]
    failure: str = ""


class PointedAt(msgspec.Struct, frozen=True, kw_only=True):
    """An element of a page; `item` is the block that was chosen, None for the likeliest. `known` is today's block."""

    page: Page
    element: int
    item: str | None
    known: str


class SelectorToTry(msgspec.Struct, frozen=True, kw_only=True):
    """A page, the source with the selector among its settings, and the selector."""

    page: Page
    source: Source
    wanted: FieldSelector


def spec_of(source: Source) -> dict[str, Any]:
    """Return the selectors of a source; empty if it has none."""
    spec = source.adapter_settings.get(SELECTORS)
    return dict(spec) if isinstance(spec, Mapping) else {}


def _choice(asked: PointedAt, _verticals: Mapping[str, Vertical]) -> ElementChoice | None:
    """Return what the element can be called; None if there is no such element."""
    document = Document.of(asked.page)
    node = element_at(document, asked.element)
    if node is None:
        return None
    blocks = block_choices(document, node, asked.known)
    chosen = blocks[0].selector if asked.item is None else asked.item
    ways = [tried_way(document, chosen, way) for way in ways_to(document, node, chosen)]
    words = squash(node.text(deep=True))[:200]
    return ElementChoice(
        element=asked.element, tag=node.tag or "", words=words, item=chosen, blocks=blocks, ways=ways
    )  # fmt: skip


def _trial(asked: SelectorToTry, verticals: Mapping[str, Vertical]) -> SelectorTrial:
    page, source, wanted = asked.page, asked.source, asked.wanted
    way = tried_way(Document.of(page), wanted.item, wanted.way)
    context = Context(source, page.final_url, page.fetched_at)
    records, read_by, values, failure = 0, "", [], ""
    try:
        reading = verticals[source.vertical].adapters[source.adapter_id].read(page, context)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a crash is what a trial is there to find
        reading = None
        failure = f"crashed: {type(error).__name__}"
    if isinstance(reading, Fail):
        failure = str(reading.failure)
    elif reading is not None and reading.records:
        records, read_by = len(reading.records), str(reading.records[0].strategy)
        values = [squash(str(each.fields.get(wanted.field, "")))[:200] for each in reading.records[:VALUES_SHOWN]]
    return SelectorTrial(
        page_id=page.id, fetched_at=page.fetched_at, way=way, records=records, read_by=read_by, values_read=values,
        failure=failure,
    )  # fmt: skip


CHOICE = ReaderFunction("selectors.choice", PointedAt, ElementChoice | None, _choice)
TRIAL = ReaderFunction("selectors.trial", SelectorToTry, SelectorTrial, _trial)
