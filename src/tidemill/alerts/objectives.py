"""The periodic task `objectives`: see whether this minute is good for each objective, and write it down."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from tidemill.alerts.ports import FindTroubles, ObjectiveStore
from tidemill.core.alerts.incidents import Trouble
from tidemill.core.alerts.table import CauseKind
from tidemill.core.objectives.burn import WINDOWS, burn_rates, burning
from tidemill.core.objectives.catching_up import judged_hours, missed_minutes
from tidemill.core.objectives.exclusion import ExcludedSource, exclusion
from tidemill.core.objectives.objective import CheckedRecords, Objective, hour_of, is_bad
from tidemill.core.policy import Policy
from tidemill.pipeline.ports import Clock

SOURCES_KNOWN_FOR = timedelta(minutes=15)
"""How old our knowledge of sources and their schedules may be; reading it is the dearest part."""
REST = 100
"""Counting may take a hundredth of the time: what took 2 s is done again after 200 s, and the minutes between are
worked out then."""

CountRecords = Callable[[str, Collection[int], datetime, datetime], Awaitable[CheckedRecords]]
"""Counts a vertical's records: by these sources, checked since a moment, as of a moment."""


class KeptSources(msgspec.Struct, frozen=True):
    """The sources that an objective counts, and those that it leaves out."""

    counted: frozenset[int]
    excluded: tuple[ExcludedSource, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveCounting:
    """Counts the minutes of every objective."""

    clock: Clock
    objectives: Sequence[Objective]
    policies: Mapping[str, Policy]
    store: ObjectiveStore
    count: CountRecords
    _sources: dict[str, KeptSources] = field(default_factory=dict)
    _rests_until: dict[str, datetime] = field(default_factory=dict)

    async def run(self) -> str:
        """Count the minutes since the last time; those in which we were away are worked out."""
        bad = []
        for each in self.objectives:
            now = self.clock.now()
            if now < self._rests_until.get(each.name, now):
                continue
            if await self._count(each, now):
                bad.append(each.name)
            self._rests_until[each.name] = now + REST * (self.clock.now() - now)
        return f"{len(self.objectives)} objectives" + (f", bad now: {', '.join(bad)}" if bad else "")

    async def _count(self, objective: Objective, now: datetime) -> bool:
        """Count an objective's minutes, and return whether this one is bad."""
        known = await self.store.last(objective.name)
        last = known.last if known is not None else None
        minutes = missed_minutes(last, now, objective)
        if not minutes:
            return last is not None and last.is_bad
        records = await self.measure(objective, minutes[-1])

        async def was_bad(moment: datetime) -> bool:
            return is_bad(records if moment == minutes[-1] else await self.measure(objective, moment), objective)

        await self.store.count(objective.name, await judged_hours(minutes, last, was_bad), records, now)
        return is_bad(records, objective)

    async def measure(self, objective: Objective, moment: datetime) -> CheckedRecords:
        """Count the records of an objective as of a moment."""
        sources = await self.sources(objective)
        return await self.count(objective.vertical, sources.counted, moment - objective.within, moment)

    async def sources(self, objective: Objective) -> KeptSources:
        """Return whom an objective counts and whom it leaves out."""
        now = self.clock.now()
        known = self._sources.get(objective.name)
        if known is None or now - known.at >= SOURCES_KNOWN_FOR:
            known = self._sources[objective.name] = await self._split(objective, now)
        return known

    async def _split(self, objective: Objective, now: datetime) -> KeptSources:
        policy = self.policies[objective.vertical]
        mine = [
            each
            for each in await self.store.scheduled_sources(objective.vertical)
            if objective.source in {"", each.name}
        ]
        left_out = {each.id: exclusion(each, objective.within, policy.schedule, policy.tiers, now) for each in mine}
        return KeptSources(
            frozenset(key for key, reason in left_out.items() if reason is None),
            tuple(reason for reason in left_out.values() if reason is not None),
            now,
        )


def burning_objectives(objectives: Sequence[Objective], store: ObjectiveStore) -> FindTroubles:
    """Return the check for objectives whose budget burns too fast."""

    async def find(now: datetime) -> list[Trouble]:
        found = []
        for each in objectives:
            hours = await store.hours(each.name, hour_of(now - max(WINDOWS.values())))
            rates = burn_rates(hours, each, now)
            words = ", ".join(f"{rate:.1f} x over {name}" for name, rate in rates.items() if rate)
            found += [
                Trouble(
                    alert=alert, cause=f"{CauseKind.VERTICAL} {each.vertical}", subject=each.name,
                    detail=f"the budget of {each.name} ({each.words}) burns {words}", vertical=each.vertical,
                )
                for alert in burning(rates)
            ]  # fmt: skip
        return found

    return find
