"""Whether a page sells something: by its buttons, by how it names a price, by what stands around one."""

import re
from collections.abc import Sequence

from tidemill.verticals.prices.reading.landmarks import Landmarks
from tidemill.verticals.prices.reading.marks import PRICE_WORDS, REFUSED, Mark
from tidemill.verticals.prices.reading.ranking import FAIR, STRONG, Ranked, struck

_HOUR = re.compile(r"\b\d{1,2}:\d{2}\b(?!:)|\buur\b")
_RIGHT_BEHIND = 6
"""Strings between a heading and what stands right under it: a brand, a star or two, a number of reviews."""


def offers(found: Landmarks) -> bool:
    """Whether a button of the page itself sells."""
    return any(button.sells and not button.marks & Mark.ASIDE for button in found.buttons)


def shows_a_product(rated: Sequence[Ranked], found: Landmarks, *, is_identified: bool) -> bool:
    """Whether the prices on a page are a product's, though no button sells it: those may come with a script.

    Markup is named for a price by the heading, a price is called one, stands alone right under the heading, or has a
    crossed-out one beside it; any price will do where the page `is_identified` as an article's, by number or stock.
    """
    own = [each for each in rated if not each.aside and not each.spot.marks & (REFUSED | Mark.OLD)]
    fair = [each for each in own if each.weight >= FAIR]
    if fair and is_identified:
        return True
    return any(
        _is_named(each) or stands_alone(each, found) or _is_called_so(each) or _is_reduced(each, rated) for each in fair
    )


def _is_named(each: Ranked) -> bool:
    return bool(each.spot.marks & Mark.PRICE) and each.weight >= STRONG


def stands_alone(each: Ranked, found: Landmarks) -> bool:
    """Whether a price is all that its element says, and the heading is right above it, with no hour in between.

    Under an hour it is what an evening costs, not a thing.
    """
    behind = each.spot.order - found.heading_order
    if found.heading_order < 0 or not 0 < behind <= _RIGHT_BEHIND or not each.spot.alone:
        return False
    between = found.words[found.heading_order : each.spot.order]
    return not any(_HOUR.search(word.text) for word in between)


def _is_called_so(each: Ranked) -> bool:
    return PRICE_WORDS.search(each.spot.label) is not None


def _is_reduced(each: Ranked, rated: Sequence[Ranked]) -> bool:
    return each.spot.alone and struck(rated, each.spot.amount) is not None
