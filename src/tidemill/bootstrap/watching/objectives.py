"""Build what counts freshness objectives, from the settings."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tidemill.alerts.objectives import ObjectiveCounting
from tidemill.bootstrap.store import Store
from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.objectives.objective import CheckedRecords, Objective
from tidemill.core.schedules import Every
from tidemill.core.vertical import Vertical
from tidemill.engine.periodic import Chore
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import Clock
from tidemill.settings import Settings
from tidemill.store.alerts.objectives import ObjectiveRepository
from tidemill.store.records.checked import count_checked

COUNTED_EVERY = Every(timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class ObjectiveParts:
    """The objectives of one running system."""

    objectives: tuple[Objective, ...]
    store: ObjectiveRepository
    counting: ObjectiveCounting

    @property
    def chores(self) -> list[Chore]:
        """The periodic work of counting, where there is anything to count."""
        return [Chore("objectives", COUNTED_EVERY, self.counting.run)] if self.objectives else []


def build_objectives(
    settings: Settings, store: Store, clock: Clock, verticals: Mapping[str, Vertical]
) -> ObjectiveParts:
    """Build it; nothing is counted yet."""
    objectives = tuple(_objectives(settings, store))
    repository = ObjectiveRepository(store.database)

    async def count(vertical: str, sources: Collection[int], since: datetime, now: datetime) -> CheckedRecords:
        counter = store.verticals[vertical].checked
        return await count_checked(store.database, counter, sources, since, now) if counter else CheckedRecords(0, 0)

    counting = ObjectiveCounting(
        clock=clock, objectives=objectives, policies={name: each.policy for name, each in verticals.items()},
        store=repository, count=count,
    )  # fmt: skip
    return ObjectiveParts(objectives, repository, counting)


def _objectives(settings: Settings, store: Store) -> list[Objective]:
    able = [name for name, each in store.verticals.items() if each.checked is not None]
    for each in settings.objectives:
        if each.vertical not in able:
            msg = f"setting objectives: {unknown_name('vertical', each.vertical, able)}"
            raise Mistake(msg)
    return [
        Objective(
            vertical=each.vertical, source=each.source, within=each.length, records=each.records,
            minutes=each.minutes, days=each.days,
        )
        for each in settings.objectives
    ]  # fmt: skip
