"""The pace of each host within this process: every request waits here until its host may be asked again (F6)."""

import asyncio
from datetime import datetime

from tidemill.core.pacing import Pace, charged, free_slots, opens_at
from tidemill.pipeline.ports import Clock

HOSTS_REMEMBERED = 10_000  # beyond it, hosts at rest are forgotten


class _Host:
    """What one host has been asked: the tab of places given out, the tab of requests sent, those under way."""

    __slots__ = ("freed", "in_flight", "pace", "reserved", "sent", "turn", "waiting")

    def __init__(self) -> None:
        self.pace: Pace | None = None
        self.reserved: datetime | None = None
        self.sent: datetime | None = None
        self.in_flight = 0
        self.waiting = 0
        self.turn = asyncio.Lock()
        self.freed: asyncio.Future[None] | None = None

    def is_at_rest(self, now: datetime) -> bool:
        return not self.in_flight and not self.waiting and all(t is None or t <= now for t in self.tabs())

    def tabs(self) -> tuple[datetime | None, datetime | None]:
        return self.reserved, self.sent


class Pass:
    """Leave to send one request to one host; it must be given back."""

    __slots__ = ("_gate", "_host", "_pace", "departed_at", "departures", "entered_at")

    def __init__(self, gate: "Gate", host: _Host, pace: Pace, entered_at: datetime) -> None:
        """Not for callers: `Gate.enter` gives it out."""
        self._gate, self._host, self._pace = gate, host, pace
        self.entered_at = self.departed_at = entered_at
        self.departures = 0

    async def depart(self) -> None:
        """Wait, if connecting took so long that sending now would crowd another request; then count this one."""
        if self._pace.interval:
            self.departed_at = await self._gate.spaced(self._host, self._pace)
        self.departures += 1

    def give_back(self) -> None:
        """The answer has come, or never will: the next may have the place."""
        host = self._host
        host.in_flight -= 1
        if host.freed is not None:
            freed, host.freed = host.freed, None
            if not freed.done():
                freed.set_result(None)


class Gate:
    """Holds every request of this process to its host's pace, first come, first served."""

    def __init__(self, clock: Clock) -> None:
        """Time is `clock`'s alone, so that virtual time works."""
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    def enter_now(self, name: str, pace: Pace, tab: datetime | None = None) -> Pass | None:
        """Take a place under the host's pace if one is free and nobody waits for it.

        `tab` is what others are known to have asked of a host that this process meets for the first time.
        """
        host = self._hosts.get(name) or self._meet(name, tab)
        now = self._clock.now()
        if host.waiting or not free_slots(pace, host.reserved, host.in_flight, now):
            return None
        return self._take(host, pace, now)

    async def enter(self, name: str, pace: Pace, tab: datetime | None = None) -> Pass:
        """Wait for a place under the host's pace and take it."""
        host = self._hosts.get(name) or self._meet(name, tab)
        host.waiting += 1
        try:
            async with host.turn:
                return self._take(host, pace, await self._wait_for_place(host, pace))
        finally:
            host.waiting -= 1

    def pace_of(self, name: str) -> Pace | None:
        """The pace at which a host was asked last, if it was."""
        host = self._hosts.get(name)
        return None if host is None else host.pace

    async def spaced(self, host: _Host, pace: Pace) -> datetime:
        """The moment at which a request may really go out, counted among those that did."""
        now = self._clock.now()
        while not free_slots(pace, host.sent, 0, now):
            await self._clock.sleep_until(opens_at(pace, host.sent, now))
            now = self._clock.now()
        host.sent = charged(pace, host.sent, 1, now)
        return now

    async def _wait_for_place(self, host: _Host, pace: Pace) -> datetime:
        while True:
            now = self._clock.now()
            if free_slots(pace, host.reserved, host.in_flight, now):
                return now
            if host.in_flight >= pace.parallel:
                host.freed = asyncio.get_running_loop().create_future()
                await host.freed
            else:
                await self._clock.sleep_until(opens_at(pace, host.reserved, now))

    def _take(self, host: _Host, pace: Pace, now: datetime) -> Pass:
        host.in_flight += 1
        host.pace = pace
        if pace.interval:
            host.reserved = charged(pace, host.reserved, 1, now)
        return Pass(self, host, pace, now)

    def _meet(self, name: str, tab: datetime | None) -> _Host:
        if len(self._hosts) >= HOSTS_REMEMBERED:
            now = self._clock.now()
            self._hosts = {known: host for known, host in self._hosts.items() if not host.is_at_rest(now)}
        host = self._hosts[name] = _Host()
        host.reserved = host.sent = tab
        return host
