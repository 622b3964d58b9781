"""What happens to workers and sources, on a timetable of its own: kill -9, a freeze, a switch thrown in mid-run."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from random import Random

import msgspec

from tidemill.lab.dice import dice
from tidemill.lab.world import World

CRASH, FREEZE, SWITCH = "worker-crash", "frozen-worker", "source-off"
ACCIDENTS = (CRASH, FREEZE, SWITCH)

_DAYS_BETWEEN = {CRASH: 1.5, FREEZE: 3.0, SWITCH: 2.0}
_EARLY = timedelta(seconds=30)  # before the dispatch whose runs it hits
_RUSH_HOURS = (5, 6)  # UTC: six in the morning in the Netherlands and in Britain


class Crash(msgspec.Struct, frozen=True):
    """The worker dies some way `into` the next run from `at` on, and another one is started `after` it."""

    at: datetime
    into: timedelta
    after: timedelta


class Freeze(msgspec.Struct, frozen=True):
    """The worker stands still for `lasts`; another one takes over until `relieved` after the thaw."""

    at: datetime
    into: timedelta
    lasts: timedelta
    relieved: timedelta


class Switch(msgspec.Struct, frozen=True):
    """A source is switched off when its jobs are enqueued already, and on again later."""

    at: datetime
    host: str
    lasts: timedelta


Accident = Crash | Freeze | Switch


def accidents(
    world: World, days: float, kinds: Collection[str], *, lease: timedelta, rhythm: timedelta
) -> list[Accident]:
    """The accidents of `days`, in order, at least one of each kind.

    Workers have theirs in the middle of a run, with jobs under way; a switch is thrown just after a
    dispatch, which comes once per `rhythm`. A freeze outlasts the `lease`. Two never overlap: what one leaves behind
    must be put right on its own.
    """
    draw = dice(world.seed, "accidents")
    drawn: list[Accident] = []
    for kind in ACCIDENTS:
        if kind in kinds:
            count = max(1, round(days / _DAYS_BETWEEN[kind]))
            drawn += [_drawn(kind, draw, world, moment, lease) for moment in _moments(draw, world, days, count, rhythm)]
    return list(_apart(sorted(drawn, key=lambda accident: accident.at)))


def _moments(draw: Random, world: World, days: float, count: int, rhythm: timedelta) -> Iterator[datetime]:
    """Moments in rush hours, spread evenly over the days."""
    for number in range(count):
        morning = world.start + timedelta(days=days) * ((number + draw.uniform(0.1, 0.6)) / count)
        hour = morning.replace(hour=draw.choice(_RUSH_HOURS), minute=0, second=0, microsecond=0)
        if hour <= world.start:
            hour += timedelta(days=1)
        yield hour + rhythm


def _drawn(kind: str, draw: Random, world: World, at: datetime, lease: timedelta) -> Accident:
    into = timedelta(milliseconds=draw.choice((30, 90, 200, 350, 2_100)))  # most often with requests under way
    if kind == CRASH:
        return Crash(at - _EARLY, into, timedelta(seconds=draw.randint(5, 90)))
    if kind == FREEZE:
        return Freeze(at - _EARLY, into, lease * draw.uniform(1.8, 2.6), timedelta(minutes=draw.randint(5, 40)))
    host = draw.choice(sorted(world.origins))
    return Switch(at + into, host, timedelta(hours=draw.randint(2, 30)))


def _apart(ordered: list[Accident]) -> Iterator[Accident]:
    """Leave out worker accidents that begin before the last one is over."""
    free_from = ordered[0].at if ordered else None
    for accident in ordered:
        if isinstance(accident, Switch):
            yield accident
        elif free_from is None or accident.at >= free_from:
            yield accident
            free_from = accident.at + _takes(accident)


def _takes(accident: Crash | Freeze) -> timedelta:
    if isinstance(accident, Crash):
        return accident.after + timedelta(minutes=1)
    return accident.lasts + accident.relieved + timedelta(minutes=5)
