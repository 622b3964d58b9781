"""Where to look for other sources' records of an event: a few keys of square, day and word, found by equality alone.

Two titles that agree by 60 % share a word even if only the first few of each are looked at, in one fixed order; and
their numbers are the same. So an event is put under few keys, and what is under them is nearly always the same event:
the cost of linking one does not grow with the number of events that are known.
"""

from collections.abc import Iterable

import msgspec

from tidemill.core.identity import signed_checksum
from tidemill.core.source import Coordinates
from tidemill.verticals.events.grid import square_of, squares_within
from tidemill.verticals.events.linking import SAME_TIME, SAME_TOWN_KM, KnownEvent, numbers_of

MOST_KEYS = 8
"""Titles of more than some twenty words are found by these many only."""
MOST_SQUARES = 12
"""Near the poles a town touches hundreds; there an event is looked for in its own square only."""
MOST_LOOKUPS = 48
MOST_UNDER_ONE_KEY = 16
"""So many events are looked at for each key and time; more of one title, town, day and hour stay cards of their own."""
MOST_CANDIDATES = 32
"""So many events are compared with one."""
NO_TIME = 0
"""The minute under which an event stands whose time of day is not known."""
_EVER = 2**40
_NEAR_MINUTES = SAME_TIME.seconds // 60 + 1


class Lookup(msgspec.Struct, frozen=True):
    """Which events may be the same one: those under a key that begin between two minutes, both included."""

    key: int
    first_minute: int
    last_minute: int


def keys_of(event: KnownEvent) -> list[int]:
    """The keys that an event is found by; none if it has no place or no words, because such are never linked."""
    return [] if event.place is None else list(_keys(event, [square_of(event.place)]))


def minute_of(event: KnownEvent) -> int:
    """When it begins, in minutes since 1970; `NO_TIME` if the page names no time."""
    return int(event.starts.timestamp()) // 60 if event.has_time else NO_TIME


def lookups_of(event: KnownEvent) -> list[Lookup]:
    """Where other sources' records of the event would be, its own square first."""
    if event.place is None:
        return []
    spans = [(-_EVER, _EVER)]
    if event.has_time:
        minute = minute_of(event)
        spans = [(NO_TIME, NO_TIME), (minute - _NEAR_MINUTES, minute + _NEAR_MINUTES)]
    found = (Lookup(key, *span) for key in _keys(event, _squares(event.place)) for span in spans)
    return [lookup for lookup, _ in zip(found, range(MOST_LOOKUPS), strict=False)]


def leading_words(words: Iterable[str]) -> list[str]:
    """The words of which two titles have at least one in common, if they agree by 60 %: long ones first, numbers last.

    Titles of n words that agree have 60 % of n in common; so of all but 60 % of them, and one more, one is shared.
    """
    ordered = sorted(words, key=lambda word: (word.isdigit(), -len(word), word))
    shared = (3 * len(ordered) + 4) // 5
    return ordered[: min(MOST_KEYS, len(ordered) - shared + 1)] if ordered else []


def _keys(event: KnownEvent, squares: Iterable[int]) -> Iterable[int]:
    numbers = " ".join(sorted(numbers_of(event.words)))
    words = leading_words(event.words)
    for square in squares:
        for word in words:
            yield signed_checksum(f"{square} {event.day.toordinal()} {word} {numbers}".encode())


def _squares(place: Coordinates) -> list[int]:
    own = square_of(place)
    around = squares_within(place, SAME_TOWN_KM)
    return [own] if len(around) > MOST_SQUARES else [own, *(square for square in around if square != own)]
