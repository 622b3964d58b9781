"""The tables and lists of a product page: its attributes by name, and its prices by quantity."""

import re
from collections.abc import Iterator
from itertools import pairwise

from selectolax.lexbor import LexborNode

from tidemill.reading.document import Document
from tidemill.reading.money import parse_money
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.product import QuantityTier
from tidemill.verticals.prices.reading.shown.amounts import SIGN
from tidemill.verticals.prices.reading.shown.price_text import text_within

_MOST_ROWS, _LONGEST_NAME, _LONGEST_VALUE, _LONGEST_TIER = 400, 50, 300, 80
_MOST_ATTRIBUTES = 80
_QUANTITY = r"(?P<from>\d{1,5})\s*(?:(?:-|\u2013|to|tot|bis)\s*\d{1,5}|\+|or more|and up|of meer|oder mehr|et plus)?"
_UNITS = r"(?:ks|szt\.?|pcs|stuks|units?|boxes?|stück)?"
_EACH_AT = rf"(?P<price>{SIGN}\s*\d[\d.,' \u00a0]*|\d[\d.,' \u00a0]*\s?{SIGN})"
_TIER = re.compile(
    rf"^\W*(?:buy\s+)?{_QUANTITY}\s*{_UNITS}\s*(?:for|voor|:|\||@|à|=|-)?\s*{_EACH_AT}"
    r"\s*(?:ea\w*|each|per \w+|/ ?\w+|p/?st\.?)?\W*$",
    re.IGNORECASE,
)

_QUANTITY_ALONE = re.compile(rf"(?:qty\.?:?\s*)?{_QUANTITY}\s*{_UNITS}", re.IGNORECASE)
_PRICE_ALONE = re.compile(_EACH_AT, re.IGNORECASE)
_MOST_CELLS, _FEW_ROWS = 12, 12


def attributes_of(document: Document) -> dict[str, str]:
    """What the page's tables and definition lists say, by the names that they give; the first of each name."""
    found: dict[str, str] = {}
    for name, value in _pairs(document):
        key = name.strip().rstrip(":").lower()
        if key and value and len(key) <= _LONGEST_NAME and len(value) <= _LONGEST_VALUE:
            found.setdefault(key, value)
            if len(found) >= _MOST_ATTRIBUTES:
                break
    return found


def _pairs(document: Document) -> Iterator[tuple[str, str]]:
    for row in document.css("tr")[:_MOST_ROWS]:
        cells = [child for child in row.iter(include_text=False) if child.tag in {"td", "th"}]
        if len(cells) == 2:  # noqa: PLR2004 - a name and its value
            yield _text(cells[0]), _text(cells[1])
    for term in document.css("dt")[:_MOST_ROWS]:
        definition = _next_element(term)
        if definition is not None and definition.tag == "dd":
            yield _text(term), _text(definition)
    for item in document.css("li")[:_MOST_ROWS]:
        text = _text(item)
        name, colon, value = text.partition(":")
        if colon and len(text) <= _LONGEST_NAME + 60:
            yield name, value.strip()


def tiers_of(document: Document) -> tuple[QuantityTier, ...]:
    """The prices by quantity, from the rows of one table or list; nothing unless two rows or more are such."""
    best: list[QuantityTier] = []
    for group in document.css("table, ul, ol, dl")[:_MOST_ROWS]:
        rows = [tier for row in group.css("tr, li")[:60] if (tier := _tier(row)) is not None]
        rows = rows if len(rows) > 1 else _across(group)
        if len(rows) > 1 and len({row.quantity for row in rows}) == len(rows) and len(rows) > len(best):
            best = rows
    return tuple(sorted(best, key=lambda tier: tier.quantity))


def _across(table: LexborNode) -> list[QuantityTier]:
    """The tiers of a table that tells quantities in one row and their prices in the row below."""
    if table.tag != "table":
        return []
    rows = [[text_within(cell) for cell in row.css("td, th")[:_MOST_CELLS]] for row in table.css("tr")[:_FEW_ROWS]]
    for quantities, prices in pairwise(rows):
        pairs = zip(quantities, prices, strict=False) if len(quantities) == len(prices) else ()
        found = [tier for quantity, price in pairs if (tier := _pair(quantity, price)) is not None]
        if len(found) > 1:
            return found
    return []


def _pair(quantity: str, price: str) -> QuantityTier | None:
    match = _QUANTITY_ALONE.fullmatch(quantity.strip())
    money = parse_money(price) if match is not None and _PRICE_ALONE.search(price) else None
    return QuantityTier(int(match["from"]), money.amount) if match is not None and money is not None else None


def _tier(row: LexborNode) -> QuantityTier | None:
    text = text_within(row)
    match = _TIER.match(text) if len(text) <= _LONGEST_TIER else None
    money = parse_money(match["price"]) if match is not None else None
    return QuantityTier(int(match["from"]), money.amount) if match is not None and money is not None else None


def _text(node: LexborNode) -> str:
    return squash(node.text(separator=" "))[: _LONGEST_VALUE + 1]


def _next_element(node: LexborNode) -> LexborNode | None:
    after = node.next
    while after is not None and after.is_text_node:
        after = after.next
    return after
