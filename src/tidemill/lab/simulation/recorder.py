"""Records every request as the sites see it, and everything that is announced."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from tidemill.lab.simulation.event_log import Asked, EventLog, LabEvent
from tidemill.pipeline.happenings import Happening, RunOpened
from tidemill.pipeline.ports import Clock, Transport, WireFailure, WireRequest, WireResponse


class Recorder:
    """Writes everything to the log and keeps what the laws are judged by."""

    def __init__(self, log: EventLog) -> None:
        """Nothing seen yet."""
        self.log = log
        self.requests: list[Asked] = []
        self.events: list[Happening | LabEvent] = []
        self._cut_off: list[Asked] = []
        self._run_opened = asyncio.Event()

    def note(self, event: Happening | LabEvent) -> None:
        """Something happened."""
        self.log.write(event)
        self.events.append(event)
        if isinstance(event, Asked):
            self.requests.append(event)
        elif isinstance(event, RunOpened):
            self._run_opened.set()

    def cut_off(self, request: Asked) -> None:
        """Whoever sent a request went away before its end."""
        self._cut_off.append(request)

    def note_cut_off(self) -> None:
        """Write down what was cut off, by moment and address: tasks that are cancelled together end in any order."""
        cut_off, self._cut_off = self._cut_off, []
        for request in sorted(cut_off, key=lambda each: (each.at, each.host, each.path)):
            self.note(request)

    async def next_run(self) -> None:
        """Return when a run is opened."""
        self._run_opened.clear()
        await self._run_opened.wait()

    def listener(self, is_dead: Callable[[], bool]) -> Callable[[Happening], None]:
        """Return a listener that records what a worker announces, until the worker dies."""

        def listen(happening: Happening) -> None:
            if not is_dead():
                self.note(happening)

        return listen


class RecordingTransport:
    """One worker's requests, seen from outside: when each left, when it was over, and how."""

    def __init__(
        self, transport: Transport, clock: Clock, recorder: Recorder, hosts: Mapping[str, str], worker: int
    ) -> None:
        """`hosts` are the hosts by origin."""
        self._transport = transport
        self._clock = clock
        self._recorder = recorder
        self._hosts = hosts
        self._worker = worker

    async def send(
        self, request: WireRequest, before_send: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Send one request; what never left is no request to the site."""
        departures: list[datetime] = []

        async def leave() -> None:
            await before_send()
            departures.append(self._clock.now())

        answer: WireResponse | WireFailure | None = None
        tell: Callable[[Asked], None] = self._recorder.note
        try:
            answer = await self._transport.send(request, leave)
        except asyncio.CancelledError:
            tell = self._recorder.cut_off
            raise
        finally:
            for departed in departures:
                tell(self._asked(request, departed, answer))
        return answer

    async def close(self) -> None:
        """Let go of what the transport holds."""
        await self._transport.close()

    def _asked(self, request: WireRequest, departed: datetime, answer: WireResponse | WireFailure | None) -> Asked:
        start = request.url.index("/", 8)
        status, wait = 0, None
        if isinstance(answer, WireResponse):
            status = answer.status_code
            wait = float(answer.headers["retry-after"]) if "retry-after" in answer.headers else None
        return Asked(
            at=departed,
            ended=self._clock.now(),
            worker=self._worker,
            host=self._hosts[request.url[:start]],
            path=request.url[start:],
            status=status,
            retry_after=wait,
        )
