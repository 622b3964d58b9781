"""A source's circuit breaker: stop calling what keeps failing, probe it, trust it again."""

from datetime import datetime, timedelta

import msgspec


class BreakerPolicy(msgspec.Struct, frozen=True):
    """When to open, for how long, and what closes it again."""

    threshold: int = 5
    cooldown: timedelta = timedelta(minutes=30)
    longest_cooldown: timedelta = timedelta(hours=24)
    successes_to_close: int = 1
    probe_patience: timedelta = timedelta(minutes=5)

    def rest(self, trips: int) -> timedelta:
        """How long to stay open after `trips` openings in a row before this one."""
        return min(self.longest_cooldown, self.cooldown * (1 << min(trips, 20)))


class Closed(msgspec.Struct, frozen=True):
    """Calls go through; the last `failures` of them failed."""

    failures: int = 0


class Open(msgspec.Struct, frozen=True):
    """No calls before `until`; this is the `trips`-th time in a row."""

    until: datetime
    trips: int


class Probing(msgspec.Struct, frozen=True):
    """Trust is being rebuilt: one call at a time, and its result decides.

    `deadline` is set while a probe is out. A probe that has not answered by then is given up (its worker died),
    and another may go.
    """

    trips: int
    successes: int = 0
    deadline: datetime | None = None


Breaker = Closed | Open | Probing


def ask(breaker: Breaker, policy: BreakerPolicy, now: datetime) -> tuple[Breaker, bool]:
    """May we call now? After the cooldown exactly one probe at a time may."""
    match breaker:
        case Closed():
            return breaker, True
        case Open(until=until, trips=trips) if now >= until:
            return Probing(trips, 0, now + policy.probe_patience), True
        case Probing(trips=trips, successes=successes, deadline=deadline) if deadline is None or now >= deadline:
            return Probing(trips, successes, now + policy.probe_patience), True
        case Open() | Probing():
            return breaker, False


def succeeded(breaker: Breaker, policy: BreakerPolicy) -> Breaker:
    """The breaker after a call that went well; a call from before the opening proves nothing."""
    match breaker:
        case Closed():
            return Closed()
        case Open():
            return breaker
        case Probing(trips=trips, successes=successes):
            enough = successes + 1 >= policy.successes_to_close
            return Closed() if enough else Probing(trips, successes + 1)


def failed(breaker: Breaker, policy: BreakerPolicy, now: datetime) -> Breaker:
    """The breaker after a call that failed."""
    match breaker:
        case Closed(failures=failures) if failures + 1 >= policy.threshold:
            return Open(now + policy.rest(0), 1)
        case Closed(failures=failures):
            return Closed(failures + 1)
        case Open():
            return breaker
        case Probing(trips=trips):
            return Open(now + policy.rest(trips), trips + 1)


def given_up(breaker: Breaker, policy: BreakerPolicy, now: datetime) -> Breaker:
    """The breaker after trouble that trying again does not mend: open at once, without counting to the threshold."""
    match breaker:
        case Closed():
            return Open(now + policy.rest(0), 1)
        case _:
            return failed(breaker, policy, now)


def reopens_at(breaker: Breaker, now: datetime) -> datetime:
    """The first moment at which asking again makes sense."""
    match breaker:
        case Open(until=until):
            return max(now, until)
        case Probing(deadline=datetime() as deadline):
            return max(now, deadline)
        case _:
            return now
