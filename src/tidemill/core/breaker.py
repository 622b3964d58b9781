"""A source's circuit breaker: stop calling what keeps failing, probe it, trust it again."""

from datetime import datetime, timedelta

import msgspec


class BreakerPolicy(msgspec.Struct, frozen=True):
    """When to open, for how long, and what closes it again."""

    threshold: int = 5
    cooldown: timedelta = timedelta(minutes=30)
    longest_cooldown: timedelta = timedelta(hours=24)
    successes_to_close: int = 1
    probe_timeout: timedelta = timedelta(minutes=5)

    def cooldown_after(self, trips: int) -> timedelta:
        """Return how long to stay open after `trips` earlier openings in a row."""
        return min(self.longest_cooldown, self.cooldown * (1 << min(trips, 20)))


class Closed(msgspec.Struct, frozen=True):
    """Calls go through; the last `failures` of them failed."""

    failures: int = 0


class Open(msgspec.Struct, frozen=True):
    """No calls before `until`; this is the `trips`-th time in a row."""

    until: datetime
    trips: int


class Probing(msgspec.Struct, frozen=True):
    """One call at a time is let through, and its result decides.

    `deadline` is set while a probe runs. A probe without a result by then is given up (its worker died),
    and another may start.
    """

    trips: int
    successes: int = 0
    deadline: datetime | None = None


Breaker = Closed | Open | Probing


def ask(breaker: Breaker, policy: BreakerPolicy, now: datetime) -> tuple[Breaker, bool]:
    """Return the new state and whether a call may go now; after the cooldown one probe at a time may."""
    match breaker:
        case Closed():
            return breaker, True
        case Open(until=until, trips=trips) if now >= until:
            return Probing(trips, 0, now + policy.probe_timeout), True
        case Probing(trips=trips, successes=successes, deadline=deadline) if deadline is None or now >= deadline:
            return Probing(trips, successes, now + policy.probe_timeout), True
        case Open() | Probing():
            return breaker, False


def succeeded(breaker: Breaker, policy: BreakerPolicy) -> Breaker:
    """Return the breaker after a successful call; a call that started before the opening changes nothing."""
    match breaker:
        case Closed():
            return Closed()
        case Open():
            return breaker
        case Probing(trips=trips, successes=successes):
            enough = successes + 1 >= policy.successes_to_close
            return Closed() if enough else Probing(trips, successes + 1)


def failed(breaker: Breaker, policy: BreakerPolicy, now: datetime) -> Breaker:
    """Return the breaker after a failed call."""
    match breaker:
        case Closed(failures=failures) if failures + 1 >= policy.threshold:
            return Open(now + policy.cooldown_after(0), 1)
        case Closed(failures=failures):
            return Closed(failures + 1)
        case Open():
            return breaker
        case Probing(trips=trips):
            return Open(now + policy.cooldown_after(trips), trips + 1)


def forced_open(breaker: Breaker, policy: BreakerPolicy, now: datetime) -> Breaker:
    """Return the breaker opened at once, whatever its failure count: every page of a watched site fails alike."""
    match breaker:
        case Closed():
            return Open(now + policy.cooldown_after(0), 1)
        case _:
            return failed(breaker, policy, now)


def reopens_at(breaker: Breaker, now: datetime) -> datetime:
    """Return the earliest time at which a call may go."""
    match breaker:
        case Open(until=until):
            return max(now, until)
        case Probing(deadline=datetime() as deadline):
            return max(now, deadline)
        case _:
            return now
