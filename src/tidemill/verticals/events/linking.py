"""Whether two sources tell of the same event: much the same title, the same day, the same place.

Conservative on purpose: two cards for one event are a blemish, one card for two events is a lie.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

import msgspec

from tidemill.core.discovery.places import kilometres
from tidemill.core.source import Coordinates
from tidemill.verticals.events.record import Event, Precision

NEAR_KM = 1.0
"""Two venues that are known to the street."""
SAME_TOWN_KM = 12.0
"""Coordinates of a town, or a source's own, may be this far from the venue."""
SAME_TIME = timedelta(minutes=45)
"""Doors, support act and main act are one evening."""
ALIKE, ALIKE_AT_ONE_VENUE = 0.85, 0.6
"""How much of two titles must agree."""
_WORD = re.compile(r"\d+|[^\W\d_]+")
_EMPTY_WORDS = frozenset(
    _WORD.findall(
        "de het een en van in op te met voor bij aan om uit naar der den the a an and of on at with for by to"
        " live presents presenteert uitverkocht sold out gratis free nieuw new extra"
    )
)


class KnownEvent(msgspec.Struct, frozen=True, kw_only=True):
    """As much of an event as linking looks at; `words` and `venue` are folded already."""

    id: int
    source_id: int
    day: date
    starts: datetime
    has_time: bool
    place: Coordinates | None
    exact: bool
    words: frozenset[str]
    venue: frozenset[str]


class Likeness(msgspec.Struct, frozen=True):
    """How alike two events are, from 0 to 1, and by what."""

    score: float
    reasons: tuple[str, ...]


def folded_words(text: str) -> list[str]:
    """The words of a text as they are compared and searched: lower case, no accents, in order."""
    if text.isascii():
        return _WORD.findall(text.lower())
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(letter for letter in plain if not unicodedata.combining(letter)))


@lru_cache(maxsize=10_000)
def _word_set(text: str) -> frozenset[str]:
    """The words of a name that many events share, or of an event that is met again."""
    return frozenset(folded_words(text))


def known(key: int, event: Event) -> KnownEvent:
    """What linking looks at."""
    place = None
    if event.latitude is not None and event.longitude is not None:
        place = Coordinates(event.latitude, event.longitude)
    venue = _word_set(event.venue_name) - _EMPTY_WORDS
    town = _word_set(event.structured_location.city)
    words = _word_set(event.title)
    telling = words - _EMPTY_WORDS - venue - town
    return KnownEvent(
        id=key,
        source_id=event.source_id,
        day=event.structured_date.start,
        starts=event.event_date,
        has_time=event.event_time != "TBD",
        place=place,
        exact=event.location_precision is Precision.VENUE,
        words=telling or words,
        venue=venue - town or venue,
    )


def likeness(one: KnownEvent, other: KnownEvent) -> Likeness | None:
    """How alike two events of different sources are; None when they cannot be taken for one."""
    if one.source_id == other.source_id or one.day != other.day or not _same_time(one, other):
        return None
    distance = _distance(one, other)
    if distance is None or numbers_of(one.words) != numbers_of(other.words):
        return None
    title = agreement(one.words, other.words)
    venue = agreement(one.venue, other.venue)
    at_one_venue = venue >= ALIKE_AT_ONE_VENUE
    if title < (ALIKE_AT_ONE_VENUE if at_one_venue else ALIKE):
        return None
    reasons = (f"titles agree by {title:.0%}", f"venues agree by {venue:.0%}", f"{distance:.1f} km apart", "same day")
    return Likeness(round((2 * title + venue) / 3 if at_one_venue else title * 0.9, 3), reasons)


def agreement(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of their words that both have."""
    if not one or not other:
        return 0.0
    both = len(one & other)
    return both / len(one | other)


def groups(members: Sequence[KnownEvent], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The keys in groups of what was linked, directly or by way of others; at most one event per source in each.

    `links` come best first; one that would bring two events of a source together is not followed.
    """
    leader = {member.id: member.id for member in members}
    held = {member.id: {member.source_id: member.id} for member in members}
    for one, other in links:
        first, second = sorted((leader[one], leader[other]))
        if first != second and held[first].keys().isdisjoint(held[second]):
            moved = held.pop(second)
            leader.update(dict.fromkeys(moved.values(), first))
            held[first] |= moved
    return [sorted(each.values()) for each in held.values()]


def _same_time(one: KnownEvent, other: KnownEvent) -> bool:
    return not (one.has_time and other.has_time) or abs(one.starts - other.starts) <= SAME_TIME


def _distance(one: KnownEvent, other: KnownEvent) -> float | None:
    if one.place is None or other.place is None:
        return None
    distance = kilometres(one.place, other.place)
    return distance if distance <= (NEAR_KM if one.exact and other.exact else SAME_TOWN_KM) else None


def numbers_of(words: frozenset[str]) -> frozenset[str]:
    """Parts, rounds and years tell one evening of a series from another."""
    return frozenset(word for word in words if word.isdigit())
