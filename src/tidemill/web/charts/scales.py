"""Where values and moments fall on a chart, and which of them its axes name."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_DAY = 86_400.0
_DAYS_WITH_HOURS = 3


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps `low` to `start` and `high` to `end`, in the units of the drawing; equal bounds fall in the middle."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return where a value falls, with one decimal."""
        if self.high == self.low:
            return round((self.start + self.end) / 2, 1)
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Return round values that span `low` to `high`: multiples of 1, 2, 2.5 or 5 times a power of ten."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    if low == high:
        low, high = (low - 1, high + 1) if low else (0.0, 1.0)
    rough = (high - low) / max(1, wanted)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in _STEPS if each * power >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(step * count, 10) for count in range(first, last + 1)]


def named_moments(first: datetime, last: datetime, wanted: int = 4) -> list[tuple[datetime, str]]:
    """Return moments evenly spread from the first to the last, each as its axis names it."""
    length = (last - first).total_seconds()
    if length <= 0:
        return [(first, _moment_name(first, 0.0))]
    count = wanted if length < _DAYS_WITH_HOURS * _DAY else max(1, min(wanted, int(length // _DAY)))
    moments = [first + timedelta(seconds=length * number / count) for number in range(count + 1)]
    return [(each, _moment_name(each, length)) for each in moments]


def _moment_name(moment: datetime, length: float) -> str:
    if length < _DAY:
        return f"{moment:%H:%M}"
    if length < _DAYS_WITH_HOURS * _DAY:
        return f"{moment.day} {moment:%b %H:%M}"
    if length < 300 * _DAY:
        return f"{moment.day} {moment:%b}"
    return f"{moment:%b %Y}"


def written(value: float) -> str:
    """Return a figure as charts write it: no decimals that say nothing."""
    if not math.isfinite(value):
        return "unknown"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}"


def bounds(values: Sequence[float], *, from_zero: bool) -> tuple[float, float]:
    """Return the lowest and highest of the finite values; with `from_zero` the axis always shows zero."""
    finite = [each for each in values if math.isfinite(each)] or [0.0]
    low, high = min(finite), max(finite)
    return (min(0.0, low), max(0.0, high)) if from_zero else (low, high)
