"""What beat sends: one entry per chore, due at the chore's own slots."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery
from celery.beat import Scheduler
from celery.schedules import BaseSchedule, schedstate
from celery.utils.functional import maybe_evaluate
from celery.utils.log import get_logger

from tidemill.engine.celery.app import MAINTENANCE, TICK
from tidemill.engine.celery.mailbox import waiting_in
from tidemill.engine.periodic import EPOCH, Chore

logger = get_logger(__name__)

SET_BACK = timedelta(seconds=2)
"""A clock that goes back by less is being adjusted, and a slot is late by no more than that."""
MOST_WAITING = 500
"""Messages of beat that may wait for a worker; each is dropped when its slot is over."""


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

    def __init__(self, *words: Any, **named: Any) -> None:
        """As Celery makes it."""
        super().__init__(*words, **named)
        self._latest: datetime | None = None

    def setup_schedule(self) -> None:
        """Take the entries of the app: made now, because beat makes its scheduler before it tells anybody."""
        self.merge_inplace(maybe_evaluate(self.app.conf.beat_schedule))

    def tick(self, *words: Any, **named: Any) -> Any:
        """Send what is due; begin anew when the clock was set back, or beat would wait for the old time to come."""
        now = self.app.now()
        if self._latest is not None and self._latest - now > SET_BACK:
            for entry in self.schedule.values():
                entry.last_run_at = EPOCH
            self._heap = None
        self._latest = now
        return super().tick(*words, **named)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send an entry; Celery's own tells of trouble with two stacks for each."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except Exception as error:  # noqa: BLE001 - the next slot is another chance, whatever it was
            logger.error("%s could not be sent: %s", entry.name, error)  # noqa: TRY400 - a stack says nothing more

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **named: Any) -> Any:  # noqa: FBT001, FBT002 - Celery's own words
        """Send an entry, unless nobody takes messages: an outage of all workers must not fill the broker."""
        if producer is not None and waiting_in(producer.connection, MAINTENANCE) >= MOST_WAITING:
            return None
        return super().apply_async(entry, producer=producer, advance=advance, **named)


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
