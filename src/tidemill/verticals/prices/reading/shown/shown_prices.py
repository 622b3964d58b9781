"""The prices that a page shows, each with the words around it: what a reader of the page could take for the price."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.reading.money import Money, parse_money
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.shown.amounts import (
    AMOUNT,
    BARE,
    FROM_TO,
    LABELLED,
    NUMBER,
    WITH_CENTS,
    is_former_price,
)
from tidemill.verticals.prices.reading.shown.hints import Hint, Hints, hints_after, hints_before
from tidemill.verticals.prices.reading.shown.line_blocks import block_at, is_prose, line_before
from tidemill.verticals.prices.reading.shown.naming_words import names_another
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout, TextNode
from tidemill.verticals.prices.reading.shown.split_prices import SIGN_ALONE, whole_price, with_detached_sign

_DIGIT = re.compile(r"\d")
_BETWEEN = re.compile(r"\s*(?:-|\u2013|\u2014|~|to|tot|bis|à|do|até|a)\s*", re.IGNORECASE)
_FROM = re.compile(
    r"\b(?:from|vanaf|v\.a\.|ab|fra|från|à partir de|a partir de|desde|od|da|starting at|as low as|от)\W*$",
    re.IGNORECASE,
)
_LONGEST_TEXT, _LONGEST_LABEL, _LONGEST_LINE = 300, 60, 60
_MOST_TEXTS = 6_000
_COUNTRY = re.compile(r"(?:(?:US|CA?|AU?|NZ|HK|S)\s)?")
"""Whose dollars they are, as some write it apart from the sign, or nothing: `US $12`."""
_DIFFERENCES = frozenset({"-", "+", "\u2212"})
_CLIMB = 3


class ShownPrice(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A price on the page: its amount, where it stands, and what the places and words around it make of it.

    `alone` says that its element holds nothing else.
    """

    order: int
    money: Money
    hints: Hints
    node: LexborNode
    href: str
    text: str
    label: str = ""
    alone: bool = False

    @property
    def amount(self) -> Decimal:
        """How much it says."""
        return self.money.amount


def shown_prices(layout: PageLayout, page_currency: str = "") -> list[ShownPrice]:
    """Every price among the page's words; `page_currency` is the page's own currency, which decides what `$` means."""
    seen: set[tuple[int, int]] = set()
    result: list[ShownPrice] = []
    for index, text_node in enumerate(layout.texts[:_MOST_TEXTS]):
        if len(text_node.text) <= _LONGEST_TEXT and _DIGIT.search(text_node.text) and _may_be_priced(text_node):
            result += [
                shown
                for shown in _prices_at(layout, index, text_node, page_currency, seen)
                if not _is_a_name(shown, layout, page_currency)
            ]
    return _with_twins(result)


def _with_twins(found: list[ShownPrice]) -> list[ShownPrice]:
    """The prices, of which each that is written twice in a row is what the words on either side say of it.

    Shops write one for those who listen and one for those who look: `List price: $9 $9`.
    """
    result = list(found)
    for at in range(1, len(result)):
        before, here = result[at - 1], result[at]
        if here.order - before.order == 1 and here.amount == before.amount and here.money.symbol == before.money.symbol:
            said = (before.hints | here.hints) & _SAID_OF_BOTH
            result[at - 1] = msgspec.structs.replace(before, hints=before.hints | said)
            result[at] = msgspec.structs.replace(here, hints=here.hints | said)
    return result


_SAID_OF_BOTH = Hint.OLD | Hint.OTHER_AMOUNT | Hint.UNIT | Hint.UNTAXED | Hint.TIER


def _is_a_name(shown: ShownPrice, layout: PageLayout, page_currency: str) -> bool:
    """Whether a number is part of a name: `R5` where nobody pays in rand, or what the heading itself says."""
    if shown.text[0] == "R" and shown.text[1:].isdecimal() and page_currency != "ZAR":
        return True
    return layout.heading is not None and shown.node.mem_id == layout.heading.mem_id and not shown.hints & Hint.PRICE


def _may_be_priced(text_node: TextNode) -> bool:
    """Whether a string with digits could be a price or a part of one: by its place, its sign, or as a bare number."""
    if text_node.hints & Hint.PRICE:
        return True
    return _is_an_amount(text_node.text.strip())


@lru_cache(maxsize=8_192)
def _is_an_amount(text: str) -> bool:
    """Whether a string is a bare number or holds one with a sign; a shop's menus are asked about on every page."""
    return any(
        way is not None
        for way in (BARE.fullmatch(text), AMOUNT.search(text), LABELLED.fullmatch(text), FROM_TO.fullmatch(text))
    )


def _prices_at(
    layout: PageLayout, index: int, text_node: TextNode, page_currency: str, seen: set[tuple[int, int]]
) -> Iterator[ShownPrice]:
    texts = layout.texts
    node, text = whole_price(text_node)
    if AMOUNT.search(text) is None and BARE.fullmatch(text):
        text = with_detached_sign(texts, index, text)
    matches = list(AMOUNT.finditer(text))
    if not matches and FROM_TO.fullmatch(text):
        matches = list(re.finditer(NUMBER, text))
    if not matches:
        if not _is_bare_price(text_node.hints, text):
            return
        matches = [match for match in [re.search(NUMBER, text)] if match is not None]
    reached, own = 0, _digits(text_node.text)
    prose = Hint.PROSE if len(text) > _LONGEST_LINE else Hint.NONE
    for number, match in enumerate(matches):
        key = (node.mem_id, match.start())
        if key in seen or (own not in _digits(match[0]) and node.mem_id != text_node.node.mem_id):
            continue  # another's number, in a box that was widened for this one
        seen.add(key)
        behind = text[match.end() : matches[number + 1].start() if number + 1 < len(matches) else None]
        label = text[reached : match.start()]
        if number == 0 and _COUNTRY.fullmatch(label):
            label = f"{_label(layout, index)} {label}".strip() if label else _label(layout, index)
        after = behind if behind.strip() else _following(texts, index, node if text != squash(text_node.text) else None)
        reached = match.end()
        label = "" if _is_of_the_one_before(texts, index, label, after, number) else label
        if number and _BETWEEN.fullmatch(text[matches[number - 1].end() : match.start()]):
            continue
        upper = matches[number + 1] if number + 1 < len(matches) and _BETWEEN.fullmatch(behind) else None
        end = upper[0] if upper else "" if behind.strip() else _other_end(texts, index, node)
        shown = _shown_price(text_node, node, match[0], end, label, after, page_currency)
        if shown is not None:
            line = line_before(layout, index, node, label)
            named = Hint.NAMED if names_another(line, layout, in_prose=is_prose(node)) else Hint.NONE
            yield msgspec.structs.replace(shown, alone=len(match[0]) == len(text), hints=shown.hints | prose | named)


def _is_of_the_one_before(texts: Sequence[TextNode], index: int, between: str, behind: str, number: int) -> bool:
    """Whether words between amounts are about the first, as those behind are: `£100 ex VAT (£120 inc VAT)`."""
    earlier = texts[max(0, index - 4) : max(0, index - 1)]
    if number == 0 and not any(_DIGIT.search(each.text) for each in earlier):
        return False
    said, after = hints_after(between[:_LONGEST_LABEL].lower()), hints_after(behind[:_LONGEST_LABEL].lower())
    return bool(said & Hint.UNTAXED and after & (Hint.CURRENT | Hint.UNTAXED))


def _is_bare_price(hints: Hints, text: str) -> bool:
    """Whether a number without a sign is a price: where prices are named or things bought, or as a former one."""
    if is_former_price(text):
        return True
    if hints & Hint.PRICE:
        return (BARE.fullmatch(text) or LABELLED.fullmatch(text)) is not None and "%" not in text
    return bool(hints & Hint.MAIN) and WITH_CENTS.fullmatch(text) is not None


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


_DOLLARS_AND_THREE = re.compile(r"(?:US)?\$\s?\d{1,3}\.\d{3}")
"""`$19.999`: thousands or a third decimal, and nobody can tell which."""
_POINTED_THOUSANDS = frozenset({"ARS", "CLP", "COP", "UYU", "PYG", "BRL", "CRC", "DOP"})


def _shown_price(
    text_node: TextNode, node: LexborNode, written: str, upper: str, label: str, after: str, page_currency: str
) -> ShownPrice | None:
    money = parse_money(written, page_currency=page_currency)
    if money is None or (_DOLLARS_AND_THREE.fullmatch(written) and page_currency not in _POINTED_THOUSANDS):
        return None
    high = parse_money(upper, page_currency=page_currency) if upper else None
    if high is not None and high.amount > money.amount:
        money = msgspec.structs.replace(money, high=high.amount)
    if _FROM.search(label):
        money = msgspec.structs.replace(money, is_from=True)
    hints = (
        text_node.hints | hints_before(label[-_LONGEST_LABEL:].lower()) | hints_after(after[:_LONGEST_LABEL].lower())
    )
    if label[-1:] in _DIFFERENCES:
        hints |= Hint.OTHER_AMOUNT  # a sign that touches its number: what is taken off, or comes on top
    return ShownPrice(
        order=text_node.order,
        money=money,
        hints=hints,
        node=node,
        href=text_node.href,
        text=written,
        label=squash(label),
    )


def _label(layout: PageLayout, index: int) -> str:
    """The words right before a price, if they are no price themselves, nor the tail of another's, nor the title."""
    texts = layout.texts
    if index > 1 and SIGN_ALONE.fullmatch(texts[index - 1].text.strip()):
        index -= 1
    before = texts[index - 1] if index else None
    if before is not None and layout.heading is not None and layout.heading.mem_id in _around(before.node):
        return ""
    if before is None or len(before.text) > _LONGEST_LABEL or (before.hints ^ texts[index].hints) & Hint.ASIDE:
        return ""
    if (
        _COMPLETE.search(before.text)
        or LABELLED.fullmatch(before.text.strip())
        or AMOUNT.search(before.text)
        or (index > 1 and _belongs(before, texts[index - 2], texts[index]))
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


def _belongs(between: TextNode, earlier: TextNode, later: TextNode) -> bool:
    """Whether words between two prices stand in a box with the earlier one, and the later one does not."""
    if not AMOUNT.search(earlier.text):
        return False
    return bool(_around(earlier.node) & _around(between.node) - _around(later.node, 3 * _CLIMB))


def _around(node: LexborNode | None, levels: int = _CLIMB) -> set[int]:
    found: set[int] = set()
    while node is not None and len(found) <= levels:
        found.add(node.mem_id)
        node = node.parent
    return found


def _following(texts: Sequence[TextNode], index: int, node: LexborNode | None) -> str:
    """The words right behind a price: behind its element, where it took a whole one."""
    inside = {child.mem_id for child in node.traverse(include_text=False)} if node is not None else set()
    for at in range(index + 1, min(index + 6, len(texts))):
        if texts[at].node.mem_id not in inside:
            text = texts[at].text[:_LONGEST_TEXT].strip()
            return f"#{text}"[:_LONGEST_LABEL] if _leads_on(texts, index, at) else _of_this_price(text)
    return ""


def _leads_on(texts: Sequence[TextNode], index: int, at: int) -> bool:
    """Whether words stand in a block of their own with the amount behind them: then they are about that one."""
    if at + 1 >= len(texts) or AMOUNT.match(texts[at + 1].text.strip()) is None:
        return False
    block = block_at(texts[at].node)
    return block == block_at(texts[at + 1].node) and block != block_at(texts[index].node)


def _other_end(texts: Sequence[TextNode], index: int, node: LexborNode) -> str:
    """The upper end of a range whose ends stand in elements of their own, with a dash between them; '' without one."""
    dash = index + 1
    while dash < len(texts) and dash < index + _ENDS_APART and _is_within(texts[dash].node, node):
        dash += 1
    if dash >= len(texts) or not _DASH.fullmatch(texts[dash].text.strip()):
        return ""
    pieces = [each.text.strip() for each in texts[dash + 1 : dash + 3]]
    match = AMOUNT.match(pieces[0]) or AMOUNT.match("".join(pieces)) if pieces else None
    return match[0] if match is not None else ""


_ENDS_APART = 4
_DASH = re.compile(r"[-\u2013\u2014~]|to|bis|tot|à", re.IGNORECASE)


def _is_within(inner: LexborNode, outer: LexborNode) -> bool:
    node: LexborNode | None = inner
    for _ in range(_ENDS_APART):
        if node is None:
            return False
        if node.mem_id == outer.mem_id:
            return True
        node = node.parent
    return False


def _of_this_price(text: str) -> str:
    """The words after a price that are about it; words that lead to the next price start with `#`."""
    another = AMOUNT.search(text) if _DIGIT.search(text) else None
    if another is not None:
        return f"#{text[: another.start()]}"[:_LONGEST_LABEL]
    return "" if text.endswith((":", "：")) else text[:_LONGEST_LABEL]
