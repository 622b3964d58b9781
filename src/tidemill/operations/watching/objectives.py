"""How freshness objectives stand; the same for command line, API, portal and metrics."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.objectives.burn import budget, burn_rates, burning
from tidemill.core.objectives.exclusion import ExcludedSource
from tidemill.core.objectives.minutes import HourOfMinutes, count_minutes
from tidemill.core.objectives.objective import DAY, MINUTE, CheckedRecords, Objective, hour_of
from tidemill.core.views.objectives import ObjectiveDay, ObjectiveView
from tidemill.operations.mistakes import NotFound
from tidemill.pipeline.ports import Clock
from tidemill.store.alerts.objectives import ObjectiveRepository

NOTHING = CheckedRecords(0, 0)


class LeavesOut(Protocol):
    """Whom an objective leaves out."""

    @property
    def excluded(self) -> tuple[ExcludedSource, ...]:
        """The sources, with the reason."""
        ...


class ObjectiveActions:
    """Looks at objectives; changes nothing."""

    def __init__(
        self,
        objectives: Sequence[Objective],
        store: ObjectiveRepository,
        sources: Callable[[Objective], Awaitable[LeavesOut]],
        clock: Clock,
    ) -> None:
        """`sources` tells whom an objective leaves out."""
        self._objectives = objectives
        self._store = store
        self._sources = sources
        self._clock = clock

    async def every(self) -> list[ObjectiveView]:
        """Return every objective as it stands, the one with the least budget left first."""
        found = [await self._view(each) for each in self._objectives]
        return sorted(found, key=lambda each: each.left_share)

    async def find(self, name: str) -> ObjectiveView:
        """Return one objective."""
        known = {each.name: each for each in self._objectives}
        if name not in known:
            raise NotFound(unknown_name("objective", name, known))
        return await self._view(known[name])

    async def _view(self, objective: Objective) -> ObjectiveView:
        now = self._clock.now()
        last = await self._store.last(objective.name)
        hours = await self._store.hours(objective.name, hour_of(now - objective.period))
        stands, rates = budget(hours, objective, now), burn_rates(hours, objective, now)
        records = last.records if last is not None else NOTHING
        return ObjectiveView(
            name=objective.name,
            vertical=objective.vertical,
            source=objective.source,
            words=objective.words,
            at=last.at if last is not None else None,
            active=records.active,
            checked=records.checked,
            is_good=last is None or last.last is None or not last.last.is_bad,
            counted_minutes=stands.counted,
            bad_minutes=stands.bad,
            allowed_minutes=stands.allowed,
            left_minutes=round(stands.left, 3),
            left_share=round(stands.share_left, 6),
            burn={name: round(rate, 3) for name, rate in rates.items()},
            burning=[alert.value for alert in burning(rates)],
            days=_days(hours, objective, now),
            excluded=(await self._sources(objective)).excluded,
        )


def _days(hours: Sequence[HourOfMinutes], objective: Objective, now: datetime) -> list[ObjectiveDay]:
    """Return the days of the period that anything is known of, the newest first."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    found = []
    for place in range(objective.days + 1):
        day = midnight - place * DAY
        span: timedelta = DAY if place else now - midnight + MINUTE
        counts = count_minutes(hours, day + span - MINUTE, span)
        if counts.counted:
            found.append(ObjectiveDay(day, counts.counted, counts.bad))
    return found
