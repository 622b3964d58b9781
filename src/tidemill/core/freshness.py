"""Freshness: a record's confidence, computed from when it was last seen, never stored.

Confidence is 100 when a record is seen and 80 when it is verified; either falls by so many points an hour.
Everything is whole numbers of microseconds, so that a database computes the very same figure.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

import msgspec

SEEN, VERIFIED = 100, 80
HOUR = timedelta(hours=1)
_MICROSECOND = timedelta(microseconds=1)
MICROS_AN_HOUR = HOUR // _MICROSECOND

POINTS_PER_HOUR: Mapping[str, int] = MappingProxyType({"hot": 3, "standard": 2, "cool": 1})
"""Points that confidence loses per hour, by tier."""


class ConfidenceDecay(msgspec.Struct, frozen=True, kw_only=True):
    """How confidence falls: readers see a record from `floor` up, and it is verified below `verify_under`.

    `verify_under` is above `floor`, so that no record is hidden unverified.
    """

    rates: Mapping[str, int] = POINTS_PER_HOUR
    floor: int = 40
    verify_under: int = 55

    def rate(self, tier: str) -> int:
        """Return the points lost per hour; an unknown tier gets the highest rate."""
        return self.rates.get(tier, max(self.rates.values()))


def confidence(rate: int, now: datetime, seen_at: datetime, verified_at: datetime | None = None) -> int:
    """Return the confidence from 0 to 100: the higher of that since the last sighting and since the last check."""
    from_seen = decayed(SEEN, rate, now - seen_at)
    from_verified = 0 if verified_at is None else decayed(VERIFIED, rate, now - verified_at)
    return max(from_seen, from_verified)


def decayed(start: int, rate: int, age: timedelta) -> int:
    """Return what is left of `start` points after `age`; only whole points are subtracted."""
    elapsed = max(0, age // _MICROSECOND)
    return max(0, start - rate * elapsed // MICROS_AN_HOUR)


def time_until_below(start: int, rate: int, level: int) -> timedelta:
    """Return after how long `start` points fall below `level`, exact to the microsecond."""
    lost = start - level + 1
    return timedelta(microseconds=-(-lost * MICROS_AN_HOUR // rate)) if lost > 0 else timedelta(0)


FRESH = 80


class Badge(msgspec.Struct, frozen=True):
    """What a reader is told about a record's freshness."""

    colour: str
    text: str


def badge(decay: ConfidenceDecay, score: int, first_seen_at: datetime, now: datetime) -> Badge | None:
    """Return the badge for a confidence; None below the floor, where the record is hidden."""
    if score >= FRESH:
        return Badge("green", "Recently verified")
    if score >= 50:  # noqa: PLR2004 - the badge's own bound
        return Badge("yellow", f"Listed {days_ago(first_seen_at, now)}")
    return Badge("orange", "May no longer be available") if score >= decay.floor else None


def days_ago(moment: datetime, now: datetime) -> str:
    """Return `today`, `1 day ago` or `12 days ago`."""
    days = max(0, (now - moment).days)
    return "today" if days == 0 else f"{days} day{'s' if days > 1 else ''} ago"


def decay_problems(decay: ConfidenceDecay, cycles: Mapping[str, timedelta]) -> list[str]:
    """Return why decay and schedule contradict each other, in words: one missed scrape must hide nothing."""
    found = []
    if decay.verify_under <= decay.floor:
        found.append(
            f"records are verified under {decay.verify_under}, but readers lose them under {decay.floor}: "
            "ask for verification above the readers' floor"
        )
    for tier, cycle in cycles.items():
        if (problem := decay_problem(decay, tier, cycle)) is not None:
            found.append(problem)
    return found


def decay_problem(decay: ConfidenceDecay, tier: str, cycle: timedelta) -> str | None:
    """Return why records of a tier would be hidden before two scrapes are due; None if they would not."""
    rate = decay.rate(tier)
    visible = time_until_below(SEEN, rate, decay.floor)
    if visible >= 2 * cycle:
        return None
    return (
        f"in tier {tier!r} readers lose a record {in_hours(visible)} after it was seen ({rate} points an hour), but "
        f"it is only scraped every {in_hours(cycle)}: one missed scrape would hide it; scrape at least every "
        f"{in_hours(visible / 2)}, or choose a slower tier"
    )


def in_hours(span: timedelta) -> str:
    """Return a time span in hours, as text."""
    return f"{span / HOUR:.3g} h"
