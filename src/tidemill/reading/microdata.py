"""Microdata by the W3C's rules, and RDFa Lite: items, their properties and values, `itemref` included.

Items come out in the shape of JSON-LD (`@type`, `@id`, properties; a list where a property stands twice), so
that what reads one reads the other. A `<time>` keeps the words it shows as well, under `property@text`: software
that stamps times in UTC often tells the local time beside it.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.reading.document import Document, visible_strings
from tidemill.reading.text import squash

Item = dict[str, Any]

_URL_ATTRIBUTE = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src", "img": "src",
    "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip
_VALUE_ATTRIBUTE = {"data": "value", "meter": "value"}
_DEEPEST = 16
_MOST_NAMES = 8
"""So many names may stand in one `itemprop`."""
_MOST_ELEMENTS = 20_000
"""So many elements are looked at for a page's items, an element that several items refer to each time."""
_MOST_CHARACTERS = 1_000_000
"""So much text is gathered for all values; that of an element inside another's counts for both."""
_LAZY_IMAGE = ("data-src", "data-lazy-src", "data-original")


class _Spelling(msgspec.Struct, frozen=True):
    """The attributes by which markup says what is a thing, of what type, and which property."""

    scope: str
    type: str
    property: str


_MICRODATA = _Spelling("itemscope", "itemtype", "itemprop")
_RDFA = _Spelling("typeof", "typeof", "property")


def items(document: Document) -> list[Item]:
    """The page's top-level microdata items, in order."""
    return _items(document, _MICRODATA)


def rdfa_items(document: Document) -> list[Item]:
    """The page's top-level RDFa Lite items, which say the same with other attributes."""
    return _items(document, _RDFA)


def _items(document: Document, spelling: _Spelling) -> list[Item]:
    if spelling.scope not in document.markup and spelling.scope.upper() not in document.markup:
        return []
    reader = _ItemReader(document, spelling)
    scopes = document.css(f"[{spelling.scope}]")
    return [reader.item(node, 0) for node in scopes if not _is_a_property(node, spelling)]


def _is_a_property(node: LexborNode, spelling: _Spelling) -> bool:
    """Whether an item is another's property; one whose owner was forgotten stands for itself."""
    if spelling.property not in node.attributes:
        return False
    above = node.parent
    while above is not None:
        if spelling.scope in above.attributes:
            return True
        above = above.parent
    return False


class _ItemReader:
    """Reads the items of one document; ids are looked up once, when an `itemref` first asks."""

    def __init__(self, document: Document, spelling: _Spelling) -> None:
        self._document = document
        self._spelling = spelling
        self._by_id: dict[str, LexborNode] | None = None
        self._elements_left = _MOST_ELEMENTS
        self._characters_left = _MOST_CHARACTERS

    def item(self, node: LexborNode, depth: int) -> Item:
        attributes = node.attributes
        found: Item = {}
        types = (attributes.get(self._spelling.type) or "").split()
        if types:
            found["@type"] = types[0] if len(types) == 1 else types
        if identity := attributes.get("itemid"):
            found["@id"] = self._document.absolute(identity) or identity
        for element in self._elements(node):
            names = (element.attributes.get(self._spelling.property) or "").split(maxsplit=_MOST_NAMES)[:_MOST_NAMES]
            value = self._value(element, depth)
            shown = self._text(element) if element.tag == "time" else ""
            for name in map(_bare, names):
                _add(found, name, value)
                if shown:
                    found.setdefault(f"{name}@text", shown)
        return found

    def _text(self, node: LexborNode) -> str:
        """The words that an element shows, as long as there are not too many on the page."""
        pieces = []
        for piece in visible_strings(node):
            self._characters_left -= len(piece) + 1
            if self._characters_left < 0:
                return ""
            pieces.append(piece)
        return squash(" ".join(pieces))

    def _elements(self, node: LexborNode) -> Iterator[LexborNode]:
        """The elements that carry the item's properties, in tree order, then those that `itemref` names."""
        seen = {node.mem_id}
        named = map(self._with_id, (node.attributes.get("itemref") or "").split())
        for root in [*_children(node), *(referred for referred in named if referred is not None)]:
            yield from self._properties_under(root, seen)

    def _properties_under(self, root: LexborNode, seen: set[int]) -> Iterator[LexborNode]:
        pending = [root]
        while pending and self._elements_left > 0:
            node = pending.pop()
            if node.mem_id in seen:
                continue
            self._elements_left -= 1
            seen.add(node.mem_id)
            attributes = node.attributes
            if attributes.get(self._spelling.property):
                yield node
            if self._spelling.scope not in attributes:
                pending.extend(reversed(list(_children(node))))

    def _with_id(self, name: str) -> LexborNode | None:
        if self._by_id is None:
            self._by_id = {}
            for node in self._document.css("[id]"):
                self._by_id.setdefault(node.attributes.get("id") or "", node)
        return self._by_id.get(name)

    def _value(self, node: LexborNode, depth: int) -> Any:
        attributes, tag = node.attributes, node.tag or ""
        if self._spelling.scope in attributes:
            return self.item(node, depth + 1) if depth < _DEEPEST else ""
        if tag == "meta" or (tag not in _URL_ATTRIBUTE and attributes.get("content")):
            return attributes.get("content") or ""
        if tag in _URL_ATTRIBUTE:
            return self._address(node, _URL_ATTRIBUTE[tag])
        if tag in _VALUE_ATTRIBUTE:
            return attributes.get(_VALUE_ATTRIBUTE[tag]) or ""
        if tag == "time" and attributes.get("datetime"):
            return attributes.get("datetime")
        return self._text(node)

    def _address(self, node: LexborNode, attribute: str) -> str:
        value = node.attributes.get(attribute) or ""
        if node.tag == "img" and (not value or value.startswith("data:")):
            value = next(filter(None, (node.attributes.get(name) for name in _LAZY_IMAGE)), value)
        return self._document.absolute(value) or value


def _bare(name: str) -> str:
    """A property's own word: `name` of `http://schema.org/name` and of `schema:name`."""
    return name.rpartition("/")[2].rpartition(":")[2]


def _children(node: LexborNode) -> Iterator[LexborNode]:
    return node.iter(include_text=False)


def _add(item: Item, name: str, value: Any) -> None:
    if name not in item:
        item[name] = value
    elif isinstance(item[name], list):
        item[name].append(value)
    else:
        item[name] = [item[name], value]
