"""The pace of each host: every request waits here until its host may be asked again, whoever asked it last.

Three books are kept, each for those who can see it: this process's own, always; the ledger in the database, where
there is one, for all processes; and a meter in Redis, where one is set up, for all machines by one clock. A request
leaves when all of them agree.
"""

import asyncio
from datetime import datetime, timedelta

from tidemill.core.pacing import Departure, Pace, charged, is_held_alone, is_punctual, opens_at, requests_allowed
from tidemill.fetching.stops import held_back
from tidemill.pipeline.ports import Clock, HostRateLimits, RequestPermit, SharedRateLimiter

HOSTS_REMEMBERED = 10_000  # beyond it, hosts at rest are forgotten
TRIES = 5  # a slot that passed while it was written down is taken anew so many times
LONGEST_WAIT = timedelta(seconds=5)  # a request that has its connection waits no longer for its turn
LONGEST_LEAD = timedelta(milliseconds=250)
STAY = timedelta(minutes=2)  # how long a request may be under way before its place is given to others
VISITORS_PATIENCE = timedelta(seconds=10)
LOOK_AGAIN = timedelta(milliseconds=100)


class _Host:
    """What one host has been asked: the booking of places given out, the booking of requests sent, those under way.

    `mine` is the ledger's booking as this process last left it, `claim` the last claim whose request was spent.
    """

    __slots__ = ("claim", "freed", "in_flight", "leaving", "mine", "name", "pace", "reserved", "sent", "sent_at",
                 "turn", "waiting")  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.pace: Pace | None = None
        self.reserved: datetime | None = None
        self.sent: datetime | None = None
        self.sent_at: datetime | None = None
        self.mine: datetime | None = None
        self.claim: Departure | None = None
        self.in_flight = 0
        self.waiting = 0
        self.turn = asyncio.Lock()
        self.leaving = asyncio.Lock()
        self.freed: asyncio.Future[None] | None = None

    def is_at_rest(self, now: datetime) -> bool:
        return not self.in_flight and not self.waiting and all(t is None or t <= now for t in self.tabs())

    def at_least(self, booked_until: datetime | None, pace: Pace) -> datetime | None:
        """The booking, or what the last request alone puts on it at a pace that may be slower than it was then."""
        if self.sent_at is None or pace.burst > 1:
            return booked_until
        return _later(booked_until, self.sent_at + pace.interval)

    def tabs(self) -> tuple[datetime | None, datetime | None]:
        return self.reserved, self.sent


class Pass:
    """Leave to send one request to one host; it must be given back."""

    __slots__ = ("_gate", "departed_at", "departures", "entered_at", "host", "is_visit", "lease", "pace", "slot_at")

    def __init__(
        self, gate: "HostPacer", host: _Host, pace: Pace, slot_at: datetime, entered_at: datetime, *, is_visit: bool
    ) -> None:
        """Not for callers: `Gate.enter` gives it out."""
        self._gate = gate
        self.host, self.pace, self.slot_at, self.is_visit = host, pace, slot_at, is_visit
        self.entered_at = self.departed_at = entered_at
        self.departures = 0
        self.lease: RequestPermit | None = None

    async def depart(self) -> None:
        """Wait, if connecting took so long that sending now would crowd another request; then count this one."""
        if self.pace.interval:
            self.departed_at = await self._gate.departure(self)
        self.departures += 1

    def give_back(self) -> None:
        """The answer has come, or never will: the next may have the place."""
        host = self.host
        host.in_flight -= 1
        if host.freed is not None:
            freed, host.freed = host.freed, None
            if not freed.done():
                freed.set_result(None)


class HostPacer:
    """Holds every request to its host's pace, first come, first served."""

    def __init__(
        self, clock: Clock, rate_limits: HostRateLimits | None = None, shared_limiter: SharedRateLimiter | None = None
    ) -> None:
        """Time is `clock`'s alone, so that virtual time works; without a `rate_limits` this process is alone."""
        self._clock = clock
        self._rate_limits = rate_limits
        self._shared_limiter = shared_limiter
        self._hosts: dict[str, _Host] = {}
        self._lead = timedelta(0)

    def enter_now(
        self, name: str, pace: Pace, claim: Departure | None = None, *, is_visit: bool = False
    ) -> Pass | None:  # fmt: skip
        """Take a place under the host's pace if one is free, nobody waits for it, and nobody else need be asked.

        `claim` is the slot that the ledger gave to the job: its first request is paid for, and a host that this
        process meets for the first time stands as the claim found it.
        """
        host = self._hosts.get(name) or self._meet(name, claim)
        now = self._clock.now()
        if host.waiting or not requests_allowed(pace, host.at_least(host.reserved, pace), host.in_flight, now):
            return None
        if self._rate_limits is None or (not pace.interval and not is_visit):
            return self._take(host, pace, now, now, is_visit=is_visit)
        if is_visit or claim is None or not self._is_paid(host, pace, claim, now):
            return None
        return self._take(host, pace, claim.at, now)

    async def enter(
        self, name: str, pace: Pace, claim: Departure | None = None, *, is_visit: bool = False, stay: timedelta = STAY
    ) -> Pass:
        """Wait for a place under the host's pace and take it; a visit has no claim behind it."""
        host = self._hosts.get(name) or self._meet(name, claim)
        visit_at = (
            None
            if self._rate_limits is None or not is_visit
            else await self._visit(self._rate_limits, host, pace, stay)
        )
        host.waiting += 1
        try:
            async with host.turn:
                slot_at = await self._wait_for_place(host, pace)
                if visit_at is not None:
                    slot_at = visit_at
                elif self._rate_limits is not None and pace.interval:
                    paid = claim is not None and self._is_paid(host, pace, claim, slot_at)
                    slot_at = claim.at if claim and paid else await self._reserve(self._rate_limits, host, pace)
                return self._take(host, pace, slot_at, self._clock.now(), is_visit=is_visit)
        finally:
            host.waiting -= 1

    async def left(self, leave: Pass) -> None:
        """Tell those beyond this process that a request is over, if they were told that it began."""
        if leave.is_visit and self._rate_limits is not None:
            await self._rate_limits.leave(leave.host.name)
        if leave.lease is not None and self._shared_limiter is not None:
            await self._shared_limiter.release(leave.host.name, leave.lease)

    async def charge(self, name: str, pace: Pace, requests: int) -> None:
        """Put requests on every book that have been sent already: what a page asked for by itself, in a browser.

        Nobody could hold them back one by one, so that the host's next request waits for all of them.
        """
        if not pace.interval:
            return
        host, now = self._hosts.get(name) or self._meet(name, None), self._clock.now()
        host.reserved = charged(pace, host.reserved, requests, now)
        host.sent = charged(pace, host.sent, requests, now)
        if self._rate_limits is not None:
            await self._rate_limits.charge(name, pace, requests, now)
        if self._shared_limiter is not None:
            await self._shared_limiter.add(name, pace, requests)

    async def pace_of(self, name: str) -> Pace | None:
        """The pace of a host, if anybody has settled one; the ledger knows best."""
        known = await self._rate_limits.pace_of(name) if self._rate_limits is not None else None
        host = self._hosts.get(name)
        return known or (None if host is None else host.pace)

    async def departure(self, leave: Pass) -> datetime:
        """The moment at which a request may really go out, counted among those that did."""
        host, pace = leave.host, leave.pace
        if self._rate_limits is None and self._shared_limiter is None:
            return await self._spaced(host, pace)
        async with host.leaving:
            now = await self._spaced(host, pace)
            if self._shared_limiter is not None:
                now = await self._metered(self._shared_limiter, leave)
            # The ledger has the last word: whoever cannot ask the meter goes by it alone.
            if self._rate_limits is not None and (leave.departures or not is_punctual(pace, leave.slot_at, now)):
                now = await self._slot_anew(self._rate_limits, host, pace)
            host.sent, host.sent_at = _later(host.sent, now + pace.interval), now
            return now

    async def close(self) -> None:
        """Let go of the meter."""
        if self._shared_limiter is not None:
            await self._shared_limiter.close()

    def _is_paid(self, host: _Host, pace: Pace, claim: Departure, now: datetime) -> bool:
        """Whether the claim has this request on the ledger's booking already, and it can still leave in its slot."""
        if claim == host.claim:
            return False
        host.claim, host.mine = claim, _later(host.mine, claim.booked_until)
        return is_held_alone(pace) and is_punctual(pace, claim.at, now)

    async def _spaced(self, host: _Host, pace: Pace) -> datetime:
        """The moment at which this process's own requests leave room for one more."""
        now = self._clock.now()
        while not requests_allowed(pace, booked_until := host.at_least(host.sent, pace), 0, now):
            await self._clock.sleep_until(opens_at(pace, booked_until, now))
            now = self._clock.now()
        host.sent, host.sent_at = charged(pace, host.sent, 1, now), now
        return now

    async def _reserve(self, rate_limits: HostRateLimits, host: _Host, pace: Pace) -> datetime:
        """Take a slot on the ledger's booking and wait for it; by then, what was written there is safe."""
        asked_at = self._clock.now()
        slot = await rate_limits.reserve(host.name, pace, asked_at + self._lead, host.mine)
        host.mine = slot.booked_until
        self._lead = min(LONGEST_LEAD, (self._lead + self._clock.now() - asked_at) / 2)
        await self._clock.sleep_until(slot.at)
        return slot.at

    async def _slot_anew(self, rate_limits: HostRateLimits, host: _Host, pace: Pace) -> datetime:
        """Another slot for a request that came late for its own; with its connection open it cannot wait for long."""
        for _ in range(TRIES):
            asked_at = self._clock.now()
            slot = await rate_limits.reserve(host.name, pace, asked_at + self._lead, host.mine)
            host.mine = slot.booked_until
            now = self._clock.now()
            self._lead = min(LONGEST_LEAD, (self._lead + now - asked_at) / 2)
            await self._wait_briefly(host, slot.at - now)
            now = self._clock.now()
            if is_punctual(pace, slot.at, now):
                break
        return now

    async def _visit(self, rate_limits: HostRateLimits, host: _Host, pace: Pace, stay: timedelta) -> datetime:
        """Wait until a host has room for one whom no claim has brought there; its own jobs are told to make some."""
        patience = self._clock.now() + VISITORS_PATIENCE
        while not await rate_limits.request_visit(host.name, pace, self._clock.now(), stay):
            await self._look_again(host, pace, patience)
        try:
            while (slot := await rate_limits.admit_visitor(host.name, pace, self._clock.now() + self._lead)) is None:
                await self._look_again(host, pace, patience)
        except BaseException:  # whatever it is, the place must not stay taken
            await rate_limits.leave(host.name)
            raise
        host.mine = slot.booked_until
        await self._clock.sleep_until(slot.at)
        return slot.at

    async def _look_again(self, host: _Host, pace: Pace, patience: datetime) -> None:
        now = self._clock.now()
        if now >= patience:
            raise held_back(now + pace.interval + LOOK_AGAIN, f"{host.name} has its hands full")
        await self._clock.sleep_until(now + LOOK_AGAIN)

    async def _metered(self, shared_limiter: SharedRateLimiter, leave: Pass) -> datetime:
        """Count the request with all machines; a place is taken once, however often the request is sent.

        Being told takes time too: a request that hears of its moment too late is counted anew.
        """
        for _ in range(TRIES):
            if leave.lease is not None:
                await shared_limiter.release(leave.host.name, leave.lease)
            asked_at = self._clock.now()
            leave.lease = await shared_limiter.charge(leave.host.name, leave.pace, STAY)
            if leave.lease is None:
                break
            await self._wait_briefly(leave.host, asked_at + leave.lease.wait - self._clock.now())
            if is_punctual(leave.pace, asked_at + leave.lease.wait, self._clock.now()):
                break
        return self._clock.now()

    async def _wait_briefly(self, host: _Host, wait: timedelta) -> None:
        now = self._clock.now()
        if wait > LONGEST_WAIT:
            raise held_back(now + wait, f"others have asked {host.name} meanwhile")
        if wait > timedelta(0):
            await self._clock.sleep_until(now + wait)

    async def _wait_for_place(self, host: _Host, pace: Pace) -> datetime:
        while True:
            now = self._clock.now()
            booked_until = host.at_least(host.reserved, pace)
            if requests_allowed(pace, booked_until, host.in_flight, now):
                return now
            if host.in_flight >= pace.parallel:
                host.freed = asyncio.get_running_loop().create_future()
                await host.freed
            else:
                await self._clock.sleep_until(opens_at(pace, booked_until, now))

    def _take(self, host: _Host, pace: Pace, slot_at: datetime, now: datetime, *, is_visit: bool = False) -> Pass:
        host.in_flight += 1
        host.pace = pace
        if pace.interval:
            host.reserved = charged(pace, host.reserved, 1, now)
        return Pass(self, host, pace, slot_at, now, is_visit=is_visit)

    def _meet(self, name: str, claim: Departure | None) -> _Host:
        if len(self._hosts) >= HOSTS_REMEMBERED:
            now = self._clock.now()
            self._hosts = {known: host for known, host in self._hosts.items() if not host.is_at_rest(now)}
        host = self._hosts[name] = _Host(name)
        host.reserved = host.sent = None if claim is None else claim.at
        return host


def _later(one: datetime | None, other: datetime) -> datetime:
    return other if one is None or one < other else one
