"""How fast the budget of an objective burns, which alerts that is, and what is left of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.alerts.table import ALERTS, AlertName
from tidemill.core.objectives.minutes import HourOfMinutes, count_minutes
from tidemill.core.objectives.objective import Objective, bad_minutes_allowed

WINDOWS: Mapping[str, timedelta] = {
    "5m": timedelta(minutes=5),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "3d": timedelta(days=3),
}
"""The spans that burning is measured over, by the name that metrics give them."""

BURN_ALERTS: Mapping[AlertName, tuple[str, ...]] = {
    AlertName.OBJECTIVE_FAST_BURN: ("1h", "5m"),
    AlertName.OBJECTIVE_BURN: ("6h", "30m"),
    AlertName.OBJECTIVE_SLOW_BURN: ("3d",),
}
"""The spans over each of which an objective must burn too fast; the short one ends the alert soon after its cause."""


class MinuteBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The minutes that may be bad in an objective's period, those that were, and how many were looked at."""

    allowed: float
    bad: int
    counted: int

    @property
    def left(self) -> float:
        """The minutes that are left; negative when the objective is missed."""
        return self.allowed - self.bad

    @property
    def share_left(self) -> float:
        """What is left as a share of what was allowed."""
        return self.left / self.allowed


def budget(hours: Sequence[HourOfMinutes], objective: Objective, now: datetime) -> MinuteBudget:
    """Return how the budget stands at a moment."""
    counts = count_minutes(hours, now, objective.period)
    return MinuteBudget(allowed=objective.budget_minutes, bad=counts.bad, counted=counts.counted)


def burn_rates(hours: Sequence[HourOfMinutes], objective: Objective, now: datetime) -> dict[str, float]:
    """Return for each span how many times as fast as allowed the budget burns.

    Minutes that nobody looked at count as good: a new objective has not burned anything yet.
    """
    return {name: _rate(hours, objective, now, span) for name, span in WINDOWS.items()}


def _rate(hours: Sequence[HourOfMinutes], objective: Objective, now: datetime, span: timedelta) -> float:
    return count_minutes(hours, now, span).bad / bad_minutes_allowed(span, objective.minutes)


def burning(rates: Mapping[str, float]) -> list[AlertName]:
    """Return the alerts that these rates are."""
    return [
        alert for alert, names in BURN_ALERTS.items() if all(rates[name] > (ALERTS[alert].limit or 0) for name in names)
    ]
