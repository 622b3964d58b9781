"""An adapter's CSS selectors as data: which block is a record, and where in it each field stands.

A specification is a mapping such as::

    {"item": ".event", "title": "h3 a", "starts": "time@datetime", "url": "a@href", "place": [".venue", ".city"]}

`selector@attribute` reads an attribute instead of the text, `@attribute` one of the block itself, `.` the whole
block's text; of a list the first that yields something is taken. Without `item` the page is one record.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from tidemill.core.checks.source_settings import CheckSetting
from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document, visible_strings
from tidemill.reading.limits.nesting import shallow
from tidemill.reading.text import block_of, squash

_CONFIDENCE = 0.9
_LINKS = frozenset({"url", "image"})
STRUCTURE = frozenset({"item", "empty", "next", "total"})

Spec = Mapping[str, Any]

LONGEST_SELECTOR = 500
MOST_NESTED = 64
"""Blocks within each other that are read, the innermost left out.

A list whose elements nobody closed is such a page. Each block is gone through whole, so a page of nothing but blocks
within blocks would be gone through once for every one of them.
"""


def selectors_problem(spec: object, fields: Collection[str]) -> str:
    """Return what is wrong with a specification whose records have these fields; '' if nothing is."""
    if not isinstance(spec, Mapping) or not spec:
        return "write fields and their selectors, such as {item: .event, title: h3}"
    for field, places in spec.items():
        if field not in STRUCTURE and field not in fields:
            return unknown_name("field", str(field), {*fields, *STRUCTURE})
        ways = places if isinstance(places, list | tuple) else [places]
        if not ways or not all(isinstance(way, str) and way.strip() for way in ways):
            return f"{field}: write a CSS selector, or a list of them"
        if problem := next(filter(None, map(selector_problem, ways)), ""):
            return f"{field}: {problem}"
    return ""


def selectors_check(fields: Collection[str]) -> CheckSetting:
    """Return the check of a source's `selectors` for records that have these fields."""
    return lambda spec: selectors_problem(spec, fields)


def selector_problem(way: str) -> str:
    """Return why one `selector@attribute` cannot be used; '' if it can."""
    selector = (way.rpartition("@")[0] if "@" in way else way).strip()
    if len(way) > LONGEST_SELECTOR:
        return f"a selector of {len(way)} characters; write at most {LONGEST_SELECTOR}"
    if selector in {"", "."}:
        return ""
    try:
        LexborHTMLParser("<p></p>").css_first(selector)
    except SelectolaxError:
        return f"{way!r} is not a CSS selector; write one such as `h3 a` or `time@datetime`"
    return ""


def read_selectors(document: Document, spec: Spec) -> list[RawRecord]:
    """The raw records that the specification finds; a field that is not there is absent.

    Raises:
        ValueError: a selector is not CSS; the adapter's author must hear of it.
    """
    try:
        return _read(document, spec)
    except SelectolaxError as error:
        msg = f"a selector is not CSS ({error}): {dict(spec)}"
        raise ValueError(msg) from error


def _read(document: Document, spec: Spec) -> list[RawRecord]:
    item = spec.get("item")
    blocks = _blocks(document, str(item)) if item else [node for node in (document.tree.root,) if node is not None]
    wanted = {field: _alternatives(places) for field, places in spec.items() if field not in STRUCTURE}
    places = {field: " | ".join(ways) for field, ways in wanted.items()}
    records = []
    for index, block in enumerate(blocks):
        fields = _fields(document, block, wanted)
        if fields:
            origin = f"selectors/{item or ':root'}[{index}]"
            records.append(_record(fields, origin, places, block))
    return records


def _blocks(document: Document, item: str) -> list[LexborNode]:
    """Return the blocks that hold records; those too deep within others are left out, and the document is told."""
    found = document.tree.css(item)
    kept = shallow(found, MOST_NESTED)
    if over := len(found) - len(kept):
        document.leave_out(f"{over} blocks of {item} that lie within {MOST_NESTED} others")
    return kept


def _record(fields: dict[str, str], origin: str, places: Mapping[str, str], block: LexborNode) -> RawRecord:
    return RawRecord(
        fields=fields,
        strategy=Strategy.SELECTORS,
        confidence=_CONFIDENCE,
        origin=origin,
        places=places,
        block=block_of(block.html or ""),
    )


def _alternatives(places: Any) -> Sequence[str]:
    return [str(place) for place in places] if isinstance(places, list | tuple) else [str(places)]


def _fields(document: Document, block: LexborNode, wanted: Mapping[str, Sequence[str]]) -> dict[str, str]:
    fields = {}
    for field, ways in wanted.items():
        value = ""
        for way in ways:
            if value := pick(block, way):
                break
        if value and field in _LINKS:
            value = document.absolute(value)
        if value:
            fields[field] = value
    return fields


def pick(block: LexborNode, way: str) -> str:
    """What one `selector@attribute` finds in a block, on one line; '' if nothing."""
    selector, attribute = _parted(way)
    node = block.css_first(selector) if selector else block
    if node is None:
        return ""
    if attribute:
        return squash(node.attributes.get(attribute) or "")
    child = node.first_child
    if child is not None and child.next is None and child.is_text_node:  # most fields are one string
        return squash(child.text_content or "")
    return squash(" ".join(visible_strings(node)))


@lru_cache(maxsize=1_024)
def _parted(way: str) -> tuple[str, str]:
    """The selector and the attribute of `selector@attribute`; '' for the block itself, and for its words."""
    selector, _, attribute = way.rpartition("@") if "@" in way else (way, "", "")
    selector = selector.strip()
    return "" if selector == "." else selector, attribute.strip()
