"""Which of two prices is the former one: the discount that the page tells between them says so."""

import re
from collections.abc import Sequence
from decimal import Decimal

from tidemill.verticals.prices.reading.shown.hints import Hint
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout
from tidemill.verticals.prices.reading.shown.ranking import RankedPrice
from tidemill.verticals.prices.reading.shown.shown_prices import ShownPrice

_PERCENT = re.compile(r"(?<![\d.,])(\d{1,2})(?:[.,]\d{1,2})?\s?%|%\s?(\d{1,2})(?!\d)")
_NEAR = 12
_LONGEST = 60
_ROUNDED = 1


def former_by_discount(asked: ShownPrice, ranked: Sequence[RankedPrice], layout: PageLayout) -> ShownPrice | None:
    """The higher price beside the asked one from which just the percentage, or the amount, by them was taken off."""
    higher = [
        each.shown
        for each in ranked
        if not each.aside
        and each.shown.amount > asked.amount
        and abs(each.shown.order - asked.order) <= _NEAR
        and not each.shown.money.per
    ]
    if not higher:
        return None
    percents = _percents(asked, layout)
    saved = {each.shown.amount for each in ranked if not each.aside and each.shown.hints & Hint.OTHER_AMOUNT}
    return next((shown for shown in higher if _is_told(shown.amount, asked.amount, percents, saved)), None)


def _percents(asked: ShownPrice, layout: PageLayout) -> set[int]:
    """The percentages in short strings by a price."""
    at = asked.order - 1
    nearby = layout.texts[max(0, at - _NEAR) : at + _NEAR + 1]
    texts = (each.text for each in nearby if len(each.text) <= _LONGEST and "%" in each.text)
    return {int(match[1] or match[2]) for text in texts for match in _PERCENT.finditer(text)} - {0}


def _is_told(high: Decimal, low: Decimal, percents: set[int], saved: set[Decimal]) -> bool:
    off = 100 * (high - low) / high
    return high - low in saved or any(abs(off - percent) <= _ROUNDED for percent in percents)
