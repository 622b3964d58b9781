"""A price that markup names the former one, on a page that shows no other: then it is what the thing costs."""

import re
from collections.abc import Sequence

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.verticals.prices.reading.shown.hints import (
    NOT_THE_PRICE,
    Hint,
    hints_before,
    hints_of_style,
    hints_of_tag,
)
from tidemill.verticals.prices.reading.shown.ranking import FAIR_SCORE, FORMER_PENALTY, RankedPrice

_CLIMB = 4
_FULL = re.compile(r"\b(?:retail|regular|normal|full) price\W*$", re.IGNORECASE)
"""What some call the price of the thing itself, beside that of a month."""


def asked_after_all(ranked: Sequence[RankedPrice]) -> Sequence[RankedPrice]:
    """The ranked prices, where a price is called former by a class alone and none is asked: that one is asked.

    Shops whose template has a box for the old price fill it when there is no lower one. A price that is struck out,
    or that words call former, stays what it is.
    """
    if any(_is_asked(each) for each in ranked):
        return ranked
    raised = [_raised(each) if _is_former_by_name(each) else each for each in ranked]
    return sorted(raised, key=lambda each: (-each.score, each.shown.order))


def _is_asked(each: RankedPrice) -> bool:
    hints = each.shown.hints
    return not each.aside and not hints & (Hint.OLD | NOT_THE_PRICE | Hint.UNTAXED) and not each.shown.money.per


def _is_former_by_name(each: RankedPrice) -> bool:
    hints = each.shown.hints
    if each.aside or not hints & Hint.OLD or not hints & Hint.PRICE or hints & NOT_THE_PRICE:
        return False
    if hints_before(each.shown.label.lower()) & Hint.OLD and not _FULL.search(each.shown.label):
        return False
    return each.score + FORMER_PENALTY >= FAIR_SCORE and not _is_struck(each.shown.node)


def _is_struck(node: LexborNode | None) -> bool:
    for _ in range(_CLIMB):
        if node is None or not node.tag:
            return False
        if (hints_of_tag(node.tag) | hints_of_style(node.attributes.get("style") or "")) & Hint.OLD:
            return True
        node = node.parent
    return False


def _raised(each: RankedPrice) -> RankedPrice:
    shown = msgspec.structs.replace(each.shown, hints=each.shown.hints & ~Hint.OLD)
    return RankedPrice(shown, each.score + FORMER_PENALTY, each.aside)
