"""One walk over a page: its words, its heading, its buttons, its notices of stock, each with its place."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.core.identity import normalized
from tidemill.reading.document import Document
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.marks import (
    BUY,
    BUY_NAMES,
    LASTING,
    OTHERS,
    Mark,
    Marks,
    marks_of,
    marks_of_style,
    marks_of_tag,
)
from tidemill.verticals.prices.reading.price_text import UNSEEN

_MENUS = frozenset({"nav", "footer"})
_BUTTONS = frozenset({"button", "input", "a"})
_PLAIN = frozenset(
    {"div", "span", "p", "li", "ul", "b", "strong", "em", "i", "small", "td", "tr", "table", "tbody", "br"}
)
"""Elements that say nothing by themselves: without a name they are passed through at once, and most are such."""
_NEAR = 4
_LONGEST_BUTTON, _LONGEST_NOTICE, _LONGEST_TITLE = 60, 90, 400


class PageWord(msgspec.Struct, frozen=True, gc=False):
    """A string on the page, with the element that it stands in and what the places around it make of it."""

    order: int
    text: str
    node: LexborNode
    marks: Marks
    href: str


class Button(msgspec.Struct, frozen=True, gc=False):
    """Something to press, in its own words."""

    order: int
    text: str
    enabled: bool
    sells: bool
    marks: Marks
    node: LexborNode


class LabelledElement(msgspec.Struct, frozen=True, gc=False):
    """An element that is named for what it tells: the stock, or the brand."""

    order: int
    node: LexborNode
    names: str
    marks: Marks


class Landmarks(msgspec.Struct, frozen=True):
    """What the walk found, in the order of the page."""

    words: list[PageWord]
    buttons: list[Button]
    notices: list[LabelledElement]
    heading: LexborNode | None
    heading_order: int
    brands: list[LabelledElement] = msgspec.field(default_factory=list)


class _Here(msgspec.Struct, frozen=True, gc=False):
    """What an element inherits from those that it stands in."""

    lasting: Marks
    near: tuple[Marks, ...]
    href: str


_START = _Here(Mark.NONE, (), "")


def landmarks(document: Document, title: str = "") -> Landmarks:
    """Walk the page once; `title` is what structured data calls the product, to know its heading by."""
    document = unscripted(document)
    root = document.bounded_tree.body
    heading = main_heading(document, title)
    if root is None:
        return Landmarks([], [], [], None, -1)
    return _Walk(heading).over(root)


def unscripted(document: Document) -> Document:
    """The page as it is walked: a long one without its scripts and styles, lest they use up what may be looked at."""
    return Document(_UNREAD.sub("", document.markup), document.url) if document.truncated else document


_UNREAD = re.compile(r"<(script|style|svg)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)


def main_heading(document: Document, title: str) -> LexborNode | None:
    """The heading of what the page is about: the `h1` that the data or the page's title repeats, else the first."""
    headings = [node for node in document.bounded_tree.css("h1") if heading_text(node) and not _leads_home(node)]
    wanted = normalized(title or document.title)
    for node in headings:
        if (text := normalized(heading_text(node))) and (text in wanted or (title and wanted in text)):
            return node
    if headings:
        return headings[0]
    others = document.bounded_tree.css(_INSTEAD) if wanted else []
    return next((node for node in others[:_MOST_INSTEAD] if _repeats(normalized(heading_text(node)), wanted)), None)


def _leads_home(node: LexborNode) -> bool:
    """Whether a heading is but the shop's own name, as some write it over every page."""
    link = node.first_child
    while link is not None and link.is_text_node and not (link.text_content or "").strip():
        link = link.next
    return link is not None and link.tag == "a" and link.attributes.get("href") in {"/", "#", ""}


_INSTEAD = "h2, h3, [itemprop=name], [class*=itle], [class*=ame], [id*=itle], [id*=ame], [class*=eading]"
"""What pages without an `h1` title their product by."""
_MOST_INSTEAD, _ENOUGH_OF_IT = 80, 0.3


def _repeats(text: str, title: str) -> bool:
    """Whether words are the page's title, but for a shop's name or a slogan at one end of either."""
    shorter, longer = sorted((text, title), key=len)
    if not shorter or len(shorter) < _ENOUGH_OF_IT * len(longer):
        return False
    return longer.startswith(shorter) or longer.endswith(shorter)


def heading_text(node: LexborNode) -> str:
    """A heading's words on one line."""
    return squash(node.text(separator=" "))[:_LONGEST_TITLE]


class _Walk:
    """The state of one walk; recursion would be too deep for some pages."""

    def __init__(self, heading: LexborNode | None) -> None:
        self._heading = heading
        self._above_heading = {node.mem_id for node in _upwards(heading)}
        self._found = Landmarks([], [], [], heading, -1)
        self._heading_order = -1
        self._order = 0

    def over(self, root: LexborNode) -> Landmarks:
        pending: list[tuple[LexborNode, _Here]] = [(root, _START)]
        while pending:
            node, here = pending.pop()
            if (following := node.next) is not None and node is not root:
                pending.append((following, _behind(node, here)))
            if node.is_text_node:
                self._word(node, here)
            elif self._is_walked(node):
                inside = self._entered(node, here)
                if (child := node.first_child) is not None:
                    pending.append((child, inside))
        return msgspec.structs.replace(self._found, heading_order=self._heading_order)

    def _is_walked(self, node: LexborNode) -> bool:
        """Whether an element may hold anything of the product: menus do not, unless the heading stands in one."""
        tag = node.tag or ""
        if tag in _MENUS:
            return node.mem_id in self._above_heading
        return tag not in UNSEEN and not tag.startswith("-")

    def _word(self, node: LexborNode, here: _Here) -> None:
        text = node.text_content
        parent = node.parent
        if not text or text.isspace() or parent is None:
            return
        self._order += 1
        marks = here.lasting
        for near in here.near:
            marks |= near
        self._found.words.append(PageWord(self._order, text, parent, marks, here.href))

    def _entered(self, node: LexborNode, here: _Here) -> _Here:
        attributes, tag, place = node.attributes, node.tag or "", node.mem_id
        if not attributes and tag in _PLAIN and place not in self._above_heading:
            return _Here(here.lasting, (*here.near, Mark.NONE)[-_NEAR:], here.href)
        if self._heading is not None and place == self._heading.mem_id:
            self._heading_order = self._order
        names = names_of(attributes)
        own = marks_of_tag(tag) | (marks_of(names) if names else Mark.NONE)
        if style := attributes.get("style"):
            own |= marks_of_style(style)
        if "hidden" in attributes:
            own |= Mark.HIDDEN
        if attributes.get("itemprop") == "price" or "data-price-amount" in attributes:
            own |= Mark.PRICE
        lasting = here.lasting
        if place in self._above_heading:
            own, lasting = own & ~(LASTING | Mark.OLD), lasting & ~LASTING
        marks = own | lasting
        if tag in _BUTTONS or attributes.get("role") == "button":
            self._button(node, tag, names, marks)
        if own & Mark.STOCK:
            self._found.notices.append(LabelledElement(self._order, node, names, marks))
        if own & Mark.BRAND:
            self._found.brands.append(LabelledElement(self._order, node, names, marks))
        href = (attributes.get("href") or "") if tag == "a" else here.href
        lasting = marks & LASTING | (Mark.OLD if tag in {"del", "s", "strike"} else lasting & Mark.OLD)
        return _Here(lasting, (*here.near, own)[-_NEAR:], href)

    def _button(self, node: LexborNode, tag: str, names: str, marks: Marks) -> None:
        attributes = node.attributes
        if tag == "input" and (attributes.get("type") or "").lower() not in {"submit", "button", "image"}:
            return
        text = squash(node.text(separator=" ") or attributes.get("value") or attributes.get("aria-label") or "")
        if len(text) > _LONGEST_BUTTON:
            return
        named = f"{names} {attributes.get('name') or ''} {attributes.get('data-action') or ''}"
        sells = _offers(text) or _is_named_to_sell(named if tag != "a" else names)
        if tag == "a" and not sells:
            return
        off = "disabled" in attributes or "disabled" in names.lower() or attributes.get("aria-disabled") == "true"
        self._found.buttons.append(Button(self._order, text, not off, sells, marks, node))


def _behind(node: LexborNode, here: _Here) -> _Here:
    """What holds for what follows an element: behind a heading such as 'Related products' stand others."""
    if node.is_text_node or here.lasting & Mark.ASIDE:
        return here
    heading = node if node.tag in _HEADINGS else None
    if heading is None and node.tag in {"div", "header"}:
        first = node.first_child
        while first is not None and first.is_text_node:
            first = first.next
        heading = first if first is not None and first.tag in _HEADINGS and first.next is None else None
    if heading is None or not OTHERS.search(heading_text(heading)[:_LONGEST_BUTTON]):
        return here
    return msgspec.structs.replace(here, lasting=here.lasting | Mark.ASIDE)


_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})


def names_of(attributes: Mapping[str, str | None]) -> str:
    """What an element is called: by its classes, its id, and the names that testers and themes give it."""
    return " ".join(filter(None, map(attributes.get, _NAMING)))


_NAMING = ("class", "id", "data-testid", "data-test", "data-hook", "data-qa", "data-automation", "itemprop")


@lru_cache(maxsize=8_192)
def _offers(words: str) -> bool:
    """Whether a button's words sell; a shop's pages have the same menus, so that most are known already."""
    return BUY.search(words) is not None


@lru_cache(maxsize=8_192)
def _is_named_to_sell(names: str) -> bool:
    return BUY_NAMES.search(names) is not None


def _upwards(node: LexborNode | None) -> Iterator[LexborNode]:
    while node is not None:
        yield node
        node = node.parent
