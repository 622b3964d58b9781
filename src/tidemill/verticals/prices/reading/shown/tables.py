"""The tables and lists of a product page: its attributes by name, and its prices by quantity."""

import re
from collections.abc import Iterator
from itertools import pairwise

from selectolax.lexbor import LexborNode

from tidemill.reading.document import Document
from tidemill.reading.limits.nesting import shallow
from tidemill.reading.money import parse_money
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.product import QuantityTier
from tidemill.verticals.prices.reading.shown.amounts import SIGN
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout
from tidemill.verticals.prices.reading.shown.price_text import text_within

_MOST_ROWS, _LONGEST_NAME, _LONGEST_VALUE, _LONGEST_TIER = 400, 50, 300, 100
_LONGEST_CELL = 300
_MOST_ATTRIBUTES = 80
_MOST_NESTED = 16
"""Tables and lists within each other that are looked at for tiers: old shops lay whole pages out in tables."""
_QUANTITY = (
    r"(?P<from>\d{1,5})\s*(?:(?:-|\u2013|to|tot|bis)\s*\d{1,5}|\+|or (?:more|above|greater)|and (?:up|more|above)|"
    r"of meer|en meer|oder mehr|ou plus|et plus|o más|o più)?"
)
_UP_TO = r"(?:bis(?: zu)?|up to|tot|jusqu'à|hasta|fino a|do)\s+(?P<below>\d{1,5})"
"""How a first tier is told by where it ends: `Bis 9`."""
_UNITS = r"(?:ks|szt\.?|pcs\.?|pieces|stuks|units?|items?|boxes?|cases?|packs?|bricks?|stück)?"
_EACH_AT = rf"(?P<price>{SIGN}\s*\d[\d.,' \u00a0]*|\d[\d.,' \u00a0]*\s?{SIGN})"
_FOR = (
    r"(?:(?:and |to )?pay (?:only )?|(?:and )?get (?:them )?(?:for|at) |for (?:only )?|at |voor |für |pour |"
    r":|\||@|à|=|-)?"
)
_TIER = re.compile(
    rf"^\W*(?:(?:buy|order|koop|bestel|kaufen sie|ab|vanaf|from)\s+)?(?:{_UP_TO}|{_QUANTITY})\s*{_UNITS}"
    rf"\s*,?\s*{_FOR}\s*(?:only\s+)?{_EACH_AT}"
    r"\*?\s*(?:ea\w*|each|per \w+|/ ?\w+|p/?st\.?|a piece|apiece|stuk|stück)?\W*"
    r"(?:(?:and )?(?:you )?save\b.{0,30}|\(?-?\d{1,2}(?:[.,]\d+)?\s?%.{0,20}|"
    r"[(|,-]?\s*[$€£]?\d[\d.,]*\s?[¢c€]?\s?(?:/|per |p/?|a )\s?(?:rd|round|rnd|shot|shell|kg|l|unit|piece)s?\.?\)?)?$",
    re.IGNORECASE,
)

_QUANTITY_ALONE = re.compile(
    rf"(?:(?:qty\.?:?|ab|vanaf|from|dès|da|od)\s*)?(?:{_UP_TO}|{_QUANTITY})\s*{_UNITS}", re.IGNORECASE
)
_PRICE_ALONE = re.compile(_EACH_AT, re.IGNORECASE)
_SIGNS = ("$", "€", "£", "¥", "₹", "₽", "₺", "₩", "₫", "₪", "₴", "฿", " kr", "zł", "Kč")
_RARER_SIGNS = re.compile(
    r"\d\s?(?:[A-Z]{3}\b|Ft\b|lei|TL\b|лв|руб|р\.|грн|円|元|원|kn\b|din|:-)|(?:[A-Z]{3}|Rs\.?|R[MpS]|S/)\s?\d"
)
_ANY_SIGN = re.compile(r"[$€£¥₹₽₺₩₫₪₴฿円元원čł]|\b(?:[A-Z]{3}|Ft|lei|TL|kn|kr|din|Rs|R[MpS]|S/|лв|руб|грн)\b|\bр\.|:-")
_CLIMB = 24
_SMALL_GROUP = 1_500
"""Characters of a table or list that is searched for the rarer signs too; menus are longer."""
_MOST_CELLS, _FEW_ROWS, _MOST_TIERS = 12, 12, 60
_NAMED_GROUPS = "div[class*=tier], div[class*=bulk], div[class*=volume], div[class*=staffel], div[class*=quantity-]"


def attributes_of(layout: PageLayout) -> dict[str, str]:
    """What the page's tables and definition lists say, by the names that they give; the first of each name."""
    found: dict[str, str] = {}
    for name, value in _pairs(layout):
        key = name.strip().rstrip(":").lower()
        if key and value and len(key) <= _LONGEST_NAME and len(value) <= _LONGEST_VALUE:
            found.setdefault(key, value)
            if len(found) >= _MOST_ATTRIBUTES:
                break
    return found


def _pairs(layout: PageLayout) -> Iterator[tuple[str, str]]:
    for row in _tagged(layout, "tr"):
        cells = [child for child in row.iter(include_text=False) if child.tag in {"td", "th"}]
        if len(cells) == 2:  # noqa: PLR2004 - a name and its value
            yield _text(cells[0]), _text(cells[1])
    for term in _tagged(layout, "dt"):
        definition = _next_element(term)
        if definition is not None and definition.tag == "dd":
            yield _text(term), _text(definition)
    for item in _tagged(layout, "li"):
        if ":" not in (written := item.text(separator=" ")):
            continue  # most are of menus
        text = squash(written)[: _LONGEST_VALUE + 1]
        name, colon, value = text.partition(":")
        if colon and len(text) <= _LONGEST_NAME + 60:
            yield name, value.strip()


def _tagged(layout: PageLayout, tag: str) -> list[LexborNode]:
    return [row for row in layout.rows if row.tag == tag][:_MOST_ROWS]


def tiers_of(layout: PageLayout, named_in: Document | None) -> tuple[QuantityTier, ...]:
    """The prices by quantity, from the rows of one table or list; nothing unless two rows or more are such.

    Boxes that are named for tiers count as lists, on a page where something is `named_in` that way.
    """
    best: list[QuantityTier] = []
    boxes = named_in.css(_NAMED_GROUPS)[:_FEW_ROWS] if named_in is not None else []
    for group in [*_priced_groups(layout), *boxes]:
        if not _may_be_priced(group.text(separator=" ")):
            continue
        other = _other_columns(group)
        rows = [tier for row in _rows_of(group) if (tier := _tier(row, other)) is not None]
        rows = _begun(rows if len(rows) > 1 else _across(group) or _in_terms(group))
        if len(rows) > 1 and len({row.quantity for row in rows}) == len(rows) and len(rows) > len(best):
            best = rows
    return tuple(sorted(best, key=lambda tier: tier.quantity))


def _priced_groups(layout: PageLayout) -> list[LexborNode]:
    """The tables and lists with a currency's sign somewhere in them: few of a page's, the most of which are menus."""
    if not layout.groups:
        return []
    priced: set[int] = set()
    for text_node in layout.texts:
        if len(text_node.text) <= _SMALL_GROUP and _ANY_SIGN.search(text_node.text) is not None:
            node: LexborNode | None = text_node.node
            for _ in range(_CLIMB):
                if node is None or node.mem_id in priced:
                    break
                priced.add(node.mem_id)
                node = node.parent
    return shallow([group for group in layout.groups if group.mem_id in priced], _MOST_NESTED)[:_MOST_ROWS]


def _may_be_priced(text: str) -> bool:
    """Whether a table's or list's words have a price: a glance, since most are menus."""
    return any(sign in text for sign in _SIGNS) or (len(text) <= _SMALL_GROUP and _RARER_SIGNS.search(text) is not None)


def _rows_of(group: LexborNode) -> list[LexborNode]:
    """The rows of a table or list; of a box that is named for its tiers, its children."""
    if group.tag in {"table", "ul", "ol"}:
        return group.css("tr, li")[:_MOST_TIERS]
    children = list(group.iter(include_text=False))[:_MOST_TIERS]
    return [child for child in children if child.tag not in {"table", "ul", "ol", "dl"}]


def _across(table: LexborNode) -> list[QuantityTier]:
    """The tiers of a table that tells quantities in one row and their prices in the row below."""
    if table.tag != "table":
        return []
    rows = [
        [text_within(cell, _LONGEST_CELL) for cell in row.css("td, th")[:_MOST_CELLS]]
        for row in table.css("tr")[:_FEW_ROWS]
    ]
    for quantities, prices in pairwise(rows):
        pairs = zip(quantities, prices, strict=False) if len(quantities) == len(prices) else ()
        found = [tier for quantity, price in pairs if (tier := _pair(quantity, price)) is not None]
        if len(found) > 1:
            return found
    return []


def _in_terms(group: LexborNode) -> list[QuantityTier]:
    """The tiers of a list of terms, each of which is a quantity with its price behind it."""
    terms = group.css("dt")[:_MOST_TIERS] if group.tag == "dl" else []
    pairs = [(term, behind) for term in terms if (behind := _next_element(term)) is not None and behind.tag == "dd"]
    return [
        tier
        for term, behind in pairs
        if (tier := _pair(text_within(term, _LONGEST_CELL), text_within(behind, _LONGEST_CELL))) is not None
    ]


def _pair(quantity: str, price: str) -> QuantityTier | None:
    match = _QUANTITY_ALONE.fullmatch(quantity.strip())
    money = parse_money(price) if match is not None and _PRICE_ALONE.search(price) else None
    return QuantityTier(_quantity(match), money.amount) if match is not None and money is not None else None


def _tier(row: LexborNode, other: frozenset[int] = frozenset()) -> QuantityTier | None:
    text = text_within(row, _LONGEST_TIER)
    match = _TIER.match(text) if len(text) <= _LONGEST_TIER else None
    if (match is None or other) and row.tag == "tr":
        return _in_cells([text_within(cell, _LONGEST_CELL) for cell in row.css("td, th")[:_MOST_CELLS]], other)
    money = parse_money(match["price"]) if match is not None else None
    return QuantityTier(_quantity(match), money.amount) if match is not None and money is not None else None


def _in_cells(cells: list[str], columns: frozenset[int]) -> QuantityTier | None:
    """The tier of a row that tells more than a quantity and its price, as a percentage between them: a price alone.

    `columns` are those whose heads say that they tell something else, as what a round costs.
    """
    cells = [cell for at, cell in enumerate(cells) if at not in columns]
    prices = [cell for cell in cells[1:] if _PRICE_ALONE.fullmatch(cell.strip())]
    return _pair(cells[0], prices[0]) if len(prices) == 1 else None


def _other_columns(group: LexborNode) -> frozenset[int]:
    """The columns of a table whose heads say that what they tell is no price of one article."""
    first = group.css_first("tr") if group.tag == "table" else None
    heads = first.css("th, td")[:_MOST_CELLS] if first is not None else []
    return frozenset(at for at, head in enumerate(heads) if at and _NOT_OF_ONE.search(text_within(head, _LONGEST_CELL)))


_NOT_OF_ONE = re.compile(
    r"\b(?:per|/|pro|par|por|al)\s?(?:rd|round|rnd|shot|shell|kg|kilo|lit\w+|l|m|meter|stück|unit)\b|\bcpr\b|\bppr\b|sav(?:e|ing)|"
    r"total|discount|korting|rabatt|ersparnis|économ|sconto|descuento|desconto|rabat|%",
    re.IGNORECASE,
)


def _quantity(match: re.Match[str]) -> int:
    """The quantity from which on a tier holds; of one that is told by its end that end, below zero."""
    return int(match["from"]) if match["from"] else -int(match["below"])


def _begun(rows: list[QuantityTier]) -> list[QuantityTier]:
    """The rows in order, those that are told by their ends beginning behind the one before: `Bis 9`, `Bis 49`."""
    found, begins = [], 1
    for row in rows:
        found.append(QuantityTier(begins, row.price) if row.quantity < 0 else row)
        begins = 1 + abs(row.quantity)
    return found


def _text(node: LexborNode) -> str:
    return squash(node.text(separator=" "))[: _LONGEST_VALUE + 1]


def _next_element(node: LexborNode) -> LexborNode | None:
    after = node.next
    while after is not None and after.is_text_node:
        after = after.next
    return after
