"""Which sources cannot keep an objective by design: nobody expects what was switched off, or set to once a week."""

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from tidemill.core.schedules import Adaptive, BadSchedule, Every, next_due, parse_schedule

LOOKED_AHEAD = 10
"""Runs of a schedule that are looked at: enough to see a weekend."""


class ScheduledSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source with the schedules of its targets that are switched on; its tier and time zone resolve them."""

    id: int
    name: str
    is_on: bool
    tier: str = ""
    time_zone: str = "UTC"
    schedules: Sequence[str] = ()


class ExcludedSource(msgspec.Struct, frozen=True):
    """A source that an objective leaves out, and why."""

    name: str
    reason: str


def longest_pause(text: str, now: datetime, zone: str, tiers: Mapping[str, timedelta], tier: str) -> timedelta | None:
    """Return the longest time that a schedule leaves between two runs; None if it cannot be read."""
    try:
        schedule = parse_schedule(text)
        if isinstance(schedule, Every):
            return schedule.interval
        if isinstance(schedule, Adaptive):
            return schedule.longest
        moments = [next_due(schedule, now, ZoneInfo(zone), tiers, tier)]
        for _ in range(LOOKED_AHEAD):
            moments.append(next_due(schedule, moments[-1], ZoneInfo(zone), tiers, tier))
    except (BadSchedule, StopIteration, KeyError):
        return None
    return max(later - earlier for earlier, later in itertools.pairwise(moments))


def exclusion(
    source: ScheduledSource, within: timedelta, usual: str, tiers: Mapping[str, timedelta], now: datetime
) -> ExcludedSource | None:
    """Return why a source cannot be checked within a time by design; None if it can. `usual` is the vertical's rhythm.

    One that drift detection switched off is not left out: its records age, and that is what an objective is for.
    """
    if not source.is_on:
        return ExcludedSource(source.name, "switched off")
    if not source.schedules:
        return ExcludedSource(source.name, "no target is switched on")
    pauses = [longest_pause(text or usual, now, source.time_zone, tiers, source.tier) for text in source.schedules]
    known = [pause for pause in pauses if pause is not None]
    if known and min(known) > within:
        hours = min(known).total_seconds() / 3_600
        return ExcludedSource(source.name, f"its schedule leaves {hours:.4g} h between two runs")
    return None
