"""A host's pace as a budget: which of its pages are polled when it does not suffice for all of them.

The list page goes first, because one request tells of all scores. Then what is known to have moved, live things before
imminent before completed ones, the longest unchecked first. Every tenth request goes to whoever has waited longest
below the first class, so that nobody starves.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.live.polling import LiveUrgency
from tidemill.core.pacing import Pace

SHARE_OF_THE_LAST = 10
"""One request in so many goes to the classes below the first, and to others' jobs at the host."""
BOUGHT_AHEAD = timedelta(seconds=1)
"""Requests are booked for this long at once."""


class DuePage(msgspec.Struct, frozen=True):
    """A page that is due: its class, since when it was not checked, whether a list shows that it moved."""

    page: int
    urgency: LiveUrgency
    unchecked_since: datetime
    is_list: bool = False
    has_moved: bool = False


class Demand(msgspec.Struct, frozen=True):
    """What one page needs of its host: one request per `interval`."""

    interval: timedelta
    is_list: bool = False


def needed_per_second(demands: Iterable[Demand]) -> float:
    """Return how many requests a second pages need together."""
    return sum(1 / demand.interval.total_seconds() for demand in demands)


def allowed_per_second(pace: Pace) -> float:
    """Return how many requests a second a pace allows in the long run; infinite without spacing."""
    return 1 / pace.interval.total_seconds() if pace.interval else float("inf")


def is_short(demands: Iterable[Demand], pace: Pace) -> bool:
    """Return whether a host's pages need more than its pace allows."""
    return bool(pace.interval) and needed_per_second(demands) > allowed_per_second(pace)


def list_interval(pages: int, pace: Pace, usual: timedelta) -> timedelta:
    """Return how often to poll the list of a host that is short: it stands for all pages, but takes half at most."""
    return min(usual, max(pace.interval * 2, timedelta(seconds=2.5))) if pages > 1 else usual


def best_first(due: Sequence[DuePage], served: int, slots: int) -> list[DuePage]:
    """Return the pages that get the next `slots` requests of a host that has been asked `served` times before."""
    line = sorted(due, key=_order)
    taken: list[DuePage] = []
    while line and len(taken) < slots:
        is_turn_of_last = (served + len(taken) + 1) % SHARE_OF_THE_LAST == 0
        lower = [each for each in line if each.urgency is not LiveUrgency.LIVE] if is_turn_of_last else []
        chosen = min(lower, key=lambda each: each.unchecked_since) if lower else line[0]
        line.remove(chosen)
        taken.append(chosen)
    return taken


def slots_wanted(due: int, pace: Pace, *, others_wait: bool) -> int:
    """Return how many requests to book at once: those due, within a second; a tenth is left to others who wait."""
    if not pace.interval:
        return due
    within = max(1, int(BOUGHT_AHEAD / pace.interval)) + pace.burst - 1
    most = max(1, within - within // SHARE_OF_THE_LAST) if others_wait else within
    return min(due, most)


def debt_of(checked_at: datetime | None, since: datetime, interval: timedelta, now: datetime) -> timedelta:
    """Return how much longer than its interval a page has gone unchecked."""
    return max(timedelta(0), now - (checked_at or since) - interval)


def _order(candidate: DuePage) -> tuple[bool, int, bool, datetime, int]:
    return (
        not candidate.is_list,
        candidate.urgency,
        not candidate.has_moved,
        candidate.unchecked_since,
        candidate.page,
    )
