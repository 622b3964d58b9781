"""What a phrase says about time: a day, perhaps an hour, perhaps an end, in the source's time zone."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec

LAST_MINUTE = time(23, 59)
"""When a day ends that is named without an hour."""


class Grain(StrEnum):
    """How finely a phrase tells the time."""

    MINUTE = "minute"
    PART = "part"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


VAGUE = frozenset({Grain.WEEK, Grain.MONTH})
"""Grains too coarse to go anywhere by."""


class Moment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """When something happens.

    `starts` and `ends` are aware, at the offset that the zone has then; where only a day is known, `starts` is
    its midnight and `ends` its last minute. `all_day` is set only where the phrase says so. `text` is the
    phrase as given. A part of a day (`vanavond`) has its usual hours in `starts` and `ends`, and no `time`.
    `date_given`, `year_given` and `weekday_agrees` tell how much of it was guessed (None: no weekday named).
    """

    starts: datetime
    ends: datetime | None = None
    grain: Grain = Grain.DAY
    all_day: bool = False
    text: str = ""
    date_given: bool = True
    year_given: bool = True
    weekday_agrees: bool | None = None

    @property
    def day(self) -> date:
        """The day it starts on."""
        return self.starts.date()

    @property
    def time(self) -> time | None:
        """The time it starts, if the phrase names one."""
        return self.starts.time() if self.grain is Grain.MINUTE else None


@lru_cache(maxsize=256)
def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name; Amsterdam for a name that is none."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return ZoneInfo("Europe/Amsterdam")


@lru_cache(maxsize=256)
def _fixed(offset: timedelta) -> timezone:
    return timezone(offset)


def local(naive: datetime, zone: ZoneInfo) -> datetime:
    """A wall-clock time in a zone, as an aware time at a fixed offset.

    An hour that the clocks skip is read as the hour they show instead; of an hour that comes twice the first is meant.
    """
    offset = zone.utcoffset(naive)
    if offset is None:  # no ZoneInfo answers so; a zone that did would be as good as UTC
        return naive.replace(tzinfo=UTC)
    later = zone.utcoffset(naive.replace(fold=1))
    if later is not None and later > offset:
        return naive.replace(tzinfo=_fixed(offset)).astimezone(_fixed(later))
    return naive.replace(tzinfo=_fixed(offset), fold=0)


def moved(moment: Moment, day: date, time_zone: str) -> Moment:
    """The same hours on another day."""
    zone = zone_of(time_zone)
    shift = timedelta(days=(day - moment.day).days)
    starts = local(moment.starts.replace(tzinfo=None) + shift, zone)
    ends = local(moment.ends.replace(tzinfo=None) + shift, zone) if moment.ends is not None else None
    return msgspec.structs.replace(moment, starts=starts, ends=ends)


def in_zone(aware: datetime, zone: ZoneInfo) -> datetime:
    """An aware time as the zone's clocks show it, at a fixed offset.

    One offset is one object, because times that share theirs are compared seven times as fast.
    """
    shown = aware.astimezone(zone)
    offset = shown.utcoffset()
    return aware if offset is None else shown.replace(tzinfo=_fixed(offset), fold=0)
