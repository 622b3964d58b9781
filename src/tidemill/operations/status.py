"""How everything stands, on one screen: the grade, freshness, what needs a person, and proof of work."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.health.overdue import TICK, missed_targets, overdue_sentences
from tidemill.core.health.system import (
    Grade,
    NamedStanding,
    SystemFacts,
    lost_workers,
    service_sentence,
    system_grade,
    waiting_lines,
    working_takers,
)
from tidemill.core.services.degradation import ServiceStatus
from tidemill.core.views import SourceView
from tidemill.core.views.incidents import IncidentView
from tidemill.operations.incidents import IncidentActions
from tidemill.pipeline.ports import Clock
from tidemill.store.alerts.last_fired import LastFired
from tidemill.store.views.views import Views

MOST_INCIDENTS = 10


class VerticalFreshness(msgspec.Struct, frozen=True, kw_only=True):
    """How fresh a vertical is: sources that are on, how many succeeded within a day, and the one longest ago."""

    vertical: str
    sources: int
    fresh: int
    records: int
    oldest_success: datetime | None
    oldest_source: str


class StatusReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole screen. `overdue` is scheduled work that did not happen; `last_fired` when each mechanism last did."""

    at: datetime
    grade: Grade
    reasons: list[str]
    freshness: list[VerticalFreshness]
    incidents: list[IncidentView]
    waiting: list[str]
    overdue: list[str]
    last_fired: dict[str, datetime | None]


class StatusActions:
    """Gathers how everything stands; changes nothing."""

    def __init__(
        self,
        views: Views,
        incidents: IncidentActions,
        last_fired: LastFired,
        clock: Clock,
        *,
        overdue: Callable[[], Awaitable[Sequence[tuple[str, str]]]],
        missed: Callable[[], Awaitable[Sequence[tuple[str, int]]]],
        services: Callable[[], Awaitable[Sequence[ServiceStatus]]],
        lease: timedelta,
        scopes: Sequence[Callable[[], Awaitable[Sequence[tuple[str, str]]]]] = (),
    ) -> None:
        """`overdue` lists silent periodic work, `missed` sources whose due targets got no job, `scopes` late lists."""
        self._scopes = scopes
        self._views = views
        self._incidents = incidents
        self._last_fired = last_fired
        self._clock = clock
        self._overdue = overdue
        self._missed = missed
        self._services = services
        self._lease = lease

    async def report(self) -> StatusReport:
        """Return the screen's content."""
        now = self._clock.now()
        sources = await self._views.sources(now)
        waiting = await self._views.waiting()
        workers = await self._views.workers()
        late = overdue_sentences(await self._late(), workers, now, self._lease)
        facts = SystemFacts(
            workers_alive=len(working_takers(workers, now, self._lease)),
            workers_lost=lost_workers(workers, now, self._lease),
            sources=[NamedStanding(each.name, each.standing, each.standing_reason) for each in sources],
            open_breakers=[each.name for each in sources if each.circuit_state == "OPEN"],
            overdue=late,
            services=[words for each in await self._services() if (words := service_sentence(each))],
            waiting=waiting,
        )
        grade, reasons = system_grade(facts)
        return StatusReport(
            at=now,
            grade=grade,
            reasons=reasons,
            freshness=freshness(sources, now),
            incidents=await self._incidents.every(open_only=True, limit=MOST_INCIDENTS),
            waiting=waiting_lines(waiting),
            overdue=late,
            last_fired=await self._last_fired.every(),
        )

    async def _late(self) -> list[tuple[str, str]]:
        late = [(f"{TICK}{name}", detail) for name, detail in await self._overdue()]
        late += [each for find in self._scopes for each in await find()]
        return [*late, *((f"source {name}", missed_targets(count)) for name, count in await self._missed())]


def freshness(sources: Sequence[SourceView], now: datetime) -> list[VerticalFreshness]:
    """Return how fresh each vertical is, by when its sources last succeeded."""
    found = []
    for vertical in sorted({each.vertical for each in sources}):
        mine = [each for each in sources if each.vertical == vertical and each.enabled and not each.auto_disabled]
        known = [each for each in mine if each.last_success_at is not None]
        oldest = min(known, key=lambda each: each.last_success_at or now, default=None)
        found.append(
            VerticalFreshness(
                vertical=vertical,
                sources=len(mine),
                fresh=sum(now - (each.last_success_at or now) <= timedelta(days=1) for each in known),
                records=sum(each.records for each in mine),
                oldest_success=oldest.last_success_at if oldest else None,
                oldest_source=oldest.name if oldest else "",
            )
        )
    return found
