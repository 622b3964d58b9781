"""How much a listing tells, from 0 to 100: when two sites show one home, the richer is kept."""

from collections.abc import Callable

from tidemill.verticals.listings.record import Listing

_LONG, _SEVERAL = 80, 3

_WORTH: tuple[tuple[int, Callable[[Listing], bool]], ...] = (
    (20, lambda one: one.rent_low is not None),
    (15, lambda one: bool(one.address_key)),
    (10, lambda one: one.beds_low is not None),
    (8, lambda one: one.baths_low is not None),
    (8, lambda one: one.size_low is not None),
    (10, lambda one: one.latitude is not None),
    (7, lambda one: bool(one.images)),
    (4, lambda one: len(one.images) >= _SEVERAL),
    (5, lambda one: bool(one.unit)),
    (5, lambda one: len(one.description) >= _LONG),
    (4, lambda one: len(one.amenities) >= _SEVERAL),
    (4, lambda one: one.available_on is not None),
)


def quality(listing: Listing) -> int:
    """The sum of what is told."""
    return sum(worth for worth, is_told in _WORTH if is_told(listing))
