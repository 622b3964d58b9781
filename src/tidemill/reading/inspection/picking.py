"""From an element that a person points at to selectors that find it: the block that repeats, and the way inside it."""

from collections.abc import Sequence

import msgspec
from selectolax.lexbor import LexborNode, SelectolaxError

from tidemill.reading.document import Document
from tidemill.reading.inspection.marking import elements_of
from tidemill.reading.repair import ancestors, selector_names
from tidemill.reading.selectors import pick

MOST_BLOCKS = 500
MOST_CHOICES = 12
VALUES_SHOWN = 5
_ATTRIBUTES = ("datetime", "content", "href", "src", "title", "alt", "value")


class BlockChoice(msgspec.Struct, frozen=True):
    """A selector of the block that a record stands in, and how many of them are on the page; '' is the whole page."""

    selector: str
    count: int


class WayTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What a way finds on one page: in how many of the blocks, and the first values."""

    way: str
    blocks: int
    filled: int
    values: Sequence[str]


def element_at(document: Document, number: int) -> LexborNode | None:
    """Return the element with this number."""
    elements = elements_of(document)
    return elements[number] if 0 <= number < len(elements) else None


def block_choices(document: Document, node: LexborNode, known: str = "") -> list[BlockChoice]:
    """Return the blocks around an element that repeat, the innermost first; the one that is in use before all."""
    around = list(ancestors(node))[1:]
    names = [name for each in around for name in selector_names(each) if "." in name or "[" in name]
    plain = [each.tag for each in around if each.tag in {"li", "article", "tr", "section"}]
    found = {known: _count(document, known)} if known and _holding(document, known, node) is not None else {}
    for name in dict.fromkeys([*names, *plain]):
        count = _count(document, name) if name not in found and name else 0
        if 1 < count <= MOST_BLOCKS:
            found[name] = count
    choices = [BlockChoice(selector, count) for selector, count in found.items()][: MOST_CHOICES - 1]
    return [*choices, BlockChoice("", 1)]


def ways_to(document: Document, node: LexborNode, item: str) -> list[str]:
    """Return the ways that pick this very element in its block, the most telling first; with attributes after text."""
    block = _holding(document, item, node) if item else document.tree.root
    if block is None:
        return []
    found = [way for way in _selectors_to(block, node) if _first(block, way) == node.mem_id]
    path = _path(block, node)
    if not found and path and _first(block, path) == node.mem_id:
        found = [path]
    told = [f"{way}@{name}" for way in found[:3] for name in _ATTRIBUTES if node.attributes.get(name)]
    texts = [way for way in found if pick(block, way)]
    dated = [way for way in told if way.endswith("@datetime")]
    rest = [way for way in told if not way.endswith("@datetime") and pick(block, way)]
    return list(dict.fromkeys([*dated, *texts[:MOST_CHOICES], *rest]))[:MOST_CHOICES]


def tried_way(document: Document, item: str, way: str) -> WayTrial:
    """Return what a way finds on a page; nothing when a selector is broken."""
    root = document.tree.root
    try:
        blocks = document.tree.css(item)[:MOST_BLOCKS] if item else [root] if root is not None else []
        values = [value for block in blocks if (value := pick(block, way))]
    except SelectolaxError:
        blocks, values = [], []
    shown = [value[:200] for value in values[:VALUES_SHOWN]]
    return WayTrial(way=way, blocks=len(blocks), filled=len(values), values=shown)


def _selectors_to(block: LexborNode, node: LexborNode) -> list[str]:
    own = list(selector_names(node))
    parent = node.parent
    if parent is None or parent.mem_id == block.mem_id:
        return own
    return [*own, *(f"{outer} > {name}" for name in own for outer in selector_names(parent))]


def _path(block: LexborNode, node: LexborNode) -> str:
    """Return the way down to an element by its place among its neighbours, for one that has no name."""
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.mem_id != block.mem_id:
        if current.tag in {"html", "-undef", None}:
            break
        place, before = 1, current.prev
        while before is not None:
            place += before.is_element_node
            before = before.prev
        steps.append(f"{current.tag}:nth-child({place})")
        current = current.parent
    return " > ".join(reversed(steps))


def _first(block: LexborNode, selector: str) -> int | None:
    try:
        found = block.css_first(selector)
    except SelectolaxError:
        return None
    return None if found is None else found.mem_id


def _count(document: Document, selector: str) -> int:
    try:
        return len(document.tree.css(selector))
    except SelectolaxError:
        return 0


def _holding(document: Document, item: str, node: LexborNode) -> LexborNode | None:
    """Return the block that an element stands in."""
    try:
        blocks = {each.mem_id: each for each in document.tree.css(item)}
    except SelectolaxError:
        return None
    current: LexborNode | None = node
    while current is not None:
        if current.mem_id in blocks:
            return blocks[current.mem_id]
        current = current.parent
    return None
