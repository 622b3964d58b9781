"""What beat sends: one entry per chore, due at the chore's own slots."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery
from celery.beat import Scheduler
from celery.schedules import BaseSchedule, schedstate

from tidemill.engine.celery.app import MAINTENANCE, TICK
from tidemill.engine.periodic import EPOCH, Chore


class SlotSchedule(BaseSchedule):  # type: ignore[misc]  # Celery ships no types
    """Due once in each slot of a chore; Celery's own schedules count from the last run and drift over the slots."""

    def __init__(self, chore: Chore, app: Celery) -> None:
        """Follow the slots of this chore."""
        super().__init__(app=app)
        self._chore = chore

    def remaining_estimate(self, last_run_at: datetime) -> timedelta:
        """Return the time until the slot after a moment begins; negative once it has."""
        return self._chore.after(last_run_at.astimezone(UTC)) - self.now().astimezone(UTC)

    def is_due(self, last_run_at: datetime) -> Any:
        """Return whether a slot has begun since the last run, and the seconds until the next look."""
        left = self.remaining_estimate(last_run_at)
        if left > timedelta(0):
            return schedstate(is_due=False, next=left.total_seconds())
        now = self.now().astimezone(UTC)
        return schedstate(is_due=True, next=(self._chore.after(now) - now).total_seconds())

    def __eq__(self, other: object) -> bool:
        """Two are equal when they follow the same chore."""
        return isinstance(other, SlotSchedule) and other._chore.name == self._chore.name

    def __hash__(self) -> int:
        """Hash by the chore."""
        return hash(self._chore.name)

    def __repr__(self) -> str:
        """Name the chore."""
        return f"<slots of {self._chore.name}>"


class SlotScheduler(Scheduler):  # type: ignore[misc]  # as above
    """Beat's own scheduler without a file: which slots were done is in the database."""

    def setup_schedule(self) -> None:
        """Take the entries of the app."""
        self.merge_inplace(self.app.conf.beat_schedule)


def beat_schedule(chores: Iterable[Chore], app: Celery) -> dict[str, dict[str, Any]]:
    """Return beat's entries.

    Each is due at once when beat starts: the current slot may have been missed, and one that was done is done once.
    """
    return {
        chore.name: {
            "task": TICK,
            "schedule": SlotSchedule(chore, app),
            "args": (chore.name,),
            "options": {"queue": MAINTENANCE, "expires": chore.period.total_seconds()},
            "last_run_at": EPOCH,
        }
        for chore in chores
    }
