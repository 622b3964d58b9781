"""The lease that a process holds its watches under: shorter than a worker's, renewed every few seconds."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from tidemill.pipeline.happenings import Announce, StoreTrouble
from tidemill.pipeline.live_ports import BEATS_EVERY, WATCH_LEASE, WatchLedger
from tidemill.pipeline.ports import Clock, StoreError, StoreLost


class LaneLease:
    """Says whether this process may act on its watches.

    A process that was frozen for longer than the lease must first be seen again and find out what it still holds. One
    that cannot reach the database goes on: what it reads is written only if its fences hold when the database is back.
    """

    def __init__(self, ledger: WatchLedger, clock: Clock, worker_key: Callable[[], int], announce: Announce) -> None:
        """`worker_key` is asked at each heartbeat: a worker that was given up registers under a new key."""
        self._ledger = ledger
        self._clock = clock
        self._worker_key = worker_key
        self._announce = announce
        self._seen_at: datetime | None = None
        self._tried_at: datetime | None = None
        self._steady_since: datetime | None = None
        self._is_away = False
        self.worker_id = 0
        self.verify: Callable[[], Awaitable[None]] = _nothing_to_verify
        self.on_beat: Callable[[int], None] = lambda _: None

    def begin(self) -> None:
        """Hold nothing until the first heartbeat."""
        self._seen_at = self._tried_at = self._steady_since = None
        self._is_away = False

    def is_held(self) -> bool:
        """Return whether watches may be polled: seen within the lease, or unable to be seen and trying."""
        last = self._tried_at if self._is_away else self._seen_at
        return last is not None and self._clock.now() - last < WATCH_LEASE

    def is_steady(self) -> bool:
        """Return whether this lane was seen for a whole lease without a gap.

        Only then does it know that a lane that was not seen is dead: after an outage nobody could be seen.
        """
        since = self._steady_since
        return since is not None and self.is_held() and self._clock.now() - since >= WATCH_LEASE

    async def keep(self) -> None:
        """Send heartbeats for ever."""
        while True:
            try:
                await self._beat()
            except StoreLost as trouble:
                if not self._is_away:
                    self._announce(StoreTrouble(self._clock.now(), f"the live lane cannot be seen: {trouble}"))
                self._is_away = self._seen_at is not None
                self._steady_since = None
                self._tried_at = self._clock.now()
            except StoreError as trouble:
                self._announce(StoreTrouble(self._clock.now(), str(trouble)))
            await self._clock.sleep_until(self._clock.now() + BEATS_EVERY)

    async def _beat(self) -> None:
        now = self._clock.now()
        worker_id = self._worker_key()
        lanes = await self._ledger.beat(worker_id, now)
        if not lanes:
            self._seen_at = self._steady_since = None  # given up; the worker's own heartbeat registers it anew
            self._is_away = False
            return
        has_gap = self._seen_at is None or now - self._seen_at >= WATCH_LEASE or worker_id != self.worker_id
        self.worker_id = worker_id
        if has_gap:
            await self.verify()
            self._steady_since = now
        elif self._steady_since is None:
            self._steady_since = now
        self._seen_at, self._is_away = now, False
        self.on_beat(lanes)


async def _nothing_to_verify() -> None:
    """Nothing is watched yet."""
