"""Where to look for other sources' records of an event: a few keys of square, day and word, found by equality alone.

Two titles that agree by 60 % share a word even if only the first few of each are looked at, in one fixed order; and
their numbers are the same. So an event is put under few keys, and what is under them is nearly always the same event:
the cost of linking one does not grow with the number of events that are known.
"""

from collections.abc import Collection, Iterable
from itertools import islice

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


class CandidateSearch(msgspec.Struct, frozen=True):
    """Where other sources' records of an event would be: under its own keys and those of the squares around it."""

    own: tuple[int, ...] = ()
    around: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def keys(self) -> tuple[int, ...]:
        """Every key that is looked under, those of its own square first."""
        return (*self.own, *self.around)

    def lookups(self, used: Collection[int]) -> list[Lookup]:
        """What to look for under those of its keys under which anything stands: `used`."""
        return [Lookup(key, *span) for key in self.keys if key in used for span in self.spans]


def search_of(event: KnownEvent) -> CandidateSearch:
    """The keys that an event is found by, and where else to look; none without a place: such are never linked."""
    if event.place is None:
        return CandidateSearch()
    spans: tuple[tuple[int, int], ...] = ((-_EVER, _EVER),)
    if event.has_time:
        minute = minute_of(event)
        spans = ((NO_TIME, NO_TIME), (minute - _NEAR_MINUTES, minute + _NEAR_MINUTES))
    numbers = " ".join(sorted(numbers_of(event.words)))
    ends = [f" {event.day.toordinal()} {word} {numbers}" for word in leading_words(event.words)]
    own, *others = _squares(event.place)
    around = (signed_checksum(f"{square}{end}".encode()) for square in others for end in ends)
    return CandidateSearch(
        own=tuple(signed_checksum(f"{own}{end}".encode()) for end in ends),
        around=tuple(islice(around, MOST_LOOKUPS // len(spans) - len(ends))),
        spans=spans,
    )


def minute_of(event: KnownEvent) -> int:
    """When it begins, in minutes since 1970; `NO_TIME` if the page names no time."""
    return int(event.starts.timestamp()) // 60 if event.has_time else NO_TIME


def leading_words(words: Iterable[str]) -> list[str]:
    """The words of which two titles have at least one in common, if they agree by 60 %: long ones first, numbers last.

    Titles of n words that agree have 60 % of n in common; so of all but 60 % of them, and one more, one is shared.
    """
    ordered = sorted(words, key=lambda word: (word.isdigit(), -len(word), word))
    shared = (3 * len(ordered) + 4) // 5
    return ordered[: min(MOST_KEYS, len(ordered) - shared + 1)] if ordered else []


def _squares(place: Coordinates) -> list[int]:
    own = square_of(place)
    around = squares_within(place, SAME_TOWN_KM)
    if len(around) == 1 or len(around) > MOST_SQUARES:
        return [own]
    return [own, *(square for square in around if square != own)]
