"""Where the live lane tells how its contexts fare, and hears what is to be done about it."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.health.contexts import RestartReason, ScraperContext
from tidemill.core.health.failed_tries import FailedTry, ResolutionMethod
from tidemill.core.health.recovery import RecoveryRequest

PUBLISHED_EVERY = timedelta(seconds=5)


class LaneReport(msgspec.Struct, frozen=True, kw_only=True):
    """The live lane of one process, as every process may see it.

    `queue_depth` counts the pages that are due and not yet asked for, by `LiveUrgency` in small letters; `active_tasks`
    those that are being asked for. `waiting_changes` are kept in memory or in a file because the database was away.
    """

    contexts: Sequence[ScraperContext] = ()
    queue_depth: Mapping[str, int] = msgspec.field(default_factory=dict)
    active_tasks: int = 0
    waiting_changes: int = 0
    refused_watches: int = 0


class HealthSink(Protocol):
    """Takes what the live lane knows of itself. Only `publish` and `withdraw` touch the database; neither raises."""

    def failed(self, failed: FailedTry) -> None:
        """Note a failed try; it is written with the next publishing."""
        ...

    def resolved(self, scraper_id: str, at: datetime, method: ResolutionMethod) -> None:
        """Note that what failed in a context is over: call it at each good reading; most of them cost nothing."""
        ...

    def restarted(self, context: ScraperContext, reason: RestartReason, at: datetime) -> None:
        """Note that a context, as it was before, was started anew; it is audited with the next publishing."""
        ...

    async def publish(self, report: LaneReport, now: datetime) -> Sequence[RecoveryRequest]:
        """Publish this process's lane, every `PUBLISHED_EVERY`; return what it is asked to do, once each."""
        ...

    async def withdraw(self) -> None:
        """Remove this process's lane: it was stopped in good order."""
        ...


class NoHealthSink:
    """A sink for whoever is not asked: tests and single readings."""

    def failed(self, failed: FailedTry) -> None:
        """Do nothing."""

    def resolved(self, scraper_id: str, at: datetime, method: ResolutionMethod) -> None:
        """Do nothing."""

    def restarted(self, context: ScraperContext, reason: RestartReason, at: datetime) -> None:
        """Do nothing."""

    async def publish(self, report: LaneReport, now: datetime) -> Sequence[RecoveryRequest]:
        """Ask for nothing."""
        del report, now
        return ()

    async def withdraw(self) -> None:
        """Do nothing."""
