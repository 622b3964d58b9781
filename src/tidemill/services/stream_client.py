"""The reference client of the live delta protocol: follows things over HTTP and ends up identical to the server.

    async with aiohttp.ClientSession() as session:
        client = StreamClient(session, "http://127.0.0.1:8000/api/v1/matches", "match", keys=["m1"])
        await client.run()   # client.records holds each state, its number and when it was checked

`StreamFollower` in `core/snapshots` decides what each event does; this is the connection.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from random import Random
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec

from tidemill.core.snapshots.follower import Followed, StreamFollower
from tidemill.core.snapshots.sse import EventParser

DEAD_AFTER_HEARTBEATS = 2.5
LONGEST_WAIT_SECONDS = 30.0
PIECE = 64 * 1024

Pause = Callable[[float], Awaitable[None]]
Heard = Callable[[str, dict[str, Any]], None]


async def real_pause(seconds: float) -> None:
    """Wait so many seconds."""
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=seconds)


class StreamClient:
    """Follows things by key or by status, through cuts, restarts and restores, until it is stopped."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        address: str,
        name: str,
        *,
        keys: Sequence[str] = (),
        status: str | None = None,
        fields: Sequence[str] = (),
        heartbeat: int = 10,
        heard: Heard | None = None,
        dice: Random | None = None,
        pause: Pause = real_pause,
    ) -> None:
        """`address` is that of the things and `name` what one is called in events; `heard` is told of every event."""
        self._session = session
        self._address = address
        self._query: list[tuple[str, str]] = [(name, key) for key in keys]
        self._query += [("status", status)] if status is not None else []
        self._query += [("fields", ",".join(fields))] if fields else []
        self._query.append(("heartbeat", str(heartbeat)))
        self._is_whole = not fields
        self._dead_after = DEAD_AFTER_HEARTBEATS * heartbeat
        self._heard = heard or (lambda _kind, _data: None)
        self._dice = dice or Random()  # noqa: S311 - spreads reconnects, guards nothing
        self._pause = pause
        self.follower = StreamFollower(name)
        self.is_connected = False
        self.skew = timedelta(0)
        self.connections = 0
        self._stopped = False

    @property
    def records(self) -> dict[str, Followed]:
        """What is held of each thing, by key."""
        return self.follower.records

    def stop(self) -> None:
        """End `run` when the connection ends or the next event comes."""
        self._stopped = True

    def age(self, key: str, now: datetime) -> timedelta:
        """Return how old a thing is by the server's clock."""
        return now.astimezone(UTC) + self.skew - datetime.fromisoformat(self.records[key].checked_at)

    async def run(self) -> None:
        """Follow until stopped; a lost connection is made again after 1, 2, 4 .. 30 seconds and some more."""
        failures = 0
        while not self._stopped:
            try:
                failures = 0 if await self._follow_once() else failures + 1
            except (aiohttp.ClientError, TimeoutError, ValueError, OSError):
                failures += 1
            self.is_connected = False
            if not self._stopped:
                longest = min(LONGEST_WAIT_SECONDS, 2.0 ** min(10, failures))
                await self._pause(longest * (0.5 + self._dice.random() / 2))

    async def _follow_once(self) -> bool:
        """Follow one connection to its end; return whether it brought anything."""
        headers = {"Accept": "text/event-stream"}
        if self.follower.cursor:
            headers["Last-Event-ID"] = self.follower.cursor
        limits = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=self._dead_after)
        url = f"{self._address}/stream"
        async with self._session.get(url, params=self._query, headers=headers, timeout=limits) as response:
            response.raise_for_status()
            self._set_skew(response.headers.get("Date"))
            self.is_connected = True
            self.connections += 1
            parser, brought = EventParser(), False
            async for piece in response.content.iter_any():
                for event in parser.feed(piece):
                    brought = True
                    await self._take(event.kind, msgspec.json.decode(event.data), event.event_id)
                if self._stopped:
                    break
            return brought

    async def _take(self, kind: str, data: dict[str, Any], event_id: str | None) -> None:
        missing = self.follower.apply(kind, data, event_id)
        if missing is not None:
            await self._fetch(missing)
        self._heard(kind, data)

    async def _fetch(self, key: str) -> None:
        """Fetch a thing whole; the stream goes on, and what it tells of older states is dropped."""
        if not self._is_whole:  # a part cannot be fetched: begin the stream anew
            self.follower.records.pop(key, None)
            self.follower.cursor = None
            msg = "a part of a state has a gap"
            raise ValueError(msg)
        async with self._session.get(f"{self._address}/{quote(key, safe='')}") as response:
            response.raise_for_status()
            state = msgspec.json.decode(await response.read())
        about = state.pop("_metadata")
        self.follower.put(key, state, about["seq"], about["checksum"][:16], about["scraped_at"])

    def _set_skew(self, date: str | None) -> None:
        if date is not None:
            self.skew = parsedate_to_datetime(date) - datetime.now(UTC)  # noqa: TID251 - a client's own clock
