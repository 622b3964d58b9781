"""Which of two prices is the former one: the discount that the page tells between them says so."""

import re
from collections.abc import Sequence
from decimal import Decimal

from tidemill.verticals.prices.reading.landmarks import Landmarks
from tidemill.verticals.prices.reading.marks import Mark
from tidemill.verticals.prices.reading.ranking import Ranked
from tidemill.verticals.prices.reading.shown import PriceSpot

_PERCENT = re.compile(r"(?<![\d.,])(\d{1,2})(?:[.,]\d{1,2})?\s?%|%\s?(\d{1,2})(?!\d)")
_NEAR = 12
_LONGEST = 60
_ROUNDED = 1


def former_by_discount(asked: PriceSpot, rated: Sequence[Ranked], found: Landmarks) -> PriceSpot | None:
    """The higher price beside the asked one from which just the percentage, or the amount, by them was taken off."""
    higher = [
        each.spot
        for each in rated
        if not each.aside
        and each.spot.amount > asked.amount
        and abs(each.spot.order - asked.order) <= _NEAR
        and not each.spot.money.per
    ]
    if not higher:
        return None
    percents = _percents(asked, found)
    saved = {each.spot.amount for each in rated if not each.aside and each.spot.marks & Mark.NO_PRICE}
    return next((spot for spot in higher if _is_told(spot.amount, asked.amount, percents, saved)), None)


def _percents(asked: PriceSpot, found: Landmarks) -> set[int]:
    """The percentages in short strings by a price."""
    at = asked.order - 1
    near = found.words[max(0, at - _NEAR) : at + _NEAR + 1]
    texts = (word.text for word in near if len(word.text) <= _LONGEST and "%" in word.text)
    return {int(match[1] or match[2]) for text in texts for match in _PERCENT.finditer(text)} - {0}


def _is_told(high: Decimal, low: Decimal, percents: set[int], saved: set[Decimal]) -> bool:
    off = 100 * (high - low) / high
    return high - low in saved or any(abs(off - percent) <= _ROUNDED for percent in percents)
