"""What the routes of streamed things share: the hub, the limits, and which things are known not to exist."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from starlette.requests import Request

from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.core.snapshots.staleness import NOT_FOUND_KEPT
from tidemill.web.responses import ResourceNotFound
from tidemill.web.stream.hub import StreamCaller, StreamHub
from tidemill.web.stream.limits import StreamLimits
from tidemill.web.stream.resource import StreamedResource

MOST_REMEMBERED = 10_000

StillKnown = Callable[[Request], Awaitable[bool]]
"""Whether a request would still be let in: its token may have been revoked since."""
ChangesAfter = Callable[[int, int, int], Awaitable[list[LoggedChange]]]


@dataclass(slots=True)
class StreamAccess:
    """One per process; every vertical's routes use it. `changes` reads the log of one thing after a number.

    Without `is_still_known` a stream goes on for as long as its connection.
    """

    hub: StreamHub
    changes: ChangesAfter
    limits: StreamLimits = field(default_factory=StreamLimits)
    is_still_known: StillKnown | None = None
    _missing: dict[tuple[str, str], datetime] = field(default_factory=dict)

    async def find(self, resource: StreamedResource, key: str) -> ThingSnapshot:
        """Return the newest snapshot of a thing; that there is none is remembered for a minute."""
        await self.hub.start()
        name, now = (resource.vertical, key), self.hub.clock.now()
        if (seen := self._missing.get(name)) is None or now - seen >= NOT_FOUND_KEPT:
            await self.hub.catch_up_if_possible()
            await self.hub.checks.refresh()
            if not await self.hub.reads.is_missing(*name):
                if found := await self.hub.snapshots(resource.vertical, [key]):
                    self._missing.pop(name, None)
                    return found[0]
                await self.hub.reads.note_missing(*name)
            self._remember(name, now)
        msg = f"There is no {resource.name} {key[:80]}."
        raise ResourceNotFound(msg, f"{resource.path} lists what there is.")

    def caller_of(self, request: Request) -> StreamCaller | None:
        """Return whose stream a request opens, if that may end; None for whoever showed nothing."""
        check = self.is_still_known
        caller = getattr(request.state, "caller", None)
        has_shown = request.headers.get("authorization") or request.cookies
        if check is None or caller is None or not has_shown:
            return None
        return StreamCaller(caller.key, partial(check, request))

    def _remember(self, name: tuple[str, str], now: datetime) -> None:
        if len(self._missing) >= MOST_REMEMBERED:
            self._missing = {each: at for each, at in self._missing.items() if now - at < NOT_FOUND_KEPT}
        if len(self._missing) < MOST_REMEMBERED:
            self._missing[name] = now
