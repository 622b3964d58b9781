"""What an outside service may cost us: by the hour, the day and the month, in its own smallest unit."""

from datetime import datetime, timedelta

import msgspec

HOUR = timedelta(hours=1)


class Budget(msgspec.Struct, frozen=True):
    """So much and no more in each hour, day and month of the calendar, in UTC; None sets no limit."""

    hour: int | None = None
    day: int | None = None
    month: int | None = None


class Spent(msgspec.Struct, frozen=True):
    """What was spent in the present hour, day and month."""

    hour: int = 0
    day: int = 0
    month: int = 0


class Refused(msgspec.Struct, frozen=True):
    """Which limit is in the way, and when its period ends."""

    period: str
    limit: int
    until: datetime


def refusal(budget: Budget, spent: Spent, cost: int, now: datetime) -> Refused | None:
    """Whether `cost` more would break a limit; of several the one that stays in the way for longest."""
    for period in ("month", "day", "hour"):
        limit = getattr(budget, period)
        if limit is not None and getattr(spent, period) + cost > limit:
            return Refused(period, limit, end_of(period, now))
    return None


def start_of(period: str, now: datetime) -> datetime:
    """When the present period began."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    if period == "hour":
        return hour
    day = hour.replace(hour=0)
    return day if period == "day" else day.replace(day=1)


def end_of(period: str, now: datetime) -> datetime:
    """When the present period ends."""
    if period == "hour":
        return start_of(period, now) + HOUR
    if period == "day":
        return start_of(period, now) + 24 * HOUR
    return start_of("month", start_of("month", now) + 32 * 24 * HOUR)
