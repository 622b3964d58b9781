"""The dead-man ping: an address outside is called while all goes well, so that silence is the alarm."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tidemill.core.services.degradation import Service
from tidemill.pipeline.ports import Clock, ServiceRegistry, Transport, WireFailure, WireRequest

TIMEOUT = timedelta(seconds=10)
MAX_ANSWER_BYTES = 16_000
_SUCCESS_CLASS = 2


class NotCleanError(Exception):
    """Scheduled work has not happened, so nobody is told that all is well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadManPing:
    """Calls the address; `late` names what is behind its schedule."""

    clock: Clock
    url: str
    transport: Transport
    reason_to_refuse: Callable[[str], str]
    services: ServiceRegistry
    late: Callable[[], Awaitable[Sequence[str]]]

    async def run(self) -> str:
        """Ping, unless something is late: then the silence tells them."""
        late = list(await self.late())
        if late:
            return f"no ping: {', '.join(late)[:200]}"
        if problem := self.reason_to_refuse(self.url):
            await self.services.degraded(Service.DEADMAN, problem)
            return "no ping: the address is refused"
        request = WireRequest(url=self.url, headers={}, timeout=TIMEOUT, max_bytes=MAX_ANSWER_BYTES)
        answer = await self.transport.send(request, _no_wait)
        if isinstance(answer, WireFailure):
            await self.services.degraded(Service.DEADMAN, str(answer.failure))
            return f"no ping: {answer.failure}"
        if answer.status_code // 100 != _SUCCESS_CLASS:
            await self.services.degraded(Service.DEADMAN, f"answered {answer.status_code}")
            return f"ping answered {answer.status_code}"
        await self.services.works(Service.DEADMAN)
        return "pinged"


async def _no_wait() -> None:
    """Return at once: one call a minute needs no pacing."""
