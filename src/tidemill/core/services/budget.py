"""Spending limits for outside services by hour, day and month, in the service's smallest unit."""

from datetime import datetime, timedelta

import msgspec

HOUR = timedelta(hours=1)


class Budget(msgspec.Struct, frozen=True):
    """Limits per calendar hour, day and month in UTC; None sets no limit."""

    hour: int | None = None
    day: int | None = None
    month: int | None = None


class Spent(msgspec.Struct, frozen=True):
    """Spending in the current hour, day and month."""

    hour: int = 0
    day: int = 0
    month: int = 0


class BudgetRefusal(msgspec.Struct, frozen=True):
    """The limit that would be exceeded, and when its period ends."""

    period: str
    limit: int
    until: datetime


def budget_refusal(budget: Budget, spent: Spent, cost: int, now: datetime) -> BudgetRefusal | None:
    """Return the limit that `cost` more would exceed, the longest-lasting one of several; None if none."""
    for period in ("month", "day", "hour"):
        limit = getattr(budget, period)
        if limit is not None and getattr(spent, period) + cost > limit:
            return BudgetRefusal(period, limit, end_of(period, now))
    return None


def start_of(period: str, now: datetime) -> datetime:
    """Return when the current period began."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    if period == "hour":
        return hour
    day = hour.replace(hour=0)
    return day if period == "day" else day.replace(day=1)


def end_of(period: str, now: datetime) -> datetime:
    """Return when the current period ends."""
    if period == "hour":
        return start_of(period, now) + HOUR
    if period == "day":
        return start_of(period, now) + 24 * HOUR
    return start_of("month", start_of("month", now) + 32 * 24 * HOUR)
