"""Prices by quantity that a product page tells in a sentence: `Buy 10 or more for $9.49 each, 50+ for $8.99 each`."""

import re
from itertools import pairwise

from tidemill.reading.money import parse_money
from tidemill.verticals.prices.reading.product import QuantityTier
from tidemill.verticals.prices.reading.shown.amounts import AMOUNT
from tidemill.verticals.prices.reading.shown.hints import Hint
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout

_TIER = re.compile(
    r"(?<![\d.,$€£])(?P<from>\d{1,5})\s*(?:(?:-|\u2013|to|tot|bis)\s*\d{1,5}|\+|or more|or above|"
    r"and (?:up|more|above)|of meer|en meer|oder mehr|und mehr|ou plus|et plus|o más|o più|ou mais)(?:\s+\w+){0,3}?\s*"
    r"(?:(?=[$€£]\s?\d)|[:@=]|\b(?:for|at|pay|only|just|voor|für|pour|por|per|à|zu|je|a)\b|,)[\s:]*(?:(?:only|just|pay|slechts|nur)\s+){0,2}"
    rf"(?P<price>{AMOUNT.pattern})\s*(?:/\s?|per |p\.?\s?)?"
    r"(?:each|ea\b|apiece|a piece|st(?:uk|ück|k)?\b|box|case|unit|item|pack|pièce|unidad|cad\.|per\b)",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"\d\s*\+|\b(?:more|above|up|meer|mehr|plus|más|più|mais|to|tot|bis)\b|\d\s?[-\u2013]\s?\d")
_LONGEST, _LONGEST_TEXT, _MOST = 8_000, 300, 20
_NOT_ITS_OWN = Hint.ASIDE | Hint.HIDDEN


def worded_tiers(layout: PageLayout) -> tuple[QuantityTier, ...]:
    """The tiers that the page's own sentences tell, the smallest quantity first; nothing where they disagree."""
    words = [
        text_node.text.strip()
        for text_node in layout.texts
        if not text_node.hints & _NOT_ITS_OWN and len(text_node.text) <= _LONGEST_TEXT
    ]
    line = " ".join(" ".join(words)[:_LONGEST].split())
    if not _SIGNS.search(line):
        return ()
    found: dict[int, QuantityTier] = {}
    for match in list(_TIER.finditer(line))[:_MOST]:
        money = parse_money(match["price"])
        quantity = int(match["from"])
        if money is None or (quantity in found and found[quantity].price != money.amount):
            return ()
        found[quantity] = QuantityTier(quantity, money.amount)
    tiers = tuple(found[quantity] for quantity in sorted(found))
    falls = all(later.price < earlier.price for earlier, later in pairwise(tiers))
    return tiers if falls else ()
