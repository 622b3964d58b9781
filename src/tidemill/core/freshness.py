"""How sure we may still be of what we saw: confidence as an expression of last-seen, never a stored column.

A record is worth 100 when it is seen and 80 when it is found still there; either fades by so many points an hour.
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

BY_TIER: Mapping[str, int] = MappingProxyType({"hot": 3, "standard": 2, "cool": 1})
"""Points an hour by tier: what changes quickly is doubted sooner."""


class Fading(msgspec.Struct, frozen=True, kw_only=True):
    """How a kind of record fades: readers see it from `floor` up, and it is verified below `verify_under`.

    The second lies above the first, so that nothing vanishes unchecked.
    """

    rates: Mapping[str, int] = BY_TIER
    floor: int = 40
    verify_under: int = 55

    def rate(self, tier: str) -> int:
        """Points an hour; a tier that nobody named fades as fast as any."""
        return self.rates.get(tier, max(self.rates.values()))


def confidence(rate: int, now: datetime, seen_at: datetime, verified_at: datetime | None = None) -> int:
    """How sure we are, from 0 to 100: the better of when it was seen and when it was verified."""
    by_sight = faded(SEEN, rate, now - seen_at)
    by_check = 0 if verified_at is None else faded(VERIFIED, rate, now - verified_at)
    return max(by_sight, by_check)


def faded(worth: int, rate: int, age: timedelta) -> int:
    """What is left of a worth after so long; whole points are lost when they are wholly spent."""
    elapsed = max(0, age // _MICROSECOND)
    return max(0, worth - rate * elapsed // MICROS_AN_HOUR)


def lasts(worth: int, rate: int, level: int) -> timedelta:
    """How long a worth stays at `level` or above: one microsecond before it is over, it still does."""
    lost = worth - level + 1
    return timedelta(microseconds=-(-lost * MICROS_AN_HOUR // rate)) if lost > 0 else timedelta(0)


FRESH = 80


class Badge(msgspec.Struct, frozen=True):
    """What a reader is told about a record's freshness."""

    colour: str
    text: str


def badge(fading: Fading, sure: int, first_seen_at: datetime, now: datetime) -> Badge | None:
    """The badge for a confidence; None below the floor, where readers see nothing at all."""
    if sure >= FRESH:
        return Badge("green", "Recently verified")
    if sure >= 50:  # noqa: PLR2004 - the badge's own bound
        return Badge("yellow", f"Listed {days_ago(first_seen_at, now)}")
    return Badge("orange", "May no longer be available") if sure >= fading.floor else None


def days_ago(moment: datetime, now: datetime) -> str:
    """`today`, `1 day ago`, `12 days ago`."""
    days = max(0, (now - moment).days)
    return "today" if days == 0 else f"{days} day{'s' if days > 1 else ''} ago"


def fading_troubles(fading: Fading, cycles: Mapping[str, timedelta]) -> list[str]:
    """Where fading and schedule contradict each other, in words: one missed scrape must hide nothing."""
    found = []
    if fading.verify_under <= fading.floor:
        found.append(
            f"records are verified under {fading.verify_under}, but readers lose them under {fading.floor}: "
            "ask for verification above the readers' floor"
        )
    for tier, cycle in cycles.items():
        if (trouble := too_fast(fading, tier, cycle)) is not None:
            found.append(trouble)
    return found


def too_fast(fading: Fading, tier: str, cycle: timedelta) -> str | None:
    """Why records of a tier would vanish before two scrapes had their chance; None if they do not."""
    rate = fading.rate(tier)
    visible = lasts(SEEN, rate, fading.floor)
    if visible >= 2 * cycle:
        return None
    return (
        f"in tier {tier!r} readers lose a record {hours(visible)} after it was seen ({rate} points an hour), but it is "
        f"only scraped every {hours(cycle)}: one missed scrape would hide it; scrape at least every "
        f"{hours(visible / 2)}, or choose a slower tier"
    )


def hours(span: timedelta) -> str:
    """A span in hours, as a person says it."""
    return f"{span / HOUR:.3g} h"
