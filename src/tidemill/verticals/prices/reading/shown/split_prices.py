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
_LONGEST_WORDS = 2_000
"""Characters around the cents of a price, words beside it included."""
_CLIMB = 3
_MOST_PIECES = 200
"""Elements and strings within the box of one price, and elements beside a number that may be its cents."""
SIGN_ALONE = re.compile(SIGN)


def whole_price(text_node: TextNode) -> tuple[LexborNode, str]:
    """The smallest element around a number that holds its sign and its cents too, with its words."""
    node, text = text_node.node, squash(text_node.text)
    if is_former_price(text):
        return node, text
    if is_fraction(node, text) and node.parent is not None and not _is_longer(node.parent, _LONGEST_WORDS):
        node = node.parent
        text = text_within(node)
        if BARE.fullmatch(text):
            return node, text
    elif _holds_cents(node) and not _is_longer(node, _LONGEST_WORDS):
        text = text_within(node)
    return _in_pieces(node) or _widened(node, text)


def _widened(node: LexborNode, text: str) -> tuple[LexborNode, str]:
    """The element, or the nearest around it that holds a whole price, with its words."""
    bare, split = (node, text), _cents_follow(node)
    for _ in range(_CLIMB):
        if AMOUNT.search(text) and not _cents_follow(node):
            return node, text
        parent = node.parent
        if parent is None or _is_longer(parent, 4 * _LONGEST_PRICE):
            break
        wider = text_within(parent)
        if len(wider) > _LONGEST_PRICE:
            break
        if split and BARE.fullmatch(wider):
            return parent, wider  # no sign anywhere, but its cents
        node, text = parent, wider
    return (node, text) if AMOUNT.search(text) else bare


def _is_longer(node: LexborNode, most: int) -> bool:
    """Whether an element holds more characters, or more pieces than any price; no more is looked at than shows it."""
    length = 0
    for number, child in enumerate(node.traverse(include_text=True)):
        length += len(child.text_content or "") if child.is_text_node else 0
        if length > most or number > _MOST_PIECES:
            return True
    return False


def _in_pieces(node: LexborNode) -> tuple[LexborNode, str] | None:
    """The box of a number that holds a sign, the number and, by themselves, two more digits: its cents."""
    box = node.parent
    if box is None or len(pieces := list(islice(_pieces(box), 5))) not in {3, 4}:
        return None
    match = _PIECES.fullmatch("\n".join(pieces))
    if match is None:
        return None
    whole = _GROUPS.sub("", match["whole"])
    number = f"{whole}{match['point'] or '.'}{match['cents']}"
    return box, f"{match['before'] or ''}{number}{match['between'] or match['behind'] or ''}"


_PIECES = re.compile(
    rf"(?:(?P<before>{SIGN})\n)?(?P<whole>\d{{1,4}}|\d{{1,3}}(?:[ .,'\u00a0\u202f]\d{{3}})+)\n"
    rf"(?:(?P<between>{SIGN})\n)?(?:(?P<point>[.,])\n?)?(?P<cents>\d{{2}})"
    rf"(?:\n(?P<behind>{SIGN}))?"
)


_GROUPS = re.compile(r"[ .,'\u00a0\u202f]")


def _pieces(box: LexborNode) -> Iterator[str]:
    for child in box.traverse(include_text=True):
        if child.is_text_node and (text := (child.text_content or "").strip()):
            yield text


def _holds_cents(node: LexborNode) -> bool:
    children = islice(node.iter(include_text=False), _MOST_PIECES)
    return any(is_fraction(child, child.text(deep=True)) for child in children)


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
        if 0 <= at < len(texts) and SIGN_ALONE.fullmatch(sign := texts[at].text.strip()):
            boxes = {texts[at].node.mem_id, _box(texts[at].node)}
            if boxes & {here.node.mem_id, _box(here.node)}:
                return f"{sign}{number}" if at < index else f"{number}{sign}"
    return number


def _box(node: LexborNode) -> int:
    return node.parent.mem_id if node.parent is not None else node.mem_id
