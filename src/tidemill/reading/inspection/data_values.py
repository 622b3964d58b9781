"""Values that were read from data: a feed in JSON, JSON-LD, or the state in a script, found where they stand."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading import jsonld
from tidemill.reading.document import Document
from tidemill.reading.inspection.json_spans import Span, at_path, members, value_end
from tidemill.reading.text import squash

LARGEST = 2_000_000
"""Characters of one text of data that are looked through."""
MOST_TEXTS = 60
THE_PAGE = "the page"
"""The name of the only text of a page that is JSON itself."""
_WRAPPED = '<script type="application/ld+json">'
"""How markup begins that was made of an answer in JSON."""
_MOST_STARTS = 12
_MOST_LISTS = 40
_MOST_LINES = 5_000
_TRIED_FIELDS = 12
_SHORT = 3
"""Shorter words stand everywhere, and count only as a whole value."""
_DATA_ORIGINS = frozenset({"json-ld", "script", "items", "json"})
_STARTS = re.compile(r"[=(:]\s*(?=[\[{])")
_BARE = re.compile(r"-?\d+(?:\.\d+)?|true|false")
_PARTS = re.compile(r"[/.\[\]]+")


class DataText(msgspec.Struct, frozen=True):
    """A text of data of a page: what it is called, and what it says."""

    name: str
    text: str


class FoundValue(msgspec.Struct, frozen=True):
    """Where a value stands: the number of the text among the page's, and its first and last character there."""

    text: int
    begins: int
    ends: int


def data_texts(document: Document) -> list[DataText]:
    """Return the page itself where it is JSON, else its JSON-LD blocks, followed by its other scripts."""
    markup = document.markup.lstrip("\ufeff \t\r\n")
    if markup[:1] in {"{", "["}:
        return [DataText(THE_PAGE, markup[:LARGEST])]
    blocks = [body.decode(errors="replace") for body in jsonld.bodies(document)]
    is_answer = markup.startswith(_WRAPPED)
    names = (THE_PAGE if is_answer and number == 0 else f"json-ld/{number}" for number in range(len(blocks)))
    found = [DataText(name, text) for name, text in zip(names, blocks, strict=True)]
    others = (
        node.text(deep=True) or ""
        for node in document.css("script:not([src])")
        if "ld+json" not in (node.attributes.get("type") or "")
    )
    scripts = [text for text in others if text.strip()]
    found += [DataText(f"script {number}", text) for number, text in enumerate(scripts, start=1)]
    return [DataText(each.name, each.text[:LARGEST]) for each in found[:MOST_TEXTS]]


def is_of_data(record: RawRecord, place: str) -> bool:
    """Return whether a value of a record was read from data rather than from what the page shows."""
    heads = {_PARTS.split(place)[0], _PARTS.split(record.origin)[0]}
    return record.strategy is Strategy.DATASET or bool(heads & _DATA_ORIGINS)


class DataValues:
    """Finds values in the data of one page; where each record stands is looked up once."""

    def __init__(self, document: Document) -> None:
        """Take the texts of data that a page has."""
        self.texts = data_texts(document)
        self._document = document
        self._spans: dict[str, tuple[int, Span] | None] = {}
        self._members: dict[tuple[int, int], Mapping[str, Span]] = {}

    def find(self, record: RawRecord, field: str, value: Any, place: str) -> FoundValue | None:
        """Return where a field's value stands: at its place in the record, by its words there, or anywhere."""
        found = self._found(record, field, value, place)
        if found is None:
            return None
        text, begins, ends = self.texts[found.text].text, found.begins, found.ends
        is_quoted = text[begins] == '"' and text[ends - 1] == '"' and ends - begins > 1
        return FoundValue(found.text, begins + 1, ends - 1) if is_quoted else found

    def _found(self, record: RawRecord, field: str, value: Any, place: str) -> FoundValue | None:
        is_whole_path = place.split("/", 1)[0] in _DATA_ORIGINS
        if is_whole_path and (found := self._at(place)) is not None:
            return found
        ways, held = self._written(value), self._record_at(record)
        if held is None:
            every = ((number, _said(each.text, ways, (0, len(each.text)))) for number, each in enumerate(self.texts))
            return next((FoundValue(number, *span) for number, span in every if span is not None), None)
        number, span = held
        text = self.texts[number].text
        for path in (() if is_whole_path else _parts(place), (field,)):
            if path and (inner := at_path(text, span[0], path)) is not None:
                return FoundValue(number, *inner)
        inner = _said(text, ways, span) or _named(text, field, span)
        return None if inner is None else FoundValue(number, *inner)

    def _written(self, value: Any) -> list[str]:
        """Return how data may write a value, likeliest first."""
        if isinstance(value, Mapping | list):
            return []
        plain = str(value)
        prefixes = (self._document.absolute("/").rstrip("/"), "https:", "http:")
        shorter = [plain.removeprefix(each) for each in prefixes if each and plain.startswith(each)]
        return list(dict.fromkeys(each for each in (plain, squash(plain), *shorter) if each))

    def _record_at(self, record: RawRecord) -> tuple[int, Span] | None:
        if record.origin not in self._spans:
            self._spans[record.origin] = self._looked_up(record)
        return self._spans[record.origin]

    def _looked_up(self, record: RawRecord) -> tuple[int, Span] | None:
        head, *path = [each for each in record.origin.split("/") if each]
        if head not in _DATA_ORIGINS:
            return None
        if head == "json-ld" and path and path[0].isdecimal():
            number, inside = int(path[0]), _parts("/".join(path[1:]))
            text = self.texts[number].text if number < len(self.texts) else ""
            span = self._object_at(number, _first_value(text), inside) if text else None
            return None if span is None else (number, span)
        inside = path[1:] if head == "script" and len(path) > 1 else path
        return self._best(record, list(self._candidates(inside)))

    def _candidates(self, path: Sequence[str]) -> Iterator[tuple[int, Span]]:
        """Yield the objects that a path may mean: in each value of each text, and in each list near its top."""
        for number, each in enumerate(self.texts):
            starts = list(starts_in(each.text))
            index = int(path[0]) if len(path) == 1 and path[0].isdecimal() else None
            if index is not None and index < len(starts):
                yield number, (starts[index], value_end(each.text, starts[index]))
            for begins in starts:
                if path and (span := self._object_at(number, begins, path)) is not None:
                    yield number, span
                if index is not None:
                    yield from self._listed(number, begins, index)

    def _listed(self, number: int, begins: int, index: int) -> Iterator[tuple[int, Span]]:
        text = self.texts[number].text
        if text[begins] != "{":
            return
        inner = list(self._members_of(number, begins).values())[:_MOST_LISTS]
        deeper = (self._members_of(number, span[0]).values() for span in inner if text[span[0]] == "{")
        for span in (*inner, *(each for members_there in deeper for each in members_there))[:_MOST_LISTS]:
            if text[span[0]] == "[" and (found := self._members_of(number, span[0]).get(str(index))) is not None:
                yield number, found

    def _object_at(self, number: int, begins: int, path: Sequence[str]) -> Span | None:
        """Return the span at a path; what stands on the way is kept, because many records share it."""
        span: Span | None = None
        for key in path:
            span = self._members_of(number, begins).get(key.casefold())
            if span is None:
                return None
            begins = span[0]
        return span or (begins, value_end(self.texts[number].text, begins))

    def _members_of(self, number: int, begins: int) -> Mapping[str, Span]:
        if (number, begins) not in self._members:
            found = members(self.texts[number].text, begins)
            self._members[number, begins] = {key.casefold(): span for key, span in found}
        return self._members[number, begins]

    def _best(self, record: RawRecord, candidates: Sequence[tuple[int, Span]]) -> tuple[int, Span] | None:
        """Return the object that says most of what the record says, the shortest of equals."""
        values = [self._written(each) for each in list(record.fields.values())[:_TRIED_FIELDS]]

        def told(candidate: tuple[int, Span]) -> tuple[int, int]:
            number, span = candidate
            text = self.texts[number].text
            return sum(_said(text, ways, span) is not None for ways in values), span[0] - span[1]

        best = max(candidates, key=told, default=None)
        return best if best is not None and told(best)[0] else None

    def _at(self, place: str) -> FoundValue | None:
        head, *path = place.split("/")
        if head != "json-ld" or not path or not path[0].isdecimal() or int(path[0]) >= len(self.texts):
            return None
        number = int(path[0])
        text = self.texts[number].text
        span = at_path(text, _first_value(text), _parts("/".join(path[1:])))
        return None if span is None else FoundValue(number, *span)


def starts_in(text: str) -> Iterator[int]:
    """Yield where JSON values begin: one after the other as in JSON Lines, or after assignments and calls."""
    position = len(text) - len(text.lstrip())
    if text[position : position + 1] not in {"{", "["}:
        yield from (found.end() for found in islice(_STARTS.finditer(text), _MOST_STARTS))
        return
    for _ in range(_MOST_LINES):
        if text[position : position + 1] not in {"{", "["}:
            return
        yield position
        position = value_end(text, position)
        if position < 0:
            return
        position += len(text[position : position + 100]) - len(text[position : position + 100].lstrip())


def _first_value(text: str) -> int:
    found = re.search(r"[\[{]", text)
    return found.start() if found else 0


def _parts(path: str) -> list[str]:
    return [each for each in _PARTS.split(path) if each]


def _named(text: str, field: str, span: Span) -> Span | None:
    """Return the first value within a span that stands under the field's own name, however deep."""
    found = re.compile(rf'"{re.escape(field)}"\s*:\s*', re.IGNORECASE).search(text, *span)
    if found is None:
        return None
    ends = value_end(text, found.end())
    return None if ends < 0 else (found.end(), ends)


def _said(text: str, ways: Sequence[str], span: Span) -> Span | None:
    """Return where one of the ways stands within a span: as a whole value, or in a longer one if it is long."""
    for way in ways:
        for quoted in dict.fromkeys((msgspec.json.encode(way).decode(), json.dumps(way))):
            for written in (quoted, quoted.replace("/", "\\/")):
                if (begins := text.find(written, *span)) >= 0:
                    return begins, begins + len(written)
                if len(way) > _SHORT and (begins := text.find(written[1:-1], *span)) >= 0:
                    return begins, begins + len(written) - 2
        if _BARE.fullmatch(way) and (found := re.compile(rf"(?<![\w.]){re.escape(way)}(?![\w.])").search(text, *span)):
            return found.span()
    return None
