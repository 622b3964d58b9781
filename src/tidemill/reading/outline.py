"""A page's outline: the elements that a reader sees, in plain Python, with their texts.

Menus, footers, forms and scripts are left out; hidden elements too. One walk over the tree makes it.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice

from selectolax.lexbor import LexborNode

from tidemill.reading.moments.words import MONTH
from tidemill.reading.text import squash

_LEFT_OUT = frozenset({
    "script", "style", "noscript", "template", "svg", "iframe", "object", "select", "button", "input", "textarea",
    "head", "nav", "footer", "video", "audio", "canvas", "map", "option", "label",
})  # fmt: skip
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar"})
_ASIDE = re.compile(
    r"(?:^|\s)(?:(?:site|page|main|global)[_-])?footer(?:$|[\s_-])|(?:^|[\s_-])(?:breadcrumbs?|cookies?|consent|skip-?link|social|share|sharing|menu)(?:$|[\s_-])",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DEEPEST = 200
_NAMING = ("class", "id", "data-hook", "data-testid", "itemprop")
_LONGEST_LINE, _LONGEST_LABEL = 400, 20

_LONGEST_ITEM, _MOST_ITEMS = 60, 60
_BEGINS_WITH_A_DAY = re.compile(
    rf"{MONTH}\s*\d{{1,2}}\b|\d{{1,2}}(?:e|st|nd|rd|th|\.)?\s+{MONTH}|\d{{1,2}}[/.-]\d{{1,2}}\b", re.IGNORECASE
)
_A_LIST = 2
LINE = "line"
"""The tag of what is a line of a paragraph, where lines are listed with `<br>`."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


class Element:
    """An element of the outline: its tag, attributes, parent, and what is in it in order (elements and strings)."""

    __slots__ = (
        "_lines",
        "_names",
        "_text",
        "_under",
        "attributes",
        "children",
        "content",
        "kind",
        "node",
        "order",
        "parent",
        "tag",
    )

    def __init__(self, node: LexborNode, parent: "Element | None", tag: str, attributes: dict[str, str | None]) -> None:
        """An element of the tree, or a piece of it with a tag of its own; still empty, and not yet in order."""
        self.node = node
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.order = 0
        self.content: list[Element | str] = []
        self.children: list[Element] = []
        self.kind = self._kind()
        self._text: str | None = None
        self._lines: dict[Callable[[Element], bool] | None, Sequence[str]] | None = None
        self._under: list[Element] | None = None
        self._names: str | None = None if self.attributes else ""

    @property
    def text(self) -> str:
        """All its visible text, on one line."""
        if self._text is None:
            self._text = squash(" ".join(part if isinstance(part, str) else part.text for part in self.content))
        return self._text

    @property
    def names(self) -> str:
        """Its class, id and test or script attributes: what its author called it."""
        if self._names is None:
            self._names = " ".join(filter(None, map(self.attributes.get, _NAMING))).lower()
        return self._names

    def _kind(self) -> str:
        """What makes two siblings alike: the tag, for list items and rows; elsewhere with the first class."""
        if self.tag in {"li", "tr", "td", "article", "dt", "dd"}:
            return self.tag
        classes = (self.attributes.get("class") or "").split()
        return f"{self.tag}.{classes[0]}" if classes else self.tag

    def words_before(self) -> str:
        """The text that stands directly before it: in its line, or as the label before that."""
        element, is_inline = self, True
        while element.parent is not None and len(element.parent.text) < _LONGEST_LINE:
            is_inline = is_inline and element.tag in _INLINE
            before: list[str] = []
            for part in element.parent.content:
                if part is element:
                    break
                before.append(part if isinstance(part, str) else part.text)
            if found := squash(" ".join(before)):
                return found if is_inline or len(found) <= _LONGEST_LABEL else ""
            element = element.parent
        return ""

    def walk(self) -> Sequence["Element"]:
        """Itself and everything under it, in order; remembered, since every field of a block is looked for so."""
        if self._under is None:
            found, pending = [], [self]
            while pending:
                element = pending.pop()
                found.append(element)
                pending.extend(reversed(element.children))
            self._under = found
        return self._under

    def lines(self, without: Callable[["Element"], bool] | None = None) -> Sequence[str]:
        """Its text, parted where a reader sees a line end: at `<br>` and around blocks; some elements left out.

        Remembered, since every field of a block is looked for in them.
        """
        if self._lines is None:
            self._lines = {}
        if (lines := self._lines.get(without)) is None:
            parts: list[str] = []
            _collect(self, parts, without)
            lines = self._lines[without] = tuple(filter(None, map(squash, "".join(parts).split("\n"))))
        return lines

    def path(self) -> str:
        """A selector-like path, as evidence of where it stands."""
        steps: list[str] = []
        element: Element | None = self
        while element is not None and len(steps) < 4:  # noqa: PLR2004 - enough to find it again
            steps.append(element.kind)
            element = element.parent
        return " > ".join(reversed(steps))


_INLINE = frozenset({
    "a", "abbr", "b", "big", "cite", "code", "data", "em", "font", "i", "img", "mark", "q", "s", "small", "span",
    "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip


def _collect(element: Element, parts: list[str], without: Callable[[Element], bool] | None) -> None:
    for part in element.content:
        if isinstance(part, str):
            parts.append(part.replace("\n", " "))
        elif part.tag == "br":
            parts.append("\n")
        elif without is None or not without(part):
            edge = " " if part.tag in _INLINE else "\n"
            parts.append(edge)
            _collect(part, parts, without)
            parts.append(edge)


def outline_of(root: LexborNode) -> list[Element]:
    """The outline's elements in document order, the root first."""
    top = Element(root, None, root.tag or "", root.attributes)
    elements = [top]
    pending: list[tuple[LexborNode, Element, int]] = [(root, top, 0)]
    while pending:
        node, element, depth = pending.pop()
        added: list[tuple[LexborNode, Element, int]] = []
        child = node.first_child
        while child is not None:
            if child.is_text_node:
                text = child.text_content
                if text:
                    element.content.append(text)
            elif child.is_element_node and depth < _DEEPEST and (found := _seen(child, element)) is not None:
                element.content.append(found)
                element.children.append(found)
                added.append((child, found, depth + 1))
            child = child.next
        pending.extend(reversed(added))
        if element is not top:
            elements.append(element)
    return _numbered(elements)


def with_lines(elements: list[Element], is_dated: Callable[[str], bool]) -> list[Element]:
    """The outline in which the lines of a paragraph are elements, where several of them begin with a date."""
    listed = [
        element for element in elements if element.tag == "pre" or any(child.tag == "br" for child in element.children)
    ]
    parted = [element for element in listed if _part(element, is_dated)]
    return _numbered(list(elements[0].walk())) if parted else elements


def _part(element: Element, is_dated: Callable[[str], bool]) -> bool:
    lines = [Element(element.node, element, LINE, {})]
    for part in element.content:
        if not isinstance(part, str) and part.tag == "br":
            lines.append(Element(element.node, element, LINE, {}))
        elif isinstance(part, str) and element.tag == "pre" and "\n" in part:
            for place, written in enumerate(part.split("\n")):
                if place:
                    lines.append(Element(element.node, element, LINE, {}))
                lines[-1].content.append(written)
        else:
            lines[-1].content.append(part)
    lines = [line for line in lines if line.text]
    if sum(is_dated(line.text) for line in lines) < _A_LIST:
        return False
    for line in lines:
        line.children = [part for part in line.content if isinstance(part, Element)]
        for child in line.children:
            child.parent = line
    element.content, element.children = [*lines], lines
    return True


def _numbered(elements: list[Element]) -> list[Element]:
    for order, element in enumerate(elements):
        element.order = order
    return elements


def _closes_an_item(node: LexborNode) -> bool:
    """Whether it is the footer of a card or an article, where cards tell their dates, and not the page's."""
    return node.tag == "footer" and node.parent is not None and node.parent.tag in {"article", "section", "li", "a"}


def _seen(node: LexborNode, parent: Element) -> Element | None:
    """The element as a reader of the page sees it; None for what belongs to the page's frame, or is hidden."""
    tag = node.tag or ""
    if tag in _LEFT_OUT and not _closes_an_item(node):
        return None
    attributes = node.attributes
    left_out = attributes and _is_left_out(tag, attributes) and not _drops_down_days(node, attributes)
    return None if left_out else Element(node, parent, tag, attributes)


def _drops_down_days(node: LexborNode, attributes: dict[str, str | None]) -> bool:
    """Whether a drop-down menu lists days: those of papers or meetings, and not a site's pages."""
    if "dropdown" not in (attributes.get("class") or "").replace("-", ""):
        return False
    items = list(islice(node.iter(), _MOST_ITEMS))
    links = [link for item in items if (link := item if item.tag == "a" else item.child) is not None]
    texts = [squash(link.text())[: _LONGEST_ITEM + 1] for link in links if link.tag == "a"]
    days = sum(len(text) <= _LONGEST_ITEM and _BEGINS_WITH_A_DAY.match(text) is not None for text in texts)
    return days >= _A_LIST and 5 * days >= 4 * len(texts)


def _is_left_out(tag: str, attributes: dict[str, str | None]) -> bool:
    style = attributes.get("style")
    if "dropdown" in {attributes.get("data-toggle"), attributes.get("data-bs-toggle")}:  # what opens a menu
        return True
    if attributes.get("role") in _ROLES or "hidden" in attributes or (style and _HIDDEN.search(style)):
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    return tag not in {"body", "html", "main"} and _ASIDE.search(names) is not None
