"""What the live lane tells of itself, gathered in memory and written every few seconds."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from tidemill.core.audit import AuditEntry
from tidemill.core.health.contexts import RestartReason, ScraperContext, age_of
from tidemill.core.health.failed_tries import FailedTry, Resolution, ResolutionMethod
from tidemill.core.health.recovery import RecoveryAction, RecoveryRequest
from tidemill.pipeline.health_ports import LaneReport
from tidemill.pipeline.ports import StoreError
from tidemill.store.upkeep.audit import AuditLog
from tidemill.store.upkeep.live_health import LiveHealthRepository

MOST_WAITING = 10_000
"""Failed tries that wait while the database is away; beyond it the oldest are counted and dropped."""
ACTOR = "live lane"

Published = Callable[[LaneReport, datetime], None]


class LiveHealthSink:
    """Implements `HealthSink`: `published` hears at once what the database hears, for whoever asks this process."""

    def __init__(
        self,
        repository: LiveHealthRepository,
        audit: AuditLog,
        started_at: datetime,
        published: Published,
        *,
        failed_at_host: Callable[[str], None],
    ) -> None:
        """Requests from before `started_at` were meant for others; `failed_at_host` counts pages that nobody got."""
        self._repository = repository
        self._audit = audit
        self._published = published
        self._failed_at_host = failed_at_host
        self._obeyed_at = started_at
        self._failed: deque[FailedTry] = deque(maxlen=MOST_WAITING)
        self._resolved: list[Resolution] = []
        self._unresolved: set[str] = set()
        self._restarts: list[AuditEntry] = []
        self.dropped = 0

    def failed(self, failed: FailedTry) -> None:
        """Note a failed try; it is written with the next publishing."""
        self.dropped += len(self._failed) == MOST_WAITING
        self._failed.append(failed)
        self._unresolved.add(failed.scraper_id)
        if failed.operation == "fetch":
            self._failed_at_host(urlsplit(failed.url).hostname or "")

    def resolved(self, scraper_id: str, at: datetime, method: ResolutionMethod) -> None:
        """Note that what failed in a context is over; costs nothing where nothing failed."""
        if scraper_id in self._unresolved:
            self._unresolved.discard(scraper_id)
            self._resolved.append(Resolution(scraper_id, at, method))

    def restarted(self, context: ScraperContext, reason: RestartReason, at: datetime) -> None:
        """Note that a context was started anew; it is audited with the next publishing."""
        detail = {
            "reason": reason.value, "context": context.scraper_id, "url": context.url, "errors": context.error_count,
            "age_seconds": round((at - context.start_time).total_seconds(), 1),
            "unchecked_seconds": round(age_of(context, at).total_seconds(), 1),
            "memory_bytes": context.usage.memory_bytes,
        }  # fmt: skip
        subject = f"context {context.thing_key or context.url}"
        self._restarts.append(AuditEntry(ACTOR, RecoveryAction.SOFT_RESTART.value, subject, detail))

    async def publish(self, report: LaneReport, now: datetime) -> Sequence[RecoveryRequest]:
        """Publish, write what was noted, and return what this process is asked to do."""
        self._published(report, now)
        try:
            await self._repository.publish(report, now)
            await self._write_noted(now)
            request = await self._repository.requested()
        except StoreError:
            return ()  # what was noted waits for the next time
        if request is None or request.at <= self._obeyed_at:
            return ()
        self._obeyed_at = request.at
        return (request,)

    async def withdraw(self) -> None:
        """Write what was noted, and forget this process's lane."""
        try:
            await self._write_noted(self._obeyed_at)
            await self._repository.withdraw()
        except StoreError:
            return

    async def _write_noted(self, now: datetime) -> None:
        failed, resolved, restarts = list(self._failed), list(self._resolved), list(self._restarts)
        if failed or resolved:
            await self._repository.write_errors(failed, resolved)
            for _ in failed:
                self._failed.popleft()
            del self._resolved[: len(resolved)]
        if restarts:
            await self._audit.note(restarts, now)
            del self._restarts[: len(restarts)]
