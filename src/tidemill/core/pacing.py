"""How often a host may be asked: spacing, burst and parallelism per registrable domain, with exceptions."""

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
        """Refuse a pace under which nothing could ever be asked."""
        if self.interval < timedelta(0) or self.burst < 1 or self.parallel < 1:
            msg = f"a pace needs an interval of 0 or more, a burst and parallelism of 1 or more, not {self}"
            raise ValueError(msg)


OwnPaces = Mapping[str, Pace]
"""Host names with a pace of their own, apart from that of their registrable domain."""


def pace_key(host: str, own: OwnPaces) -> str:
    """Under whose name a host's requests are counted: its own if it has a pace of its own, else its domain's."""
    return host if host in own else registrable_domain(host)


def own_host(url: str, own: OwnPaces) -> str:
    """The host of an address, if it has a pace of its own; '' for any other, and for what is no address at all."""
    if not own:
        return ""
    try:
        host = host_of(url)
    except BadUrl:
        return ""
    return host if host in own else ""


def is_exception(key: str) -> bool:
    """Whether requests are counted under this name apart from those of its registrable domain."""
    try:
        return registrable_domain(key) != key
    except BadUrl:
        return False


def slower(pace: Pace, crawl_delay: timedelta | None) -> Pace:
    """The pace with a robots.txt Crawl-delay applied (held within 1-60 s): it can slow us, never speed us up."""
    if crawl_delay is None:
        return pace
    delay = min(max(crawl_delay, MINIMUM_CRAWL_DELAY), MAXIMUM_CRAWL_DELAY)
    return Pace(delay, 1, pace.parallel) if delay > pace.interval else pace


def free_slots(pace: Pace, booked_until: datetime | None, in_flight: int, now: datetime) -> int:
    """How many requests may start now.

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
    """The booking after `requests` more, asked at `now`."""
    start = now if booked_until is None or booked_until < now else booked_until
    return start + pace.interval * requests


def opens_at(pace: Pace, booked_until: datetime | None, now: datetime) -> datetime:
    """The first moment at which one more request fits, as far as spacing goes."""
    if booked_until is None or pace.interval <= timedelta(0):
        return now
    return max(now, booked_until - pace.interval * (pace.burst - 1))


class Departure(msgspec.Struct, frozen=True):
    """Leave to send one request: not before `at`, and on a booking that then stands at `booked_until`."""

    at: datetime
    booked_until: datetime


def grace(pace: Pace) -> timedelta:
    """How late a request may leave in its slot; whoever comes after somebody else's slot stays clear of it.

    A claim of a host that is asked by one at a time holds the host alone, so that it may take longer to connect.
    """
    return pace.interval / (4 if is_held_alone(pace) else 20)


def is_held_alone(pace: Pace) -> bool:
    """Whether the ledger gives such a host to one job at a time, one request after the other."""
    return pace.parallel == 1 and pace.burst == 1


def is_punctual(pace: Pace, slot_at: datetime, now: datetime) -> bool:
    """Whether a request that leaves now still leaves in its slot."""
    return now - slot_at <= grace(pace)


def next_slot(pace: Pace, booked_until: datetime | None, now: datetime, mine: datetime | None) -> Departure:
    """The first moment at which one more request fits on a booking that several processes share.

    `mine` is the booking as this process left it. If nobody has come after, its own spacing is all that counts;
    otherwise the last one on the booking may still leave late in its slot, and is given that much room.
    """
    if booked_until is None or booked_until == mine:
        return Departure(now, now + pace.interval if pace.burst == 1 else charged(pace, booked_until, 1, now))
    at = opens_at(pace, booked_until + grace(pace), now)
    return Departure(at, charged(pace, booked_until, 1, at))
