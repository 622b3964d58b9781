"""The glitch guard: a value that can hardly be true waits for a second reading before anybody sees it."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

import msgspec

JUMP = 100
"""By how many times a price may not move at once: cents taken for units, or a thousands separator for a comma."""


APART = timedelta(minutes=10)
"""How far apart two readings are at least: the same page seconds later says the same, glitch or not."""


class Glitch(StrEnum):
    """Why a price is hard to believe."""

    JUMPED = "jumped"
    CURRENCY_SWAPPED = "currency_swapped"
    SAME_AS_NEIGHBOUR = "same_as_neighbour"


class PriceSeen(msgspec.Struct, frozen=True):
    """A price as it was read once."""

    cents: int
    currency: str


def glitch(new: PriceSeen, published: PriceSeen | None, neighbours: Sequence[PriceSeen] = ()) -> Glitch | None:
    """What is odd about a new price; None if it may be published at once.

    `published` is the product's last published price. `neighbours` are the prices that other products of the same
    source were read at in the same run: a price that moved to exactly what most of them moved to is a page's, not a
    product's. A first price has nothing to be compared with.
    """
    if published is None or new == published:
        return None
    if new.currency != published.currency:
        return Glitch.CURRENCY_SWAPPED
    low, high = sorted((new.cents, published.cents))
    if high >= JUMP * max(low, 1):
        return Glitch.JUMPED
    return Glitch.SAME_AS_NEIGHBOUR if _all_alike(new, neighbours) else None


_CROWD = 3


def _all_alike(new: PriceSeen, neighbours: Sequence[PriceSeen]) -> bool:
    """Whether the new price is the neighbours' too: of three or more, most have it."""
    return len(neighbours) >= _CROWD and 2 * sum(each == new for each in neighbours) > len(neighbours)


def confirms(second: PriceSeen, held: PriceSeen) -> bool:
    """Whether a second reading says the same as the one that is held: then it was no glitch, and is published."""
    return second == held
