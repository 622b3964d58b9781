"""Prices whose sign, number and cents stand in elements of their own, put together."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from selectolax.lexbor import LexborNode

from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.shown.amounts import AMOUNT, BARE, SIGN, is_former_price
from tidemill.verticals.prices.reading.shown.page_layout import TextNode
from tidemill.verticals.prices.reading.shown.price_text import is_fraction, text_within

_LONGEST_PRICE = 40
_CLIMB = 3
_SIGN_ALONE = re.compile(SIGN)


def whole_price(text_node: TextNode) -> tuple[LexborNode, str]:
    """The smallest element around a number that holds its sign and its cents too, with its words."""
    node, text = text_node.node, squash(text_node.text)
    if is_former_price(text):
        return node, text
    if is_fraction(node, text) and node.parent is not None:
        node = node.parent
        text = text_within(node)
        if BARE.fullmatch(text):
            return node, text
    elif _holds_cents(node):
        text = text_within(node)
    return _in_pieces(node) or _widened(node, text)


def _widened(node: LexborNode, text: str) -> tuple[LexborNode, str]:
    """The element, or the nearest around it that holds a whole price, with its words."""
    bare, split = (node, text), _cents_follow(node)
    for _ in range(_CLIMB):
        if AMOUNT.search(text) and not _cents_follow(node):
            return node, text
        parent = node.parent
        if parent is None or len(parent.text(deep=True)) > 4 * _LONGEST_PRICE:
            break
        wider = text_within(parent)
        if len(wider) > _LONGEST_PRICE:
            break
        if split and BARE.fullmatch(wider):
            return parent, wider  # no sign anywhere, but its cents
        node, text = parent, wider
    return (node, text) if AMOUNT.search(text) else bare


def _in_pieces(node: LexborNode) -> tuple[LexborNode, str] | None:
    """The box of a number that holds a sign, the number and, by themselves, two more digits: its cents."""
    box = node.parent
    if box is None or len(pieces := list(islice(_pieces(box), 5))) not in {3, 4}:
        return None
    match = _PIECES.fullmatch("\n".join(pieces))
    if match is None:
        return None
    number = f"{match['whole']}{match['point'] or '.'}{match['cents']}"
    return box, f"{match['before'] or ''}{number}{match['behind'] or ''}"


_PIECES = re.compile(
    rf"(?:(?P<before>{SIGN})\n)?(?P<whole>\d{{1,4}})\n(?:(?P<point>[.,])\n?)?(?P<cents>\d{{2}})"
    rf"(?:\n(?P<behind>{SIGN}))?"
)


def _pieces(box: LexborNode) -> Iterator[str]:
    for child in box.traverse(include_text=True):
        if child.is_text_node and (text := (child.text_content or "").strip()):
            yield text


def _holds_cents(node: LexborNode) -> bool:
    return any(is_fraction(child, child.text(deep=True)) for child in node.iter(include_text=False))


def _cents_follow(node: LexborNode) -> bool:
    """Whether the next element holds the cents."""
    after = node.next
    while after is not None and not (text := _text_of(after)).strip(" \n\t.,"):
        after = after.next
    return after is not None and not after.is_text_node and is_fraction(after, text)


def _text_of(node: LexborNode) -> str:
    return (node.text_content or "") if node.is_text_node else node.text(deep=True)


def with_detached_sign(texts: Sequence[TextNode], index: int, number: str) -> str:
    """A number with the sign that stands by itself before or behind it, within one box."""
    here = texts[index]
    for at in (index - 1, index + 1):
        if 0 <= at < len(texts) and _SIGN_ALONE.fullmatch(sign := texts[at].text.strip()):
            boxes = {texts[at].node.mem_id, _box(texts[at].node)}
            if boxes & {here.node.mem_id, _box(here.node)}:
                return f"{sign}{number}" if at < index else f"{number}{sign}"
    return number


def _box(node: LexborNode) -> int:
    return node.parent.mem_id if node.parent is not None else node.mem_id
