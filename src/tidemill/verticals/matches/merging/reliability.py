"""How far a site can be relied on: the share of its good readings over the last 15 minutes."""

from datetime import UTC, datetime, timedelta

import msgspec

WINDOW_MINUTES = 15
DEMOTED_UNDER = 0.5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)


class MinuteCount(msgspec.Struct, frozen=True):
    """Readings within one minute."""

    minute: int
    good: int
    bad: int


class SiteReliability(msgspec.Struct, frozen=True):
    """Readings by the minute, the newest last, and all of them together."""

    minutes: tuple[MinuteCount, ...] = ()
    good: int = 0
    bad: int = 0

    @property
    def share(self) -> float:
        """The share of good readings; 1 for a site of which nothing is known."""
        return self.good / (self.good + self.bad) if self.bad else 1.0

    @property
    def is_demoted(self) -> bool:
        """Whether the site comes after all others."""
        return self.share < DEMOTED_UNDER


def after_telling(reliability: SiteReliability, at: datetime, *, good: bool) -> SiteReliability:
    """Return the reliability with one more reading; what is older than 15 minutes no longer counts."""
    minute = (at - _EPOCH) // _MINUTE
    minutes = reliability.minutes
    last = minutes[-1] if minutes else None
    if last is not None and last.minute >= minute:
        newest = MinuteCount(last.minute, last.good + good, last.bad + (not good))
        return SiteReliability((*minutes[:-1], newest), reliability.good + good, reliability.bad + (not good))
    kept = tuple(each for each in minutes if each.minute > minute - WINDOW_MINUTES)
    return SiteReliability(
        (*kept, MinuteCount(minute, int(good), int(not good))),
        sum(each.good for each in kept) + good,
        sum(each.bad for each in kept) + (not good),
    )
