"""When a target is due: cron text, a tier, a plain interval, or one that adapts to how often the page changes."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_INTERVAL = timedelta(days=366)
SHORTEST_SLOT = timedelta(milliseconds=100)
CRON_FIELDS = 5
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

_INTERVAL = re.compile(r"every\s+(\d{1,9}(?:\.\d{1,3})?)\s*([smhd])\Z")
_ADAPTIVE = re.compile(r"adaptive\s+(\d{1,9})\s*([smhd])\s*-\s*(\d{1,9})\s*([smhd])\Z")
_STEPPED_LAST = re.compile(r"\bL/", re.IGNORECASE)
_TIER = re.compile(r"tier(?:\s+(\w+))?\Z")


class BadSchedule(ValueError):
    """An invalid schedule text; the message says what to write instead."""


class Cron(msgspec.Struct, frozen=True):
    """At the times of a cron expression, in the source's time zone."""

    line: str


class Every(msgspec.Struct, frozen=True):
    """Once per interval."""

    interval: timedelta


class Adaptive(msgspec.Struct, frozen=True):
    """Sooner after a change, later after none, between two bounds."""

    shortest: timedelta
    longest: timedelta


class Tier(msgspec.Struct, frozen=True):
    """At the interval of the source's tier, or of a named tier."""

    name: str | None


Schedule = Cron | Every | Adaptive | Tier


def parse_schedule(text: str) -> Schedule:
    """Parse a schedule: `0 6 * * *`, `@daily`, `daily`, `every 6h`, `every 2.5s`, `adaptive 1h-24h` or `tier hot`."""
    plain = " ".join(text.lower().split())
    if found := _INTERVAL.match(plain):
        return Every(_span(found[1], found[2], text))
    if found := _ADAPTIVE.match(plain):
        return _adaptive(found, text)
    if found := _TIER.match(plain):
        return Tier(found[1])
    line = ALIASES.get(plain) or ALIASES.get(f"@{plain}") or " ".join(text.split())
    if problem := _cron_problem(line):
        msg = (
            f"{text!r} is no schedule ({problem}); write cron like '0 6 * * *', 'every 6h', 'adaptive 1h-24h' or 'tier'"
        )
        raise BadSchedule(msg)
    return Cron(line)


def next_due(
    schedule: Schedule, after: datetime, zone: ZoneInfo, tiers: Mapping[str, timedelta], tier: str
) -> datetime:
    """Return the first scheduled time after `after`."""
    match schedule:
        case Cron(line=line):
            moment = next(CronSim(line, after.astimezone(zone)))
            return moment.astimezone(after.tzinfo)
        case Every(interval=interval) | Adaptive(shortest=interval):
            return after + interval
        case Tier(name=name):
            return after + tier_interval(name or tier, tiers)


def tier_interval(tier: str, tiers: Mapping[str, timedelta]) -> timedelta:
    """Return the interval of a tier; raise `BadSchedule`, which lists the known tiers, for an unknown one."""
    if tier not in tiers:
        msg = f"unknown tier {tier!r}; this vertical has {', '.join(sorted(tiers)) or 'no tiers'}"
        raise BadSchedule(msg)
    return tiers[tier]


def adapted_interval(schedule: Adaptive, interval: timedelta | None, *, changed: bool) -> timedelta:
    """Return the next interval: half the last one after a change, 1.5 times without one, within the bounds."""
    current = interval if interval is not None else schedule.shortest
    following = current / 2 if changed else current * 1.5
    return min(schedule.longest, max(schedule.shortest, following))


def with_jitter(moment: datetime, roll: float, width: timedelta) -> datetime:
    """Return the moment plus a random part of `width`, so that not everything starts at once."""
    return moment + width * roll


def span_in_words(length: timedelta) -> str:
    """Return a span of time in the largest unit that writes it whole: `15 s`, `90 min`, `6 h`, `1 d`."""
    seconds = int(length.total_seconds())
    size, unit = next((each for each in _UNITS_IN_WORDS if seconds and seconds % each[0] == 0), (1, "s"))
    return f"{seconds // size} {unit}"


def format_duration(length: timedelta) -> str:
    """Return a duration roughly, in the largest unit of which it has two: `90 s`, `5 min`."""
    seconds = int(length.total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def rhythm_in_words(period: timedelta) -> str:
    """Return how often something comes: `every minute`, `every 15 s`, `every day`."""
    count, unit = span_in_words(period).split()
    return f"every {_WHOLE_UNITS.get(unit, unit)}" if count == "1" else f"every {count} {unit}"


_WHOLE_UNITS = {"d": "day", "h": "hour", "min": "minute", "s": "second"}
_UNITS_IN_WORDS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def slot_of(moment: datetime, period: timedelta) -> datetime:
    """Return the start of the time slot that `moment` falls in, the same for every process."""
    since = moment - EPOCH
    return moment - since % max(SHORTEST_SLOT, period)


def _cron_problem(line: str) -> str:
    """Return what is wrong with a cron expression; '' if it is valid."""
    fields = len(line.split())
    if fields == CRON_FIELDS + 1:
        return "cron has five fields, none for seconds; for seconds write 'every 30s'"
    if _STEPPED_LAST.search(line):
        return "the last day of a month has no steps"
    try:
        CronSim(line, datetime(2026, 1, 1))  # noqa: DTZ001 - only its syntax is tried, no moment is meant
    except CronSimError as error:
        return str(error)
    return ""


def _adaptive(found: re.Match[str], text: str) -> Adaptive:
    shortest, longest = _span(found[1], found[2], text), _span(found[3], found[4], text)
    if shortest > longest:
        msg = f"{text!r} has its bounds the wrong way round; write the shorter one first"
        raise BadSchedule(msg)
    return Adaptive(shortest, longest)


def _span(number: str, unit: str, text: str) -> timedelta:
    seconds = float(number) * UNITS[unit]
    if seconds > LONGEST_INTERVAL.total_seconds():
        msg = f"{text!r} is longer than anybody waits; write a year at most"
        raise BadSchedule(msg)
    span = timedelta(seconds=seconds)
    if span <= timedelta(0):
        msg = f"{text!r} would never wait; write an interval over zero"
        raise BadSchedule(msg)
    return span
