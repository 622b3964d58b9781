"""The pace of each host: every request waits here until its host may be asked again, by this process or another.

Requests are counted in up to three places: in this process, always; in the ledger in the database, where there is one,
for all processes; and in Redis, where it is set up, for all machines by one clock. A request is sent when all of them
admit it.
"""

import asyncio
from datetime import datetime, timedelta

from tidemill.core.pacing import Departure, Pace, charged, is_held_alone, is_punctual, opens_at, requests_allowed
from tidemill.fetching.not_sent import held_back
from tidemill.pipeline.ports import Clock, HostRateLimits, RequestPermit, SharedRateLimiter

HOSTS_REMEMBERED = 10_000  # beyond it, hosts at rest are forgotten
MOST_TRIES = 5  # a departure that passed while it was being booked is booked again so many times
LONGEST_WAIT = timedelta(seconds=5)  # with its connection open, a request waits no longer than this
LONGEST_LEDGER_DELAY = timedelta(milliseconds=250)
PLACE_TTL = timedelta(minutes=2)  # a request's place is given to others after this time
VISIT_TIMEOUT = timedelta(seconds=10)
POLL_INTERVAL = timedelta(milliseconds=100)


class _Host:
    """The requests to one host: until when places are booked and sent, and how many requests are under way.

    `ledger_booking` is the ledger's booking as this process last left it, `claim` the last claim that was used up.
    """

    __slots__ = (
        "admit_lock",
        "claim",
        "in_flight",
        "ledger_booking",
        "name",
        "pace",
        "place_freed",
        "reserved",
        "send_lock",
        "sent",
        "sent_at",
        "waiting",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.pace: Pace | None = None
        self.reserved: datetime | None = None
        self.sent: datetime | None = None
        self.sent_at: datetime | None = None
        self.ledger_booking: datetime | None = None
        self.claim: Departure | None = None
        self.in_flight = 0
        self.waiting = 0
        self.admit_lock = asyncio.Lock()
        self.send_lock = asyncio.Lock()
        self.place_freed: asyncio.Future[None] | None = None

    def is_idle(self, now: datetime) -> bool:
        return not self.in_flight and not self.waiting and all(t is None or t <= now for t in self.bookings())

    def booked_until(self, booked_until: datetime | None, pace: Pace) -> datetime | None:
        """Return the booking, or the time that the last request alone books if the pace has become slower since."""
        if self.sent_at is None or pace.burst > 1:
            return booked_until
        return _later(booked_until, self.sent_at + pace.interval)

    def bookings(self) -> tuple[datetime | None, datetime | None]:
        return self.reserved, self.sent


class AdmittedRequest:
    """A request that its host's pace has admitted; it must be released."""

    __slots__ = ("_gate", "admitted_at", "host", "is_visit", "pace", "permit", "scheduled_at", "sent_at", "times_sent")

    def __init__(
        self,
        gate: "HostPacer",
        host: _Host,
        pace: Pace,
        scheduled_at: datetime,
        admitted_at: datetime,
        *,
        is_visit: bool,
    ) -> None:
        """Made by `HostPacer.admit`."""
        self._gate = gate
        self.host, self.pace, self.scheduled_at, self.is_visit = host, pace, scheduled_at, is_visit
        self.admitted_at = self.sent_at = admitted_at
        self.times_sent = 0
        self.permit: RequestPermit | None = None

    async def wait_to_send(self) -> None:
        """Wait until sending does not crowd another request, however long connecting took; then count this one."""
        if self.pace.interval:
            self.sent_at = await self._gate.wait_to_send(self)
        self.times_sent += 1

    def release(self) -> None:
        """Give the place to the next request: the answer has come, or never will."""
        host = self.host
        host.in_flight -= 1
        if host.place_freed is not None:
            freed, host.place_freed = host.place_freed, None
            if not freed.done():
                freed.set_result(None)


class HostPacer:
    """Holds every request to its host's pace, first come, first served."""

    def __init__(
        self, clock: Clock, rate_limits: HostRateLimits | None = None, shared_limiter: SharedRateLimiter | None = None
    ) -> None:
        """Read time from `clock` only, so that virtual time works; without `rate_limits` only this process counts."""
        self._clock = clock
        self._rate_limits = rate_limits
        self._shared_limiter = shared_limiter
        self._hosts: dict[str, _Host] = {}
        self._ledger_delay = timedelta(0)

    def admit_now(
        self, name: str, pace: Pace, claim: Departure | None = None, *, is_visit: bool = False
    ) -> AdmittedRequest | None:  # fmt: skip
        """Admit a request at once if a place is free, nobody waits for it, and neither ledger nor Redis must be asked.

        `claim` is the departure that the ledger booked with the job's claim: it pays for the job's first request, and
        starts the booking of a host that this process has not asked before.
        """
        host = self._hosts.get(name) or self._add_host(name, claim)
        now = self._clock.now()
        if host.waiting or not requests_allowed(pace, host.booked_until(host.reserved, pace), host.in_flight, now):
            return None
        if self._rate_limits is None or (not pace.interval and not is_visit):
            return self._admit(host, pace, now, now, is_visit=is_visit)
        if is_visit or claim is None or not self._is_booked_by(host, pace, claim, now):
            return None
        return self._admit(host, pace, claim.at, now)

    async def admit(
        self,
        name: str,
        pace: Pace,
        claim: Departure | None = None,
        *,
        is_visit: bool = False,
        ttl: timedelta = PLACE_TTL,
    ) -> AdmittedRequest:
        """Wait for a place under the host's pace and take it; a visit has no claim."""
        host = self._hosts.get(name) or self._add_host(name, claim)
        visit_time = (
            None
            if self._rate_limits is None or not is_visit
            else await self._wait_as_visitor(self._rate_limits, host, pace, ttl)
        )
        host.waiting += 1
        try:
            async with host.admit_lock:
                scheduled_at = await self._wait_for_place(host, pace)
                if visit_time is not None:
                    scheduled_at = visit_time
                elif self._rate_limits is not None and pace.interval:
                    is_booked = claim is not None and self._is_booked_by(host, pace, claim, scheduled_at)
                    scheduled_at = (
                        claim.at if claim and is_booked else await self._book_and_wait(self._rate_limits, host, pace)
                    )
                return self._admit(host, pace, scheduled_at, self._clock.now(), is_visit=is_visit)
        finally:
            host.waiting -= 1

    async def announce_end(self, admitted: AdmittedRequest) -> None:
        """Tell the ledger and the shared limiter that a request is over, if they count it."""
        if admitted.is_visit and self._rate_limits is not None:
            await self._rate_limits.leave(admitted.host.name)
        if admitted.permit is not None and self._shared_limiter is not None:
            await self._shared_limiter.release(admitted.host.name, admitted.permit)

    async def charge(self, name: str, pace: Pace, requests: int) -> None:
        """Count requests that have been sent already: those that a page made by itself, in a browser.

        They cannot be held back one by one, so the host's next request waits for all of them.
        """
        if not pace.interval:
            return
        host, now = self._hosts.get(name) or self._add_host(name, None), self._clock.now()
        host.reserved = charged(pace, host.reserved, requests, now)
        host.sent = charged(pace, host.sent, requests, now)
        if self._rate_limits is not None:
            await self._rate_limits.charge(name, pace, requests, now)
        if self._shared_limiter is not None:
            await self._shared_limiter.add(name, pace, requests)

    async def pace_of(self, name: str) -> Pace | None:
        """Return the pace that is set for a host, if there is one; the ledger's counts first."""
        known = await self._rate_limits.pace_of(name) if self._rate_limits is not None else None
        host = self._hosts.get(name)
        return known or (None if host is None else host.pace)

    async def wait_to_send(self, admitted: AdmittedRequest) -> datetime:
        """Wait until a request may be sent, count it, and return that moment."""
        host, pace = admitted.host, admitted.pace
        if self._rate_limits is None and self._shared_limiter is None:
            return await self._wait_for_spacing(host, pace)
        async with host.send_lock:
            now = await self._wait_for_spacing(host, pace)
            if self._shared_limiter is not None:
                now = await self._wait_for_shared_limiter(self._shared_limiter, admitted)
            # The ledger comes last: a process that cannot reach the shared limiter goes by the ledger alone.
            if self._rate_limits is not None and (
                admitted.times_sent or not is_punctual(pace, admitted.scheduled_at, now)
            ):
                now = await self._rebook(self._rate_limits, host, pace)
            host.sent, host.sent_at = _later(host.sent, now + pace.interval), now
            return now

    async def close(self) -> None:
        """Close the shared limiter."""
        if self._shared_limiter is not None:
            await self._shared_limiter.close()

    def _is_booked_by(self, host: _Host, pace: Pace, claim: Departure, now: datetime) -> bool:
        """Whether the claim has booked this request in the ledger already, and its departure has not passed."""
        if claim == host.claim:
            return False
        host.claim, host.ledger_booking = claim, _later(host.ledger_booking, claim.booked_until)
        return is_held_alone(pace) and is_punctual(pace, claim.at, now)

    async def _wait_for_spacing(self, host: _Host, pace: Pace) -> datetime:
        """Wait until this process's own requests leave room for one more, and return that moment."""
        now = self._clock.now()
        while not requests_allowed(pace, booked_until := host.booked_until(host.sent, pace), 0, now):
            await self._clock.sleep_until(opens_at(pace, booked_until, now))
            now = self._clock.now()
        host.sent, host.sent_at = charged(pace, host.sent, 1, now), now
        return now

    async def _book_and_wait(self, rate_limits: HostRateLimits, host: _Host, pace: Pace) -> datetime:
        """Book a departure in the ledger and wait for it; by then the booking is committed."""
        asked_at = self._clock.now()
        departure = await rate_limits.reserve(host.name, pace, asked_at + self._ledger_delay, host.ledger_booking)
        host.ledger_booking = departure.booked_until
        self._ledger_delay = min(LONGEST_LEDGER_DELAY, (self._ledger_delay + self._clock.now() - asked_at) / 2)
        await self._clock.sleep_until(departure.at)
        return departure.at

    async def _rebook(self, rate_limits: HostRateLimits, host: _Host, pace: Pace) -> datetime:
        """Book another departure for a request that missed its own; its connection is open, so it cannot wait long."""
        for _ in range(MOST_TRIES):
            asked_at = self._clock.now()
            departure = await rate_limits.reserve(host.name, pace, asked_at + self._ledger_delay, host.ledger_booking)
            host.ledger_booking = departure.booked_until
            now = self._clock.now()
            self._ledger_delay = min(LONGEST_LEDGER_DELAY, (self._ledger_delay + now - asked_at) / 2)
            await self._wait_briefly(host, departure.at - now)
            now = self._clock.now()
            if is_punctual(pace, departure.at, now):
                break
        return now

    async def _wait_as_visitor(self, rate_limits: HostRateLimits, host: _Host, pace: Pace, ttl: timedelta) -> datetime:
        """Wait until a host has room for a request without a claim; the ledger makes the host's own jobs leave some."""
        give_up_at = self._clock.now() + VISIT_TIMEOUT
        while not await rate_limits.request_visit(host.name, pace, self._clock.now(), ttl):
            await self._poll_again(host, pace, give_up_at)
        try:
            while (
                departure := await rate_limits.admit_visitor(host.name, pace, self._clock.now() + self._ledger_delay)
            ) is None:
                await self._poll_again(host, pace, give_up_at)
        except BaseException:  # whatever it is, the place must not stay taken
            await rate_limits.leave(host.name)
            raise
        host.ledger_booking = departure.booked_until
        await self._clock.sleep_until(departure.at)
        return departure.at

    async def _poll_again(self, host: _Host, pace: Pace, give_up_at: datetime) -> None:
        now = self._clock.now()
        if now >= give_up_at:
            raise held_back(now + pace.interval + POLL_INTERVAL, f"{host.name} has its hands full")
        await self._clock.sleep_until(now + POLL_INTERVAL)

    async def _wait_for_shared_limiter(self, shared_limiter: SharedRateLimiter, admitted: AdmittedRequest) -> datetime:
        """Count the request with all machines, once however often it is sent, and wait for its moment.

        The answer takes time too: a request that learns of its moment too late is counted again.
        """
        for _ in range(MOST_TRIES):
            if admitted.permit is not None:
                await shared_limiter.release(admitted.host.name, admitted.permit)
            asked_at = self._clock.now()
            admitted.permit = await shared_limiter.charge(admitted.host.name, admitted.pace, PLACE_TTL)
            if admitted.permit is None:
                break
            await self._wait_briefly(admitted.host, asked_at + admitted.permit.wait - self._clock.now())
            if is_punctual(admitted.pace, asked_at + admitted.permit.wait, self._clock.now()):
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
            booked_until = host.booked_until(host.reserved, pace)
            if requests_allowed(pace, booked_until, host.in_flight, now):
                return now
            if host.in_flight >= pace.parallel:
                host.place_freed = asyncio.get_running_loop().create_future()
                await host.place_freed
            else:
                await self._clock.sleep_until(opens_at(pace, booked_until, now))

    def _admit(
        self, host: _Host, pace: Pace, scheduled_at: datetime, now: datetime, *, is_visit: bool = False
    ) -> AdmittedRequest:
        host.in_flight += 1
        host.pace = pace
        if pace.interval:
            host.reserved = charged(pace, host.reserved, 1, now)
        return AdmittedRequest(self, host, pace, scheduled_at, now, is_visit=is_visit)

    def _add_host(self, name: str, claim: Departure | None) -> _Host:
        if len(self._hosts) >= HOSTS_REMEMBERED:
            now = self._clock.now()
            self._hosts = {known: host for known, host in self._hosts.items() if not host.is_idle(now)}
        host = self._hosts[name] = _Host(name)
        host.reserved = host.sent = None if claim is None else claim.at
        return host


def _later(one: datetime | None, other: datetime) -> datetime:
    return other if one is None or one < other else one
