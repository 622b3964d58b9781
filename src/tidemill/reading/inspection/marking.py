"""Where on a stored page each value of a record was read, as elements of the page that can be marked."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from selectolax.lexbor import LexborNode, SelectolaxError

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.inspection.data_values import DataValues, FoundValue, is_of_data
from tidemill.reading.selectors import pick
from tidemill.reading.text import block_of, squash

MOST_RECORDS = 60
"""So many records of a page are marked."""
MOST_ELEMENTS = 40_000
SHORTEST_WORDS = 3
"""Shorter values stand everywhere, and are only looked for in the record's own block."""
LONGEST = 400
"""Characters of a value in data that are shown."""
SNIPPET = 48
"""Characters of a data block that are shown before and after a value."""
_ATTRIBUTES = ("href", "src", "datetime", "content", "title", "alt", "value")
_NUMBERED = re.compile(r"^(?P<kind>[^/]+)/(?P<path>.*)\[(?P<index>\d+)\]$", re.DOTALL)


class MarkKind(StrEnum):
    """How sure we are that a value was read there."""

    EXACT = "read here"
    BLOCK = "in the block it was read from"
    DATA = "in the page's data"
    WORDS = "the same words"
    NOWHERE = "not found again"


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a record and the element that shows it.

    Of what was read from data, `data` is where it stands there, and `snippet` the data around it: before, value, after.
    """

    record: int
    field: str
    value: str
    place: str
    kind: MarkKind
    element: int | None = None
    snippet: tuple[str, str, str] | None = None
    data: FoundValue | None = None


def marks_on(document: Document, records: Sequence[RawRecord]) -> list[Mark]:
    """Return a mark for every field of the first records, in order."""
    finder = _ValueFinder(document)
    return [mark for number, record in enumerate(records[:MOST_RECORDS]) for mark in finder.marks_of(number, record)]


def elements_of(document: Document) -> list[LexborNode]:
    """Return the elements of a page in order; a number in this list names an element of a stored page for ever."""
    return document.tree.css("*")[:MOST_ELEMENTS]


class _ValueFinder:
    """Looks values up on one page; its words are gathered once, so that each look-up is one search."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._elements = elements_of(document)
        self._number = {node.mem_id: number for number, node in enumerate(self._elements)}
        own = [squash(_own_text(node)).casefold() for node in self._elements]
        self._starts, position = [], 0
        for words in own:
            self._starts.append(position)
            position += len(words) + 1
        self._words = "\n".join(own)
        self._by_attribute = dict(reversed(list(self._attributes())))
        self._data = DataValues(document)

    def _attributes(self) -> Iterator[tuple[str, int]]:
        for number, node in enumerate(self._elements):
            for name in _ATTRIBUTES:
                if value := node.attributes.get(name):
                    yield squash(value), number
                    if name in {"href", "src"}:
                        yield self._document.absolute(value), number

    def marks_of(self, number: int, record: RawRecord) -> Iterator[Mark]:
        block = self._block_of(record)
        for field, value in record.fields.items():
            text = squash(str(value))[:300]
            if not text:
                continue
            place = str((record.places or {}).get(field, ""))
            yield self._mark(number, field, text, record, place, block)

    def _mark(
        self, number: int, field: str, text: str, record: RawRecord, place: str, block: LexborNode | None
    ) -> Mark:
        def mark(kind: MarkKind, element: int | None = None, data: FoundValue | None = None) -> Mark:
            where, snippet = place or record.origin, self._snippet(data)
            return Mark(
                record=number, field=field, value=text, place=where, kind=kind, element=element, snippet=snippet,
                data=data,
            )  # fmt: skip

        if record.strategy is Strategy.SELECTORS and block is not None and place:
            for way in place.split(" | "):
                if (node := _picked_node(block, way)) is not None and (
                    found := self._number.get(node.mem_id)
                ) is not None:
                    return mark(MarkKind.EXACT, found)
        if record.strategy is Strategy.MICRODATA and (found := self._property(place, text)) is not None:
            return mark(MarkKind.EXACT, found)
        if (
            is_of_data(record, place)
            and (data := self._data.find(record, field, record.fields[field], place)) is not None
        ):
            return mark(MarkKind.DATA, self._find(text, None), data)
        if block is not None and (found := self._find(text, block)) is not None:
            return mark(MarkKind.BLOCK, found)
        found = self._find(text, None)
        return mark(MarkKind.WORDS, found) if found is not None else mark(MarkKind.NOWHERE)

    def _block_of(self, record: RawRecord) -> LexborNode | None:
        """Return the element that a record was read from, if its origin names one."""
        matched = _NUMBERED.match(record.origin)
        if matched is None:
            return None
        selector = matched["path"].rpartition(" > ")[2] if matched["kind"] != "selectors" else matched["path"]
        found = [self._elements[0]] if selector == ":root" and self._elements else self._select(selector)
        if matched["kind"] == "selectors":
            index = int(matched["index"])
            return found[index] if index < len(found) else None
        return next((node for node in found if record.block and block_of(node.html or "") == record.block), None)

    def _select(self, selector: str) -> list[LexborNode]:
        try:
            return self._document.tree.css(selector)
        except SelectolaxError:
            return []

    def _property(self, place: str, text: str) -> int | None:
        """Return the element whose microdata property says the value."""
        name = re.split(r"[.\[(]", place)[0]
        for node in self._select(f'[itemprop~="{name}"], [property~="{name}"]') if name.isalnum() else []:
            said = [node.attributes.get(each) or "" for each in _ATTRIBUTES]
            texts = {squash(each) for each in (*said, node.text(deep=True))}
            if text in texts or self._document.absolute(said[0] or said[1]) == text:
                return self._number.get(node.mem_id)
        return None

    def _snippet(self, found: FoundValue | None) -> tuple[str, str, str] | None:
        """Return the piece of data around a value."""
        if found is None:
            return None
        text, begins, ends = self._data.texts[found.text].text, found.begins, min(found.ends, found.begins + LONGEST)
        return text[max(0, begins - SNIPPET) : begins], text[begins:ends], text[ends : ends + SNIPPET]

    def _find(self, text: str, block: LexborNode | None) -> int | None:
        """Return the first element that says the words itself, within a block or anywhere."""
        first, last = 0, len(self._elements)
        if block is not None:
            first = self._number.get(block.mem_id, 0)
            last = first + len(block.css("*")) + 1
        elif len(text) < SHORTEST_WORDS:
            return None
        if (number := self._by_attribute.get(text)) is not None and first <= number < last:
            return number
        if first >= len(self._starts):
            return None
        position = self._words.find(text.casefold(), self._starts[first])
        if position < 0:
            return None
        number = bisect_right(self._starts, position) - 1
        return number if first <= number < last else None


def _own_text(node: LexborNode) -> str:
    return node.text(deep=False) if node.tag not in {"script", "style", "template"} else ""


def _picked_node(block: LexborNode, way: str) -> LexborNode | None:
    """Return the element that one way of a specification picks, if it yields something."""
    if not pick(block, way):
        return None
    selector = (way.rpartition("@")[0] if "@" in way else way).strip()
    return block if selector in {"", "."} else block.css_first(selector)


def fields_of_marks(marks: Sequence[Mark]) -> Mapping[int, list[Mark]]:
    """Return the marks by the number of their element."""
    found: dict[int, list[Mark]] = {}
    for mark in marks:
        if mark.element is not None:
            found.setdefault(mark.element, []).append(mark)
    return found


def raw_value(value: Any) -> str:
    """Return a raw value as people are shown it."""
    return squash(str(value))[:300]
