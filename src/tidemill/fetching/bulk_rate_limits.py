"""Slots of hosts, bought several at once: one transaction per host and second instead of one per request.

The pacer asks here for each departure, and gets one that is booked already where somebody said that many would be
wanted. What is left over is given back. While the database is away each process that polls goes on at its share of the
pace, so that together they stay within it.
"""

import asyncio
from collections import deque
from contextlib import suppress
from datetime import datetime, timedelta

from tidemill.core.live.budget import BOUGHT_AHEAD, SHARE_OF_THE_LAST
from tidemill.core.pacing import Departure, Pace, departure_tolerance, is_punctual
from tidemill.fetching.not_sent import held_back
from tidemill.pipeline.live_ports import BulkHostRateLimits
from tidemill.pipeline.ports import Clock, StoreError, StoreLost


class _BoughtSlots:
    """The slots of one host that are booked and not used, and what is known of the booking."""

    def __init__(self) -> None:
        self.wanted = 0
        self.slots: deque[Departure] = deque()
        self.pace: Pace | None = None
        self.booked_until: datetime | None = None
        self.alone_until: datetime | None = None
        self.since_others = 0
        self.is_on_own = False
        self.lock = asyncio.Lock()


class BulkRateLimits:
    """Rate limits as the pacer asks for them, with slots in hand for whoever polls.

    `sharers` is how many processes poll; it is told with each heartbeat of the live lane.
    """

    def __init__(self, inner: BulkHostRateLimits, clock: Clock) -> None:
        """Buy from `inner`."""
        self._inner = inner
        self._clock = clock
        self._hosts: dict[str, _BoughtSlots] = {}
        self.sharers = 1

    def want(self, host: str, count: int) -> None:
        """Say how many requests will be wanted soon; none, and nothing is bought ahead."""
        if count or host in self._hosts:
            self._hosts.setdefault(host, _BoughtSlots()).wanted = count

    async def reserve(self, host: str, pace: Pace, now: datetime, mine: datetime | None) -> Departure:
        """Return the next departure in hand, or buy."""
        bought = self._hosts.get(host)
        if bought is None:
            return await self._inner.reserve(host, pace, now, mine)
        async with bought.lock:
            while bought.slots and not is_punctual(pace, bought.slots[0].at, now):
                bought.slots.popleft()  # its moment has passed: nobody was asked then
            if not bought.slots:
                await self._buy(host, bought, pace, now, mine)
            return bought.slots.popleft()

    async def _buy(self, host: str, bought: _BoughtSlots, pace: Pace, now: datetime, mine: datetime | None) -> None:
        if bought.alone_until is not None and now < bought.alone_until:
            # One request in ten is left to whoever else waits for the host: it is free for the taking until then.
            await self._clock.sleep_until(bought.alone_until)
            now = self._clock.now()
        if bought.is_on_own:
            now += pace.interval * max(1, self.sharers)  # others may not know yet that the ledger is back
        known = max((each for each in (mine, bought.booked_until) if each is not None), default=None)
        if pace.burst == 1 and bought.booked_until is not None:
            now = max(now, bought.booked_until)  # the slots before are used up to there
        try:
            batch = await self._inner.reserve_many(host, pace, max(1, bought.wanted), BOUGHT_AHEAD, now, known)
        except StoreLost:
            if not bought.wanted:
                raise
            bought.slots.append(self._own_share(bought, pace, now))
            return
        if batch.rests_until is not None:
            raise held_back(batch.rests_until, f"{host} asked to be left alone")
        bought.is_on_own = False
        bought.slots.extend(batch.departures)
        bought.pace, bought.booked_until = pace, batch.departures[-1].booked_until
        self._leave_some(bought, pace, len(batch.departures), others_wait=batch.others_wait)

    def _own_share(self, bought: _BoughtSlots, pace: Pace, now: datetime) -> Departure:
        """Return a departure without the ledger: so much slower as there were processes when it was last asked."""
        spacing = pace.interval * max(1, self.sharers)
        at = now if bought.booked_until is None else max(now, bought.booked_until)
        if not bought.is_on_own:
            at += spacing  # others may have booked after us, and leave before
        bought.is_on_own = True
        bought.booked_until = at + spacing
        return Departure(at, bought.booked_until)

    def _leave_some(self, bought: _BoughtSlots, pace: Pace, count: int, *, others_wait: bool) -> None:
        """Leave the host alone for a request's time after each nine of ours, while others wait for it."""
        bought.since_others = bought.since_others + count if others_wait else 0
        bought.alone_until = None
        if bought.since_others >= SHARE_OF_THE_LAST - 1 and bought.booked_until is not None:
            bought.since_others = 0
            bought.alone_until = bought.booked_until + pace.interval / 2 + departure_tolerance(pace)

    async def give_back_unused(self) -> int:
        """Return what nobody wants any more, for all hosts; answer how many slots others may have instead."""
        returned = 0
        for host, bought in self._hosts.items():
            if bought.wanted or not bought.slots or bought.pace is None or bought.booked_until is None:
                continue
            async with bought.lock:
                now = self._clock.now()
                unused = [slot for slot in bought.slots if slot.at > now]
                bought.slots.clear()
                with suppress(StoreError):  # what cannot be returned is lost, and was polite
                    if unused and await self._inner.give_back(host, bought.pace, len(unused), bought.booked_until):
                        bought.booked_until -= bought.pace.interval * len(unused)
                        returned += len(unused)
        return returned

    async def pace_of(self, host: str) -> Pace | None:
        """Return the pace of a known host."""
        return await self._inner.pace_of(host)

    async def charge(self, host: str, pace: Pace, requests: int, now: datetime) -> None:
        """Book requests that have been sent already."""
        await self._inner.charge(host, pace, requests, now)

    async def request_visit(self, host: str, pace: Pace, now: datetime, stay: timedelta) -> bool:
        """Request a place for a request without a claim."""
        return await self._inner.request_visit(host, pace, now, stay)

    async def admit_visitor(self, host: str, pace: Pace, now: datetime) -> Departure | None:
        """Book a visitor's request."""
        return await self._inner.admit_visitor(host, pace, now)

    async def leave(self, host: str) -> None:
        """Release a visitor's place."""
        await self._inner.leave(host)
