"""Incidents: opened once for each alert and cause, told at a bounded rate, closed with a notice of recovery."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from tidemill.core.alerts.table import ALERTS, AlertName, CauseKind, Severity
from tidemill.core.quality.drift import DriftRule

MESSAGE_INTERVAL = timedelta(minutes=5)
"""About one cause there is at most one message in this time; only a first urgent one is not held."""
REPEATED_AFTER = timedelta(hours=12)
MOST_SUBJECTS = 50
"""How many subjects of an incident are named; the rest is counted."""
LONGEST_DETAIL = 500

DRIFT_ALERTS: Mapping[DriftRule, AlertName] = {
    DriftRule.FAILURES: AlertName.FAILURE_RATE,
    DriftRule.NO_RECORDS: AlertName.NO_RECORDS,
    DriftRule.ALARMING: AlertName.ZERO_PRICE,
    DriftRule.WORSE_THAN_USUAL: AlertName.WORSE_THAN_USUAL,
    DriftRule.FIELD_SHARE: AlertName.FIELD_SHARE,
    DriftRule.WATCHED: AlertName.FAILURE_RATE,
    DriftRule.SHORT_LIST: AlertName.SHORT_LIST,
    DriftRule.SELECTORS: AlertName.SELECTOR_FAILING,
    DriftRule.POORER_READING: AlertName.SELECTOR_FAILING,
}
"""Which alert each drift rule is; their incidents are opened at the end of a run, all others by the evaluation."""


def drift_alert(rule: str) -> AlertName:
    """Return the alert that a drift rule is."""
    return DRIFT_ALERTS[DriftRule(rule)]


def adapter_cause(adapter_id: str) -> str:
    """Return the cause of what one adapter's repair would mend."""
    return f"{CauseKind.ADAPTER} {adapter_id}"


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """An alert's condition holds: about which cause, for whom (a source, a tick), and why in a sentence."""

    alert: AlertName
    cause: str
    subject: str = ""
    detail: str = ""
    vertical: str = ""

    @property
    def key(self) -> tuple[AlertName, str]:
        """What an incident is open once for."""
        return self.alert, self.cause


class OpenIncident(msgspec.Struct, frozen=True, kw_only=True):
    """An incident as the evaluation sees it.

    `is_drift` when the end of a run opens and closes it, `is_settled` when it is over and that was told.
    """

    id: int
    alert: AlertName
    cause: str
    detail: str
    subjects: tuple[str, ...] = ()
    vertical: str = ""
    opened_at: datetime
    closed_at: datetime | None = None
    told_at: datetime | None = None
    was_sent: bool = False
    is_acknowledged: bool = False
    snoozed_until: datetime | None = None
    is_drift: bool = False
    is_settled: bool = False

    @property
    def severity(self) -> Severity:
        """How urgent it is."""
        return ALERTS[self.alert].severity

    @property
    def key(self) -> tuple[AlertName, str]:
        """What it is open once for."""
        return self.alert, self.cause


class IncidentFinding(msgspec.Struct, frozen=True, kw_only=True):
    """The troubles of one alert and cause, as one incident shows them."""

    alert: AlertName
    cause: str
    detail: str
    subjects: tuple[str, ...]
    vertical: str


class IncidentChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluation changes; `pending` is what holds, but not for long enough yet, and since when."""

    opened: tuple[IncidentFinding, ...] = ()
    again: tuple[tuple[int, IncidentFinding], ...] = ()
    closed: tuple[int, ...] = ()
    pending: Mapping[str, datetime] = msgspec.field(default_factory=dict)


class MessageKind(StrEnum):
    """Why a message about an incident is sent."""

    OPENED = "opened"
    REPEATED = "repeated"
    RECOVERED = "recovered"


class IncidentMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message about one cause, for all its incidents that are to be told now."""

    kind: MessageKind
    cause: str
    incidents: tuple[OpenIncident, ...]

    @property
    def severity(self) -> Severity:
        """That of the most urgent incident."""
        return min((each.severity for each in self.incidents), key=lambda each: each.value)


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """What is told now, and what need not be told, because a more urgent incident of its cause is open."""

    messages: tuple[IncidentMessage, ...] = ()
    silenced: tuple[int, ...] = ()


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluation changed."""

    opened: tuple[OpenIncident, ...] = ()
    closed: tuple[OpenIncident, ...] = ()
    messages: int = 0
    pending: int = 0


def pending_key(alert: str, cause: str) -> str:
    """Return the name under which a pending alert is kept."""
    return f"{alert} {cause}"


def findings_of(troubles: Iterable[Trouble]) -> dict[tuple[AlertName, str], IncidentFinding]:
    """Return one finding for each alert and cause, however many subjects it has."""
    grouped: dict[tuple[AlertName, str], list[Trouble]] = {}
    for trouble in troubles:
        grouped.setdefault(trouble.key, []).append(trouble)
    return {key: _finding(group) for key, group in grouped.items()}


def _finding(group: Sequence[Trouble]) -> IncidentFinding:
    subjects = sorted({each.subject for each in group if each.subject})
    verticals = {each.vertical for each in group}
    more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
    first = min(group, key=lambda each: each.subject)
    return IncidentFinding(
        alert=first.alert,
        cause=first.cause,
        detail=first.detail[:LONGEST_DETAIL] + more,
        subjects=tuple(subjects[:MOST_SUBJECTS]),
        vertical=first.vertical if len(verticals) == 1 else "",
    )


def judge_incidents(
    known: Sequence[OpenIncident],
    pending: Mapping[str, datetime],
    troubles: Iterable[Trouble],
    unknown: Collection[AlertName],
    now: datetime,
) -> IncidentChanges:
    """Open what is new and has held for its delay, follow what goes on, close what is over.

    Of `unknown` alerts nobody can say whether they hold, because their check failed: what is open stays open.
    """
    found = findings_of(troubles)
    standing = {each.key: each for each in known if each.closed_at is None and not each.is_drift}
    since = {key: pending.get(pending_key(*key), now) for key in found if key not in standing}
    due = {key for key, began in since.items() if now - began >= ALERTS[key[0]].delay}
    kept = {name: began for name, began in pending.items() if AlertName(name.split(" ", 1)[0]) in unknown}
    waits = {pending_key(*key): began for key, began in since.items() if key not in due}
    return IncidentChanges(
        opened=tuple(found[key] for key in sorted(due)),
        again=tuple((each.id, found[key]) for key, each in standing.items() if key in found),
        closed=tuple(each.id for key, each in standing.items() if key not in found and each.alert not in unknown),
        pending=kept | waits,
    )


def decide_messages(incidents: Sequence[OpenIncident], now: datetime) -> Telling:
    """Return what is to be told of these incidents: those that are open, and those that ended untold."""
    by_cause: dict[str, list[OpenIncident]] = {}
    for each in incidents:
        by_cause.setdefault(each.cause, []).append(each)
    messages: list[IncidentMessage] = []
    silenced: list[int] = []
    for cause, group in sorted(by_cause.items()):
        told, quiet = _messages_of_cause(cause, group, now)
        messages += told
        silenced += quiet
    messages.sort(key=lambda each: each.severity.value)  # channels send a message a second: the most urgent go first
    return Telling(messages=tuple(messages), silenced=tuple(silenced))


def _messages_of_cause(
    cause: str, group: Sequence[OpenIncident], now: datetime
) -> tuple[list[IncidentMessage], list[int]]:
    live = [each for each in group if each.closed_at is None and not _is_snoozed(each, now)]
    new = [each for each in live if each.told_at is None]
    quiet = [each for each in new if _is_silenced(each, group)]
    ended = [each for each in group if each.closed_at is not None and not each.is_settled]
    again = {each.key for each in group if each.closed_at is None}
    over = [each for each in ended if each.was_sent and each.key not in again]
    quiet += [each for each in ended if each not in over]  # nobody heard of it, or it goes on as a newer incident
    opened = [each for each in new if each not in quiet]
    old = [each for each in live if _is_to_repeat(each, now)]
    last = max((each.told_at for each in group if each.told_at is not None and each.was_sent), default=None)
    is_held = last is not None and now - last < MESSAGE_INTERVAL
    messages = []
    urgent = any(each.severity is Severity.P1 for each in opened)
    if opened and (urgent or not is_held):
        messages.append(IncidentMessage(kind=MessageKind.OPENED, cause=cause, incidents=tuple(opened)))
    elif over and not is_held:
        messages.append(IncidentMessage(kind=MessageKind.RECOVERED, cause=cause, incidents=tuple(over)))
    elif old and not is_held:
        messages.append(IncidentMessage(kind=MessageKind.REPEATED, cause=cause, incidents=tuple(old)))
    return messages, [each.id for each in quiet]


def _is_silenced(incident: OpenIncident, group: Sequence[OpenIncident]) -> bool:
    return (
        any(other.severity is Severity.P1 and other.closed_at is None and other.id != incident.id for other in group)
        and incident.severity is not Severity.P1
    )


def _is_snoozed(incident: OpenIncident, now: datetime) -> bool:
    return incident.snoozed_until is not None and now < incident.snoozed_until


def _is_to_repeat(incident: OpenIncident, now: datetime) -> bool:
    if incident.told_at is None or incident.is_acknowledged or not incident.was_sent:
        return False
    if incident.snoozed_until is not None and incident.told_at < incident.snoozed_until <= now:
        return True
    return now - incident.told_at >= REPEATED_AFTER


def length_in_words(length: timedelta) -> str:
    """Return how long something took: '3 min', '5 h 20 min', '2 d 4 h'."""
    minutes = max(0, int(length.total_seconds() // 60))
    if minutes < 60:  # noqa: PLR2004 - minutes in an hour
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"  # noqa: PLR2004 - hours in a day
