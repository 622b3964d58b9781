"""The witness: sees every request as the sites see it, and hears everything that is announced."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from tidemill.lab.eventlog import Asked, EventLog, LabEvent
from tidemill.lab.sites import Site
from tidemill.pipeline.happenings import Happening, RunOpened
from tidemill.pipeline.ports import Clock, Transport, WireFailure, WireRequest, WireResponse


class Witness:
    """Writes everything to the log and keeps what the laws are judged by."""

    def __init__(self, log: EventLog) -> None:
        """Nothing seen yet."""
        self.log = log
        self.requests: list[Asked] = []
        self.events: list[Happening | LabEvent] = []
        self._run_opened = asyncio.Event()

    def note(self, event: Happening | LabEvent) -> None:
        """Something happened."""
        self.log.write(event)
        self.events.append(event)
        if isinstance(event, Asked):
            self.requests.append(event)
        elif isinstance(event, RunOpened):
            self._run_opened.set()

    async def next_run(self) -> None:
        """Return when a run is opened."""
        self._run_opened.clear()
        await self._run_opened.wait()

    def listener(self, is_dead: Callable[[], bool]) -> Callable[[Happening], None]:
        """A worker's line to the witness; it falls silent when the worker dies."""

        def listen(happening: Happening) -> None:
            if not is_dead():
                self.note(happening)

        return listen


class WitnessedTransport:
    """One worker's requests, seen from outside: when each left, when it was over, and how."""

    def __init__(
        self, transport: Transport, clock: Clock, witness: Witness, hosts: Mapping[str, Site], worker: int
    ) -> None:
        """`hosts` are the sites by origin."""
        self._transport = transport
        self._clock = clock
        self._witness = witness
        self._hosts = hosts
        self._worker = worker

    async def send(self, request: WireRequest, depart: Callable[[], Awaitable[None]]) -> WireResponse | WireFailure:
        """Send one request; what never left is no request to the site."""
        departures: list[datetime] = []

        async def leave() -> None:
            await depart()
            departures.append(self._clock.now())

        answer: WireResponse | WireFailure | None = None
        try:
            answer = await self._transport.send(request, leave)
        finally:
            for departed in departures:
                self._witness.note(self._asked(request, departed, answer))
        return answer

    async def close(self) -> None:
        """Let go of what the transport holds."""
        await self._transport.close()

    def _asked(self, request: WireRequest, departed: datetime, answer: WireResponse | WireFailure | None) -> Asked:
        start = request.url.index("/", 8)
        site = self._hosts[request.url[:start]]
        status, wait = 0, None
        if isinstance(answer, WireResponse):
            status = answer.status_code
            wait = float(answer.headers["retry-after"]) if "retry-after" in answer.headers else None
        return Asked(
            at=departed,
            ended=self._clock.now(),
            worker=self._worker,
            host=site.host,
            path=request.url[start:],
            status=status,
            retry_after=wait,
        )
