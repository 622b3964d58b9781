"""An objective: how many of a vertical's records are to be checked how lately, in how many minutes of a month."""

from datetime import datetime, timedelta

import msgspec

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


class Objective(msgspec.Struct, frozen=True, kw_only=True):
    """A minute is good if the share `records` of active records was checked `within` this time.

    Over `days`, the share `minutes` of all minutes is to be good; what may be bad is the budget. `source` is '' for
    all sources of the vertical that can keep it.
    """

    vertical: str
    source: str = ""
    within: timedelta
    records: float = 0.95
    minutes: float = 0.99
    days: int = 28

    @property
    def name(self) -> str:
        """What it is called: its vertical, and its source if it has one."""
        return f"{self.vertical}/{self.source}" if self.source else self.vertical

    @property
    def period(self) -> timedelta:
        """How long it looks back."""
        return self.days * DAY

    @property
    def budget_minutes(self) -> float:
        """How many minutes of the period may be bad."""
        return bad_minutes_allowed(self.period, self.minutes)

    @property
    def words(self) -> str:
        """The objective in a sentence."""
        hours = self.within.total_seconds() / 3_600
        return (
            f"{self.records:.4g} of active records checked within {hours:.4g} h, in {self.minutes:.4g} of the minutes "
            f"of {self.days} days"
        )


def bad_minutes_allowed(span: timedelta, good_share: float) -> float:
    """Return how many minutes of a span may be bad; rounded, so that 1 - 0.99 is what a person thinks it is."""
    return round(span / MINUTE * (1 - good_share), 6)


class CheckedRecords(msgspec.Struct, frozen=True):
    """How many records there are at a moment, and how many of them were checked lately enough."""

    active: int
    checked: int


def is_bad(counted: CheckedRecords, objective: Objective) -> bool:
    """Return whether a minute with these figures is bad; one with nothing to check is good."""
    return counted.checked < counted.active * objective.records - 1e-9


def minute_of(moment: datetime) -> datetime:
    """Return the start of a moment's minute."""
    return moment.replace(second=0, microsecond=0)


def hour_of(moment: datetime) -> datetime:
    """Return the start of a moment's hour."""
    return moment.replace(minute=0, second=0, microsecond=0)
