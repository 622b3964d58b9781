"""Good and bad minutes: one row per hour holds a bit for each minute, so that a minute counted twice counts once."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.objectives.objective import MINUTE, CheckedRecords, hour_of, minute_of

MINUTES = 60


class HourOfMinutes(msgspec.Struct, frozen=True):
    """An hour: bit n of `counted` says that minute n was looked at, bit n of `bad` that it was bad."""

    hour: datetime
    counted: int = 0
    bad: int = 0


class MinuteCounts(msgspec.Struct, frozen=True):
    """How many minutes of a span were looked at, and how many of these were bad."""

    counted: int
    bad: int


class LastMinute(msgspec.Struct, frozen=True):
    """The last minute that was looked at, and how it was."""

    minute: datetime
    is_bad: bool


class LastCount(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted last for an objective: the minute with its verdict, the records, and when."""

    last: LastMinute | None
    records: CheckedRecords
    at: datetime


def hours_with(good: Iterable[datetime], bad: Iterable[datetime]) -> list[HourOfMinutes]:
    """Return the rows that say of these minutes how they were."""
    counted: dict[datetime, int] = {}
    failed: dict[datetime, int] = {}
    for minute in good:
        counted[hour_of(minute)] = counted.get(hour_of(minute), 0) | 1 << minute.minute
    for minute in bad:
        counted[hour_of(minute)] = counted.get(hour_of(minute), 0) | 1 << minute.minute
        failed[hour_of(minute)] = failed.get(hour_of(minute), 0) | 1 << minute.minute
    return [HourOfMinutes(hour, bits, failed.get(hour, 0)) for hour, bits in sorted(counted.items())]


def minutes_between(after: datetime, until: datetime) -> list[datetime]:
    """Return every minute after one up to another, which is included."""
    count = max(0, int((minute_of(until) - minute_of(after)) / MINUTE))
    return [minute_of(after) + MINUTE * (place + 1) for place in range(count)]


def count_minutes(hours: Sequence[HourOfMinutes], now: datetime, span: timedelta) -> MinuteCounts:
    """Count the minutes of a span that ends with the minute of `now`, which is included."""
    end = minute_of(now) + MINUTE
    begin = end - span
    counted = bad = 0
    for row in hours:
        mask = _mask(row.hour, begin, end)
        counted += (row.counted & mask).bit_count()
        bad += (row.bad & mask).bit_count()
    return MinuteCounts(counted, bad)


def _mask(hour: datetime, begin: datetime, end: datetime) -> int:
    """Return the bits of the minutes of an hour that lie within a span."""
    first = min(MINUTES, max(0, int((begin - hour) / MINUTE)))
    last = min(MINUTES, max(0, int((end - hour) / MINUTE)))
    return ((1 << last) - 1) & ~((1 << first) - 1)


def last_minute(row: HourOfMinutes | None) -> LastMinute | None:
    """Return the last minute that a row knows of."""
    if row is None or not row.counted:
        return None
    place = row.counted.bit_length() - 1
    return LastMinute(row.hour + place * MINUTE, bool(row.bad >> place & 1))
