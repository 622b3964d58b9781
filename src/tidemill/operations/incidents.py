"""Incidents: what a person can do about them, and a test message by every channel."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

from tidemill.core.alerts.messages import AlertNotice
from tidemill.core.alerts.routes import ChannelRoute, channels_for
from tidemill.core.alerts.table import ALERTS, AlertName, AlertRule
from tidemill.core.audit import AuditEntry
from tidemill.core.views.incidents import IncidentDetail, IncidentNote, IncidentView
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.pipeline.ports import Clock
from tidemill.store.alerts.incidents import AlertIncidentRepository
from tidemill.store.alerts.outbox import AlertOutbox, OutboxLine

LONGEST_SNOOZE = timedelta(days=30)
LONGEST_NOTE = 2_000
TEST_TITLE = "Test message from Tidemill"


class TestedChannel(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a test message: no error if the channel took it."""

    __test__ = False
    channel: str
    error: str = ""


class AlertLine(msgspec.Struct, frozen=True, kw_only=True):
    """An alert as people read of it: when it is told, to whom, what it means, and how many incidents of it are open.

    `told_by` are the channels that its severity goes to, whatever the vertical; none if nobody is told.
    """

    alert: str
    severity: str
    condition: str
    after_seconds: int
    meaning: str
    action: str
    runbook: str
    told_by: Sequence[str]
    open: int


class SendsNotices(Protocol):
    """A channel, as far as a test needs it."""

    async def send(self, notice: AlertNotice, repeated: str, now: datetime) -> Any:
        """Send a notice; the answer's `error` is '' if it was taken."""
        ...


class IncidentActions:
    """Acknowledge, snooze, comment on and close incidents; the same for command line, API and portal."""

    def __init__(
        self,
        incidents: AlertIncidentRepository,
        outbox: AlertOutbox,
        channels: Mapping[str, SendsNotices],
        runbooks: str,
        clock: Clock,
        routes: Mapping[str, ChannelRoute] | None = None,
    ) -> None:
        """`channels` are those that are set up, each with its route; `runbooks` is the address of runbooks."""
        self._routes = routes or {}
        self._incidents = incidents
        self._outbox = outbox
        self._channels = channels
        self._runbooks = runbooks.rstrip("/")
        self._clock = clock

    @property
    def channel_names(self) -> Sequence[str]:
        """Return the channels that are set up."""
        return list(self._channels)

    async def rules(self) -> list[AlertLine]:
        """Return every alert there is, the most urgent first."""
        counts = await self._incidents.open_counts()
        return [
            AlertLine(
                alert=rule.name.value, severity=rule.severity.value, condition=rule.condition,
                after_seconds=int(rule.delay.total_seconds()), meaning=rule.meaning, action=rule.action,
                runbook=self._runbook_of(rule),
                told_by=channels_for(rule.severity.value, "", list(self._channels), self._routes),
                open=counts.get(rule.name.value, 0),
            )
            for rule in sorted(ALERTS.values(), key=lambda each: each.severity.value)
        ]  # fmt: skip

    async def every(self, *, open_only: bool = True, limit: int = 100) -> list[IncidentView]:
        """Return incidents: the open ones most urgent first, or all of them newest first."""
        return await self._incidents.every(open_only=open_only, limit=limit)

    async def show(self, incident_id: int) -> IncidentDetail:
        """Return an incident with all there is to say about it."""
        found = await self._incidents.find(incident_id)
        if found is None:
            raise NotFound(_unknown(incident_id))
        incident, notes = found
        rule = ALERTS[AlertName(incident.alert)]
        return IncidentDetail(
            incident=incident, notes=notes, condition=rule.condition, meaning=rule.meaning, action=rule.action,
            runbook=self._runbook_of(rule),
        )  # fmt: skip

    def _runbook_of(self, rule: AlertRule) -> str:
        return f"{self._runbooks}/{rule.runbook}.md"

    async def acknowledge(self, incident_id: int, actor: str, note: str = "") -> IncidentDetail:
        """Say that somebody is at it: it is not repeated any more."""
        values = {"acknowledged_at": self._clock.now(), "acknowledged_by": actor}
        return await self._act(incident_id, actor, "acknowledged", note, values)

    async def snooze(self, incident_id: int, actor: str, length: timedelta, note: str = "") -> IncidentDetail:
        """Say nothing of it for a while; if it is still open then, it is told again."""
        if not timedelta(minutes=1) <= length <= LONGEST_SNOOZE:
            msg = "snooze for at least a minute and at most 30 days, e.g. 4h"
            raise Mistake(msg)
        until = self._clock.now() + length
        words = f"until {until:%Y-%m-%d %H:%M} UTC" + (f": {note}" if note else "")
        return await self._act(incident_id, actor, "snoozed", words, {"snoozed_until": until})

    async def comment(self, incident_id: int, actor: str, note: str) -> IncidentDetail:
        """Write something down about it, also when it is over."""
        if not note.strip():
            msg = "a comment needs words"
            raise Mistake(msg)
        return await self._act(incident_id, actor, "commented", note, {}, open_only=False)

    async def close(self, incident_id: int, actor: str, note: str = "") -> IncidentDetail:
        """Close it by hand; if its condition still holds, it opens anew."""
        values = {"closed_at": self._clock.now(), "closed_by": actor}
        return await self._act(incident_id, actor, "closed", note, values)

    async def outbox(self, limit: int = 50) -> list[OutboxLine]:
        """Return the newest messages, sent or not."""
        return await self._outbox.latest(limit)

    async def test(self, actor: str, channel: str | None = None) -> list[TestedChannel]:
        """Send a test message at once by every channel, or by one; past quiet hours and routes."""
        if channel is not None and channel not in self._channels:
            raise NotFound(unknown_name("channel", channel, self._channels))
        if not self._channels:
            msg = "no channel is set up; set slack_webhook, mail_server, alert_webhook_url or apprise_urls"
            raise Mistake(msg)
        now = self._clock.now()
        notice = AlertNotice(
            key=f"test {int(now.timestamp())}", kind="test", title=TEST_TITLE,
            paragraphs=(f"Sent by {actor}. If you read this, alerts reach you.",), at=now,
        )  # fmt: skip
        chosen = [channel] if channel is not None else list(self._channels)
        return [
            TestedChannel(channel=name, error=(await self._channels[name].send(notice, "", now)).error)
            for name in chosen
        ]

    async def _act(
        self,
        incident_id: int,
        actor: str,
        action: str,
        note: str,
        values: Mapping[str, Any],
        *,
        open_only: bool = True,
    ) -> IncidentDetail:
        said = IncidentNote(actor=actor, action=action, note=note[:LONGEST_NOTE], created_at=self._clock.now())
        audit = AuditEntry(actor, f"incident.{action}", f"incident {incident_id}", {"note": note[:200]})
        if not await self._incidents.act(incident_id, values, said, audit, open_only=open_only):
            found = await self._incidents.find(incident_id)
            raise NotFound(_unknown(incident_id)) if found is None else Mistake(_is_over(found[0]))
        return await self.show(incident_id)


def _unknown(incident_id: int) -> str:
    return f"there is no incident {incident_id}; `tidemill incidents list` shows those that are open"


def _is_over(incident: IncidentView) -> str:
    return f"incident {incident.id} is over since {incident.closed_at:%Y-%m-%d %H:%M} UTC; comment on it instead"
