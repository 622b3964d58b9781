"""What telling people needs from elsewhere: where incidents and messages are kept, and the channels that take them."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.alerts.incidents import Evaluated, Telling, Trouble
from tidemill.core.alerts.messages import AlertNotice
from tidemill.core.alerts.outgoing import ClaimedNotices, OutgoingNotice
from tidemill.core.alerts.rounds import RoundSummary
from tidemill.core.alerts.table import AlertName
from tidemill.core.objectives.exclusion import ScheduledSource
from tidemill.core.objectives.minutes import HourOfMinutes, LastCount
from tidemill.core.objectives.objective import CheckedRecords
from tidemill.core.services.degradation import Service

FindTroubles = Callable[[datetime], Awaitable[Sequence[Trouble]]]


class AlertCheck(msgspec.Struct, frozen=True):
    """A check: its name, the alerts that it decides about, and how it finds what is wrong."""

    name: str
    alerts: tuple[AlertName, ...]
    find: FindTroubles


class ChannelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a message: no error if it was taken; `is_final` if it will never be.

    `may_have_come` if the other side went silent with the message in its hands.
    """

    error: str = ""
    may_have_come: bool = False
    retry_after: timedelta | None = None
    is_final: bool = False


class AlertChannel(Protocol):
    """Sends notices to people; trouble is in the answer, never an exception, and no secret is in it."""

    name: str
    service: Service

    async def send(self, notice: AlertNotice, repeated: str, now: datetime) -> ChannelAnswer:
        """Send a notice; `repeated` is added where it may have come before."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class IncidentStore(Protocol):
    """Where incidents are kept."""

    async def evaluate(
        self,
        troubles: Sequence[Trouble],
        unknown: Collection[AlertName],
        now: datetime,
        compose: Callable[[Telling], Sequence[OutgoingNotice]],
    ) -> Evaluated:
        """Open, follow and close incidents, and write the messages about them, all or nothing."""
        ...


class RoundStore(Protocol):
    """Where rounds of runs are kept."""

    async def sum_up(
        self, now: datetime, compose: Callable[[RoundSummary], Sequence[OutgoingNotice]]
    ) -> list[RoundSummary]:
        """Sum up every round that has ended, with the message about it."""
        ...


class OutboxStore(Protocol):
    """Where messages wait."""

    async def has_work(self, now: datetime) -> list[str]:
        """Return the channels with messages that may be sent now."""
        ...

    async def claim(self, channel: str, now: datetime) -> ClaimedNotices | None:
        """Take the oldest message that may be sent."""
        ...

    async def sent(self, claimed: ClaimedNotices, now: datetime) -> None:
        """Mark messages as sent."""
        ...

    async def put_back(
        self, claimed: ClaimedNotices, error: str, next_try_at: datetime, *, may_have_come: bool
    ) -> None:
        """Leave messages to be sent again; once they may have come, they may have come for good."""
        ...

    async def refused(self, claimed: ClaimedNotices, error: str) -> None:
        """Give messages up that the channel will never take."""
        ...


class ObjectiveStore(Protocol):
    """Where the minutes of objectives are kept."""

    async def last(self, name: str) -> LastCount | None:
        """Return what was counted last for an objective; None before the first minute."""
        ...

    async def count(self, name: str, hours: Sequence[HourOfMinutes], records: CheckedRecords, now: datetime) -> None:
        """Write minutes down; one that is known already stays one."""
        ...

    async def hours(self, name: str, since: datetime) -> list[HourOfMinutes]:
        """Return the hours of an objective from a moment on."""
        ...

    async def scheduled_sources(self, vertical: str) -> list[ScheduledSource]:
        """Return the sources of a vertical with the schedules of their targets."""
        ...
