"""Rate limits per host: spacing, burst and parallelism per registrable domain, with exceptions."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.urls import BadUrl, host_of, registrable_domain

MINIMUM_CRAWL_DELAY = timedelta(seconds=1)
MAXIMUM_CRAWL_DELAY = timedelta(seconds=60)


class Pace(msgspec.Struct, frozen=True):
    """At most one request per `interval` on average, `burst` of them at once, `parallel` under way together.

    The default is half a request a second, one at a time. An `interval` of zero means no spacing: only for
    hosts that are ours.
    """

    interval: timedelta = timedelta(seconds=2)
    burst: int = 1
    parallel: int = 1

    def __post_init__(self) -> None:
        """Raise `ValueError` for a pace under which no request could ever be sent."""
        if self.interval < timedelta(0) or self.burst < 1 or self.parallel < 1:
            msg = f"a pace needs an interval of 0 or more, a burst and parallelism of 1 or more, not {self}"
            raise ValueError(msg)


OwnPaces = Mapping[str, Pace]
"""Host names with a pace of their own, apart from that of their registrable domain."""


def pace_key(host: str, own: OwnPaces) -> str:
    """Return the name that a host's requests count against: its own if it has its own pace, else its domain."""
    return host if host in own else registrable_domain(host)


def own_host(url: str, own: OwnPaces) -> str:
    """Return the host of a URL if it has its own pace; '' for any other host and for an invalid URL."""
    if not own:
        return ""
    try:
        host = host_of(url)
    except BadUrl:
        return ""
    return host if host in own else ""


def has_own_pace(key: str) -> bool:
    """Return whether requests under this name are counted apart from its registrable domain."""
    try:
        return registrable_domain(key) != key
    except BadUrl:
        return False


def with_crawl_delay(pace: Pace, crawl_delay: timedelta | None) -> Pace:
    """Return the pace with a robots.txt Crawl-delay (limited to 1-60 s) applied; it never becomes faster."""
    if crawl_delay is None:
        return pace
    delay = min(max(crawl_delay, MINIMUM_CRAWL_DELAY), MAXIMUM_CRAWL_DELAY)
    return Pace(delay, 1, pace.parallel) if delay > pace.interval else pace


def requests_allowed(pace: Pace, booked_until: datetime | None, in_flight: int, now: datetime) -> int:
    """Return how many requests may start now.

    `booked_until` is the moment at which everything asked so far will have been paid for (a GCRA bucket): each request
    moves it on by one interval, and it may run ahead of `now` by `burst - 1` intervals at most.
    """
    room = max(0, pace.parallel - in_flight)
    if pace.interval <= timedelta(0):
        return room
    if booked_until is None or booked_until <= now:
        return min(room, pace.burst)
    ahead = (booked_until - now) / pace.interval
    return min(room, max(0, int(pace.burst - ahead + 1e-9)))


def charged(pace: Pace, booked_until: datetime | None, requests: int, now: datetime) -> datetime:
    """Return `booked_until` after `requests` more at `now`."""
    start = now if booked_until is None or booked_until < now else booked_until
    return start + pace.interval * requests


def opens_at(pace: Pace, booked_until: datetime | None, now: datetime) -> datetime:
    """Return the first time at which the spacing allows one more request."""
    if booked_until is None or pace.interval <= timedelta(0):
        return now
    return max(now, booked_until - pace.interval * (pace.burst - 1))


class Departure(msgspec.Struct, frozen=True):
    """Permission to send one request at `at`; the host is then booked until `booked_until`."""

    at: datetime
    booked_until: datetime


def departure_tolerance(pace: Pace) -> timedelta:
    """Return how late a request may leave; the next process leaves that much extra space.

    A host that is asked by one job at a time allows more, because that job may take longer to connect.
    """
    return pace.interval / (4 if is_held_alone(pace) else 20)


def is_held_alone(pace: Pace) -> bool:
    """Return whether the ledger gives such a host to one job at a time."""
    return pace.parallel == 1 and pace.burst == 1


def is_punctual(pace: Pace, departs_at: datetime, now: datetime) -> bool:
    """Return whether a request that leaves now is still within its tolerance."""
    return now - departs_at <= departure_tolerance(pace)


def next_departure(pace: Pace, booked_until: datetime | None, now: datetime, mine: datetime | None) -> Departure:
    """Return the first time at which one more request fits a booking that several processes share.

    `mine` is the booking as this process left it. If it is unchanged, this process's own spacing is enough;
    otherwise the last request may still leave late, and is given that much room.
    """
    if booked_until is None or booked_until == mine:
        return Departure(now, now + pace.interval if pace.burst == 1 else charged(pace, booked_until, 1, now))
    at = opens_at(pace, booked_until + departure_tolerance(pace), now)
    return Departure(at, charged(pace, booked_until, 1, at))


def departures(
    pace: Pace, booked_until: datetime | None, now: datetime, mine: datetime | None, count: int, within: timedelta
) -> list[Departure]:
    """Return up to `count` departures in a row that fit a shared booking, those `within` a while of the first."""
    slots = [next_departure(pace, booked_until, now, mine)]
    while len(slots) < count:
        booked = slots[-1].booked_until
        at = opens_at(pace, booked, slots[-1].at)
        if at - slots[0].at > within:
            break
        slots.append(Departure(at, charged(pace, booked, 1, at)))
    return slots
