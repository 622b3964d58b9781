"""Control over one simulated worker: it can be frozen and thawed, and it can die as by kill -9."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from tidemill.pipeline.ports import Clock, Transport, WireFailure, WireRequest, WireResponse

NO_GRAIN = timedelta(0)
SLEEPS_AT_ONE_MOMENT = 3_000
"""More sleeps than this without any time passing is a loop without end."""


class EndlessLoop(BaseException):
    """A worker sleeps again and again at one moment: in virtual time it would do so for ever.

    No ordinary exception, because whoever guards against bugs by trying again must not catch it.
    """


class WorkerControl:
    """Stands between a worker and the world: everything that has an effect outside the worker passes here."""

    def __init__(self) -> None:
        """Let everything pass."""
        self._thawed = asyncio.Event()
        self._thawed.set()
        self.is_dead = False

    @property
    def is_frozen(self) -> bool:
        """Whether the worker stands still."""
        return not self._thawed.is_set()

    def freeze(self) -> None:
        """Let nothing pass until the thaw; what was under way elsewhere goes on without the worker."""
        self._thawed.clear()

    def thaw(self) -> None:
        """Let everything pass again."""
        self._thawed.set()

    def kill(self) -> None:
        """Let nothing pass any more. What the worker still does, it does without any effect."""
        self.is_dead = True
        self._thawed.set()

    def check(self) -> None:
        """End the asking task if the worker is dead: its cleaning up must not reach the world either."""
        if self.is_dead:
            raise asyncio.CancelledError

    async def until_running(self) -> None:
        """Wait for the thaw; a dead worker never passes."""
        self.check()
        while self.is_frozen:
            await self._thawed.wait()
            self.check()


class ControlledClock:
    """A worker's own clock: it sleeps through a freeze, and its timers go off on whole grains.

    A grain lets many things happen at one moment, which is what makes a month of them cheap: a second is far
    below anything that the engine waits for.
    """

    def __init__(self, clock: Clock, control: WorkerControl, epoch: datetime, grain: timedelta = NO_GRAIN) -> None:
        """`grain` is counted from `epoch`; without one, timers are exact."""
        self._clock = clock
        self._control = control
        self._epoch = epoch
        self._grain = grain
        self._sleeps = (epoch, 0)

    def now(self) -> datetime:
        """The present moment."""
        return self._clock.now()

    async def sleep_until(self, moment: datetime) -> None:
        """Return once the moment has come and the worker may go on."""
        self._control.check()
        self._count_sleep()
        if self._grain:
            moment = self._epoch - (self._epoch - moment) // self._grain * self._grain
        await self._clock.sleep_until(moment)
        await self._control.until_running()

    def _count_sleep(self) -> None:
        now = self._clock.now()
        moment, sleeps = self._sleeps
        self._sleeps = (now, sleeps + 1 if now == moment else 0)
        if sleeps > SLEEPS_AT_ONE_MOMENT:
            msg = f"the worker has slept {sleeps} times at {now:%Y-%m-%d %H:%M:%S} without any time passing"
            raise EndlessLoop(msg)


class ControlledTransport:
    """A worker's own way to the sites: a frozen worker sends nothing and notices no answer."""

    def __init__(self, transport: Transport, control: WorkerControl) -> None:
        """Send through `transport`."""
        self._transport = transport
        self._control = control

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Send one request, when the worker may."""

        async def leave() -> None:
            await self._control.until_running()
            await before_send()

        await self._control.until_running()
        answer = await self._transport.send(request, leave)
        await self._control.until_running()
        return answer

    async def close(self) -> None:
        """Let go of what the transport holds."""
        await self._transport.close()
