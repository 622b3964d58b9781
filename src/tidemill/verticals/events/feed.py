"""A person's feed: what is on, ranked by what they care about."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import exp, log2

import msgspec

from tidemill.core.discovery.places import kilometres
from tidemill.core.source import Coordinates

HALF_WAY_KM = 10.0
"""At this distance an event has lost half of what nearness gives."""
HALF_WAY_DAYS = 5.0
"""At this many days from now it has lost half of what being soon gives."""
MANY_SOURCES = 8
"""So many sources make an event as popular as can be."""


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """How much each reason counts against the others; only their proportions matter."""

    distance: float = 3.0
    category: float = 3.0
    time: float = 2.0
    reliability: float = 1.0
    popularity: float = 1.0


USUAL_WEIGHTS = Weights()


class FeedPreferences(msgspec.Struct, frozen=True, kw_only=True):
    """Whom the feed is for: where they are, what they like (by category, 0 to 1), and as of when."""

    as_of: datetime
    place: Coordinates | None = None
    tastes: Mapping[str, float] = msgspec.field(default_factory=dict)
    weights: Weights = USUAL_WEIGHTS


class FeedCandidate(msgspec.Struct, frozen=True):
    """As much of an event as ranking looks at."""

    id: int
    event_date: datetime
    category: str
    place: Coordinates | None
    sources: int
    reliability: float


def score(candidate: FeedCandidate, preferences: FeedPreferences) -> float:
    """How well the event fits the preferences, from 0 to 1, rounded to what a cursor can hold.

    A reason that the preferences leave out does not count: without a place, distance is no matter.
    """
    weights = preferences.weights
    parts = [
        (weights.time, nearness_in_time(candidate.event_date - preferences.as_of)),
        (weights.reliability, min(1.0, max(0.0, candidate.reliability))),
        (weights.popularity, min(1.0, log2(1 + candidate.sources) / log2(1 + MANY_SOURCES))),
    ]
    if preferences.place is not None:
        parts.append((weights.distance, nearness(candidate.place, preferences.place)))
    if preferences.tastes:
        parts.append((weights.category, min(1.0, max(0.0, preferences.tastes.get(candidate.category, 0.0)))))
    total = sum(weight for weight, _ in parts)
    return round(sum(weight * part for weight, part in parts) / total, 9) if total > 0 else 0.0


def nearness(place: Coordinates | None, here: Coordinates) -> float:
    """1 here, a half at ten kilometres, next to nothing far away; what is nowhere is not near."""
    return 0.0 if place is None else HALF_WAY_KM / (HALF_WAY_KM + kilometres(place, here))


def nearness_in_time(ahead: timedelta) -> float:
    """1 now, a half in five days, a quarter in ten; what has begun counts as now."""
    days = max(0.0, ahead / timedelta(days=1))
    return exp(-days * 0.6931471805599453 / HALF_WAY_DAYS)
