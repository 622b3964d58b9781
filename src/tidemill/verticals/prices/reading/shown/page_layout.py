"""One walk over a page: its texts, heading, buttons, and elements named for stock or brand, with their hints."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.core.identity import normalized
from tidemill.reading.document import Document
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.shown.hints import (
    BUY_CLASS_NAMES,
    BUY_TEXT,
    INHERITED,
    RELATED_HEADINGS,
    Hint,
    Hints,
    hints_of,
    hints_of_style,
    hints_of_tag,
)
from tidemill.verticals.prices.reading.shown.price_text import INVISIBLE

_MENUS = frozenset({"nav", "footer"})
_BUTTONS = frozenset({"button", "input", "a"})
_PLAIN = frozenset(
    {"div", "span", "p", "li", "ul", "b", "strong", "em", "i", "small", "td", "tr", "table", "tbody", "br"}
)
"""Elements that say nothing by themselves: without a name they are passed through at once, and most are such."""
_ROWS, _GROUPS = frozenset({"tr", "dt", "li"}), frozenset({"table", "ul", "ol", "dl"})
DATA_NAMES = frozenset(
    "data-product-sku data-sku data-product-ean data-ean data-gtin data-upc data-product-brand data-brand".split()  # noqa: SIM905 - a table of words
)
"""Attributes that tell an article's number or brand."""
_STRUCK = frozenset({"del", "s", "strike"})
_NAMED_HINTS = Hint.STOCK | Hint.BRAND | Hint.PRICE
_LONGEST_BUTTON, _LONGEST_NOTICE, _LONGEST_TITLE = 60, 90, 400


class TextNode(msgspec.Struct, frozen=True, gc=False):
    """A text node with its parent element and the hints that it inherits; `order` is its number on the page."""

    order: int
    text: str
    node: LexborNode
    hints: Hints
    href: str


class Button(msgspec.Struct, frozen=True, gc=False):
    """A button or link that works as one; `sells` if its text or class says so."""

    order: int
    text: str
    enabled: bool
    sells: bool
    hints: Hints
    node: LexborNode


class LabelledElement(msgspec.Struct, frozen=True, gc=False):
    """An element whose class or id names what it holds: the stock, the brand, the price."""

    order: int
    node: LexborNode
    names: str
    hints: Hints


class PageLayout(msgspec.Struct, frozen=True):
    """What one walk over the page found, in the order of the page.

    `rows` are the rows of tables and the items of lists, `groups` the tables and lists themselves; `data` are the
    values of the attributes that name a number or a brand.
    """

    texts: Sequence[TextNode] = ()
    buttons: Sequence[Button] = ()
    stock_elements: Sequence[LabelledElement] = ()
    brand_elements: Sequence[LabelledElement] = ()
    price_elements: Sequence[LabelledElement] = ()
    rows: Sequence[LexborNode] = ()
    groups: Sequence[LexborNode] = ()
    data: Mapping[str, Sequence[str]] = {}
    heading: LexborNode | None = None
    heading_order: int = -1


EMPTY_LAYOUT = PageLayout()


class _Inherited(NamedTuple):
    """What an element inherits from its ancestors; `nearby` are the hints of the closest few, `hints` all together."""

    inherited: Hints
    nearby: tuple[Hints, ...]
    href: str
    hints: Hints


_NEARBY_LEVELS = 4
_START = _Inherited(Hint.NONE, (Hint.NONE,) * _NEARBY_LEVELS, "", Hint.NONE)


def layout_of(document: Document, title: str = "", *, whole: bool = True) -> PageLayout:
    """Walk the page once; `title` is what structured data calls the product, to know its heading by.

    What is `aside` (menus, other products, reviews) is two thirds of a shop's page, and gives a product's page
    nothing: unless the `whole` is asked for, one empty text stands for each such part.
    """
    root = document.bounded_tree.body
    heading = main_heading(document, title)
    if root is None:
        return EMPTY_LAYOUT
    return _Walk(heading, whole=whole).over(root)


def main_heading(document: Document, title: str) -> LexborNode | None:
    """The heading of what the page is about: the `h1` that the data or the page's title repeats, else the first."""
    headings = [node for node in document.bounded_tree.css("h1") if heading_text(node) and not _leads_home(node)]
    wanted = normalized(title or document.title)
    for node in headings:
        if (text := normalized(heading_text(node))) and (text in wanted or (title and wanted in text)):
            return node
    if headings:
        return headings[0]
    others = document.bounded_tree.css(_OTHER_TITLES) if wanted else []
    return next(
        (node for node in others[:_MOST_OTHER_TITLES] if _repeats(normalized(heading_text(node)), wanted)), None
    )


def _leads_home(node: LexborNode) -> bool:
    """Whether a heading is but the shop's own name, as some write it over every page."""
    link = node.first_child
    while link is not None and link.is_text_node and not (link.text_content or "").strip():
        link = link.next
    return link is not None and link.tag == "a" and link.attributes.get("href") in {"/", "#", ""}


_OTHER_TITLES = "h2, h3, [itemprop=name], [class*=itle], [class*=ame], [id*=itle], [id*=ame], [class*=eading]"
"""What pages without an `h1` title their product by."""
_MOST_OTHER_TITLES, _SHORTEST_SHARE = 80, 0.3


def _repeats(text: str, title: str) -> bool:
    """Whether words are the page's title, but for a shop's name or a slogan at one end of either."""
    shorter, longer = sorted((text, title), key=len)
    if not shorter or len(shorter) < _SHORTEST_SHARE * len(longer):
        return False
    return longer.startswith(shorter) or longer.endswith(shorter)


def heading_text(node: LexborNode) -> str:
    """A heading's words on one line."""
    return squash(node.text(separator=" "))[:_LONGEST_TITLE]


class _Walk:
    """The state of one walk; recursion would be too deep for some pages."""

    def __init__(self, heading: LexborNode | None, *, whole: bool) -> None:
        self._heading = heading
        self._heading_place = heading.mem_id if heading is not None else 0
        self._above_heading = {node.mem_id for node in _upwards(heading)}
        self._own_blocks = _blocks_of(heading)
        self._left_out = Hint.NONE if whole else Hint.ASIDE
        self._heading_order = -1
        self._order = 0
        self._texts: list[TextNode] = []
        self._buttons: list[Button] = []
        self._stock_elements: list[LabelledElement] = []
        self._brand_elements: list[LabelledElement] = []
        self._price_elements: list[LabelledElement] = []
        self._rows: list[LexborNode] = []
        self._groups: list[LexborNode] = []
        self._data: dict[str, list[str]] = {}

    def over(self, root: LexborNode) -> PageLayout:
        pending: list[tuple[LexborNode, LexborNode, _Inherited]] = [(root, root, _START)]
        while pending:
            node, parent, here = pending.pop()
            if (following := node.next) is not None and node is not root:
                pending.append((following, parent, _after(node, here)))
            tag = node.tag or ""
            if tag == "-text":
                if not here.inherited & self._left_out:
                    self._text_node(node, parent, here)
            elif self._is_walked(node, tag):
                inside = self._entered(node, tag, here)
                if inside.inherited & self._left_out:
                    self._leave_out(node, inside)
                elif (child := node.first_child) is not None:
                    pending.append((child, node, inside))
        return PageLayout(
            texts=self._texts,
            buttons=self._buttons,
            stock_elements=self._stock_elements,
            brand_elements=self._brand_elements,
            price_elements=self._price_elements,
            rows=self._rows,
            groups=self._groups,
            data=self._data,
            heading=self._heading,
            heading_order=self._heading_order,
        )

    def _is_walked(self, node: LexborNode, tag: str) -> bool:
        """Whether an element may hold anything of the product: menus do not, unless the heading stands in one."""
        if tag in _MENUS:
            return node.mem_id in self._above_heading
        return tag not in INVISIBLE and not tag.startswith("-")

    def _text_node(self, node: LexborNode, parent: LexborNode, here: _Inherited) -> None:
        text = node.text_content
        if not text or text.isspace():
            return
        self._order += 1
        self._texts.append(TextNode(self._order, text, parent, here.hints, here.href))

    def _leave_out(self, node: LexborNode, inside: _Inherited) -> None:
        """Let one empty text stand for a part of the page, so that what stands on either side of it is no neighbour."""
        if self._texts and not self._texts[-1].text:
            return
        self._order += 1
        self._texts.append(TextNode(self._order, "", node, inside.hints, ""))

    def _entered(self, node: LexborNode, tag: str, here: _Inherited) -> _Inherited:
        attributes, place = node.attributes, node.mem_id
        is_above = place in self._above_heading
        if tag in _ROWS:
            self._rows.append(node)
        elif tag in _GROUPS:
            self._groups.append(node)
        if not attributes and tag in _PLAIN and not is_above:
            return _below(here, Hint.NONE, here.inherited, here.href)
        if place == self._heading_place:
            self._heading_order = self._order
        names = names_of(attributes)
        own, inherited = self._own_hints(tag, names, attributes), here.inherited
        if is_above:
            own, inherited = own & ~(INHERITED | Hint.OLD), inherited & ~INHERITED
        hints = own | inherited
        if not hints & self._left_out:
            self._noted(node, tag, names, own, hints)
        href = (attributes.get("href") or "") if tag == "a" else here.href
        inherited = hints & INHERITED | (Hint.OLD if tag in _STRUCK else inherited & Hint.OLD)
        return _below(here, own, inherited, href)

    def _own_hints(self, tag: str, names: str, attributes: Mapping[str, str | None]) -> Hints:
        """What an element says by itself: by its tag, its names, and its attributes."""
        own = hints_of_tag(tag) | (hints_of(names) if names else Hint.NONE)
        if own & Hint.ASIDE and self._own_blocks and _is_part_of(self._own_blocks, names):
            own &= ~Hint.ASIDE
        if style := attributes.get("style"):
            own |= hints_of_style(style)
        if "hidden" in attributes:
            own |= Hint.HIDDEN
        if attributes.get("itemprop") == "price" or "data-price-amount" in attributes:
            own |= Hint.PRICE
        return own

    def _noted(self, node: LexborNode, tag: str, names: str, own: Hints, hints: Hints) -> None:
        """Keep an element that is a button, or is named for something, or tells a number in an attribute."""
        attributes = node.attributes
        if tag in _BUTTONS or attributes.get("role") == "button" or _is_plain_button(node, names):
            self._button(node, tag, names, hints)
        if own & _NAMED_HINTS:
            self._named_element(LabelledElement(self._order, node, names, hints), own)
        if not DATA_NAMES.isdisjoint(attributes):
            for name in DATA_NAMES & attributes.keys():
                self._data.setdefault(name, []).append(attributes[name] or "")

    def _named_element(self, element: LabelledElement, own: Hints) -> None:
        if own & Hint.STOCK:
            self._stock_elements.append(element)
        if own & Hint.BRAND:
            self._brand_elements.append(element)
        if own & Hint.PRICE and self._heading_order >= 0:
            self._price_elements.append(element)

    def _button(self, node: LexborNode, tag: str, names: str, hints: Hints) -> None:
        attributes = node.attributes
        if tag == "input" and (attributes.get("type") or "").lower() not in {"submit", "button", "image"}:
            return
        text = squash(node.text(separator=" ") or attributes.get("value") or attributes.get("aria-label") or "")
        if len(text) > _LONGEST_BUTTON:
            return
        named = f"{names} {attributes.get('name') or ''} {attributes.get('data-action') or ''}"
        sells = _is_buy_text(text) or _has_buy_class(named if tag != "a" else names)
        if tag == "a" and not sells:
            return
        off = "disabled" in attributes or "disabled" in names.lower() or attributes.get("aria-disabled") == "true"
        self._buttons.append(Button(self._order, text, not off, sells, hints, node))


def _is_plain_button(node: LexborNode, names: str) -> bool:
    """Whether a plain element is named like a button and says no more than what a button that sells says."""
    first = node.first_child
    if first is None or not first.is_text_node or first.next is not None or not _has_button_name(names):
        return False
    return _is_buy_text(squash(first.text_content or "")[:_LONGEST_BUTTON])


@lru_cache(maxsize=8_192)
def _has_button_name(names: str) -> bool:
    return _BUTTON_NAMES.search(names) is not None


_BUTTON_NAMES = re.compile(r"(?<![a-z])(?:btn|button|buy|cart|order)(?![a-z]*(?:list|info|total))", re.IGNORECASE)


def _below(here: _Inherited, own: Hints, inherited: Hints, href: str) -> _Inherited:
    """What holds within an element whose `own` hints these are."""
    _, first, second, third = here.nearby
    return _Inherited(inherited, (first, second, third, own), href, inherited | first | second | third | own)


def _after(node: LexborNode, here: _Inherited) -> _Inherited:
    """What holds for what follows an element: behind a heading such as 'Related products' stand others."""
    tag = node.tag
    if (tag not in _HEADINGS and tag not in _HOLDERS) or here.inherited & Hint.ASIDE:
        return here
    heading = node if tag in _HEADINGS else None
    if heading is None:
        first = node.first_child
        while first is not None and first.is_text_node:
            first = first.next
        heading = first if first is not None and first.tag in _HEADINGS and first.next is None else None
    if heading is None or not RELATED_HEADINGS.search(heading_text(heading)[:_LONGEST_BUTTON]):
        return here
    return here._replace(inherited=here.inherited | Hint.ASIDE, hints=here.hints | Hint.ASIDE)


_HOLDERS = frozenset({"div", "header"})
_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})


def names_of(attributes: Mapping[str, str | None]) -> str:
    """What an element is called: by its classes, its id, and the names that testers and themes give it."""
    if len(attributes) == 1:
        return attributes.get("class") or next(filter(None, map(attributes.get, _NAMING)), "")
    return " ".join(filter(None, map(attributes.get, _NAMING)))


_NAMING = ("class", "id", "data-testid", "data-test", "data-hook", "data-qa", "data-automation", "itemprop")


@lru_cache(maxsize=8_192)
def _is_buy_text(words: str) -> bool:
    """Whether a button's words sell; a shop's pages have the same menus, so that most are known already."""
    return BUY_TEXT.search(words) is not None


@lru_cache(maxsize=8_192)
def _has_buy_class(names: str) -> bool:
    return BUY_CLASS_NAMES.search(names) is not None


def _blocks_of(heading: LexborNode | None) -> frozenset[str]:
    """The blocks that the heading's class names it a part of: `product-card` of `product-card__title`."""
    names = names_of(heading.attributes).split() if heading is not None else []
    return frozenset(name.partition("__")[0] for name in names if "__" in name)


def _is_part_of(blocks: frozenset[str], names: str) -> bool:
    """Whether every name that sounds like other products' is that of a part of the heading's own block."""
    return all(
        name.partition("__")[0] in blocks and "__" in name for name in names.split() if hints_of(name) & Hint.ASIDE
    )


def _upwards(node: LexborNode | None) -> Iterator[LexborNode]:
    while node is not None:
        yield node
        node = node.parent
