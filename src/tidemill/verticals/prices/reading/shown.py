"""The prices that a page shows, each with the words around it: what a reader of the page could take for the price."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.reading.money import Money, parse_money
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.amounts import AMOUNT, BARE, LABELLED, NUMBER, WITH_CENTS, tells_a_former
from tidemill.verticals.prices.reading.assembling import whole, with_lone_sign
from tidemill.verticals.prices.reading.landmarks import Landmarks, PageWord
from tidemill.verticals.prices.reading.marks import Mark, Marks, marks_before, marks_behind

_DIGIT = re.compile(r"\d")
_BETWEEN = re.compile(r"\s*(?:-|\u2013|\u2014|~|to|tot|bis|à|do|até|a)\s*", re.IGNORECASE)
_FROM = re.compile(
    r"\b(?:from|vanaf|v\.a\.|ab|fra|från|à partir de|a partir de|desde|od|da|starting at|as low as|от)\W*$",
    re.IGNORECASE,
)
_LONGEST_TEXT, _LONGEST_LABEL, _LONGEST_LINE = 300, 60, 60
_MOST_WORDS = 6_000
_DIFFERENCES = frozenset({"-", "+", "\u2212"})
_CLIMB = 3


class PriceSpot(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A price on the page: its amount, where it stands, and what the places and words around it make of it.

    `alone` says that its element holds nothing else.
    """

    order: int
    money: Money
    marks: Marks
    node: LexborNode
    href: str
    text: str
    label: str = ""
    alone: bool = False

    @property
    def amount(self) -> Decimal:
        """How much it says."""
        return self.money.amount


def spots(found: Landmarks, near: str = "") -> list[PriceSpot]:
    """Every price among the page's words; `near` is the page's own currency, which decides what `$` means."""
    seen: set[tuple[int, int]] = set()
    result: list[PriceSpot] = []
    for index, word in enumerate(found.words[:_MOST_WORDS]):
        if len(word.text) <= _LONGEST_TEXT and _DIGIT.search(word.text) and _may_be_priced(word):
            result += [spot for spot in _spots_at(found, index, word, near, seen) if not _is_a_name(spot, found, near)]
    return result


def _is_a_name(spot: PriceSpot, found: Landmarks, near: str) -> bool:
    """Whether a number is part of a name: `R5` where nobody pays in rand, or what the heading itself says."""
    if spot.text[0] == "R" and spot.text[1:].isdecimal() and near != "ZAR":
        return True
    return found.heading is not None and spot.node.mem_id == found.heading.mem_id and not spot.marks & Mark.PRICE


def _may_be_priced(word: PageWord) -> bool:
    """Whether a string with digits could be a price or a part of one: by its place, its sign, or as a bare number."""
    if word.marks & Mark.PRICE:
        return True
    return _is_an_amount(word.text.strip())


@lru_cache(maxsize=8_192)
def _is_an_amount(text: str) -> bool:
    """Whether a string is a bare number or holds one with a sign; a shop's menus are asked about on every page."""
    return any(way is not None for way in (BARE.fullmatch(text), AMOUNT.search(text), LABELLED.fullmatch(text)))


def _spots_at(
    found: Landmarks, index: int, word: PageWord, near: str, seen: set[tuple[int, int]]
) -> Iterator[PriceSpot]:
    words = found.words
    node, text = whole(word)
    if AMOUNT.search(text) is None and BARE.fullmatch(text):
        text = with_lone_sign(words, index, text)
    matches = list(AMOUNT.finditer(text))
    if not matches:
        if not _is_bare_price(word.marks, text):
            return
        matches = [match for match in [re.search(NUMBER, text)] if match is not None]
    reached, own = 0, _digits(word.text)
    prose = Mark.PROSE if len(text) > _LONGEST_LINE else Mark.NONE
    for number, match in enumerate(matches):
        key = (node.mem_id, match.start())
        if key in seen or (own not in _digits(match[0]) and node.mem_id != word.node.mem_id):
            continue  # another's number, in a box that was widened for this one
        seen.add(key)
        behind = text[match.end() : matches[number + 1].start() if number + 1 < len(matches) else None]
        label = text[reached : match.start()] or (_label(found, index) if number == 0 else "")
        after = behind if behind.strip() else _following(words, index, node if text != squash(word.text) else None)
        reached = match.end()
        if number and _BETWEEN.fullmatch(text[matches[number - 1].end() : match.start()]):
            continue
        upper = matches[number + 1] if number + 1 < len(matches) and _BETWEEN.fullmatch(behind) else None
        spot = _spot(word, node, match[0], upper[0] if upper else "", label, after, near)
        if spot is not None:
            yield msgspec.structs.replace(spot, alone=len(match[0]) == len(text), marks=spot.marks | prose)


def _is_bare_price(marks: Marks, text: str) -> bool:
    """Whether a number without a sign is a price: where prices are named or things bought, or as a former one."""
    if tells_a_former(text):
        return True
    if marks & Mark.PRICE:
        return (BARE.fullmatch(text) or LABELLED.fullmatch(text)) is not None and "%" not in text
    return bool(marks & Mark.MAIN) and WITH_CENTS.fullmatch(text) is not None


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _spot(
    word: PageWord, node: LexborNode, written: str, upper: str, label: str, after: str, near: str
) -> PriceSpot | None:
    money = parse_money(written, near=near)
    if money is None:
        return None
    high = parse_money(upper, near=near) if upper else None
    if high is not None and high.amount > money.amount:
        money = msgspec.structs.replace(money, high=high.amount)
    if _FROM.search(label):
        money = msgspec.structs.replace(money, is_from=True)
    marks = word.marks | marks_before(label[-_LONGEST_LABEL:].lower()) | marks_behind(after[:_LONGEST_LABEL].lower())
    if label[-1:] in _DIFFERENCES:
        marks |= Mark.NO_PRICE  # a sign that touches its number: what is taken off, or comes on top
    return PriceSpot(
        order=word.order, money=money, marks=marks, node=node, href=word.href, text=written, label=squash(label)
    )


def _label(found: Landmarks, index: int) -> str:
    """The words right before a price, if they are no price themselves, nor the tail of another's, nor the title."""
    words = found.words
    before = words[index - 1] if index else None
    if before is not None and found.heading is not None and found.heading.mem_id in _around(before.node):
        return ""
    if before is None or len(before.text) > _LONGEST_LABEL or (before.marks ^ words[index].marks) & Mark.ASIDE:
        return ""
    if (
        _COMPLETE.search(before.text)
        or LABELLED.fullmatch(before.text.strip())
        or AMOUNT.search(before.text)
        or (index > 1 and _belongs(before, words[index - 2], words[index]))
    ):
        return ""
    return before.text


_COMPLETE = re.compile(
    r"(?:\bfree (?:\w+ )?(?:delivery|shipping|postage|returns?)|"
    r"(?:gratis|kostenlose[rn]?) \w*(?:verzending|levering|versand|lieferung|frakt|fragt)|versandkostenfrei|"
    r"livraison (?:gratuite|offerte)|env[ií]o gratis|spedizione gratuita|"
    r"frete gr[áa]tis|darmowa (?:dostawa|wysyłka)|doprava zdarma|fri fra[kg]t|送料無料|免運費?|"
    r"бесплатная доставка)\W*$",
    re.IGNORECASE,
)
"""What says all that it has to say, and nothing of the price that happens to stand behind it."""


def _belongs(words: PageWord, earlier: PageWord, later: PageWord) -> bool:
    """Whether words between two prices stand in the earlier one's box, and the later one does not."""
    if not AMOUNT.search(earlier.text):
        return False
    box = earlier.node.mem_id
    return box in _around(words.node) and box not in _around(later.node)


def _around(node: LexborNode | None) -> set[int]:
    found: set[int] = set()
    while node is not None and len(found) <= _CLIMB:
        found.add(node.mem_id)
        node = node.parent
    return found


def _following(words: Sequence[PageWord], index: int, node: LexborNode | None) -> str:
    """The words right behind a price: behind its element, where it took a whole one."""
    inside = {child.mem_id for child in node.traverse(include_text=False)} if node is not None else set()
    for word in words[index + 1 : index + 6]:
        if word.node.mem_id not in inside:
            return _of_this_price(word.text[:_LONGEST_TEXT].strip())
    return ""


def _of_this_price(text: str) -> str:
    """What words behind a price say of it; those that lead to another price are marked, for they are that one's."""
    another = AMOUNT.search(text)
    if another is not None:
        return f"#{text[: another.start()]}"[:_LONGEST_LABEL]
    return "" if text.endswith((":", "：")) else text[:_LONGEST_LABEL]
