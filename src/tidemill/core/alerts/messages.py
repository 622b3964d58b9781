"""Messages for people: neutral in form, bounded, and made into Slack's blocks within Slack's limits."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.alerts.incidents import IncidentMessage, MessageKind, OpenIncident, length_in_words
from tidemill.core.alerts.table import ALERTS, CauseKind

LONGEST_TITLE = 150
LONGEST_ABOUT = 100
LONGEST_TEXT = 2_900
"""Slack takes 3,000 characters in a section."""
MOST_BLOCKS = 50
MOST_LINES = 10
"""Incidents of one cause that a message names; the rest is counted."""
_WORDS = {MessageKind.OPENED: "", MessageKind.REPEATED: "Still: ", MessageKind.RECOVERED: "Recovered: "}


class AlertNotice(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent: a title, paragraphs of text, and who it is for."""

    key: str
    kind: str
    title: str
    paragraphs: tuple[str, ...] = ()
    severity: str = ""
    vertical: str = ""
    at: datetime


def notice_of(message: IncidentMessage, runbooks: str, now: datetime) -> AlertNotice:
    """Return the notice of a message; `runbooks` is the address that runbooks are found under."""
    first = min(message.incidents, key=lambda each: (each.severity.value, each.id))
    others = len(message.incidents) - 1
    more = f" (and {others} more)" if others else ""
    alert = first.alert.value.replace("_", " ")
    title = f"{_WORDS[message.kind]}{first.severity.value} {alert}: {_about(first, message.kind)}{more}"
    paragraphs = [_paragraph(each, message.kind, runbooks, now) for each in message.incidents[:MOST_LINES]]
    if len(message.incidents) > MOST_LINES:
        paragraphs.append(f"{len(message.incidents) - MOST_LINES} more: see `tidemill incidents list`.")
    verticals = {each.vertical for each in message.incidents}
    return AlertNotice(
        key=f"{message.kind.value} {first.id} {int(now.timestamp())}",
        kind=message.kind.value,
        title=title[:LONGEST_TITLE],
        paragraphs=tuple(paragraphs),
        severity=message.severity.value,
        vertical=first.vertical if len(verticals) == 1 else "",
        at=now,
    )


def _about(incident: OpenIncident, kind: MessageKind) -> str:
    """Return what a title says: the cause; of trouble of our own, which is always the same cause, what it is."""
    if incident.cause != CauseKind.OURSELVES:
        return incident.cause
    return "this installation" if kind is MessageKind.RECOVERED else incident.detail[:LONGEST_ABOUT]


def _paragraph(incident: OpenIncident, kind: MessageKind, runbooks: str, now: datetime) -> str:
    rule = ALERTS[incident.alert]
    about = f" [{', '.join(incident.subjects[:5])}]" if incident.subjects else ""
    if kind is MessageKind.RECOVERED:
        lasted = length_in_words((incident.closed_at or now) - incident.opened_at)
        return f"Incident {incident.id} is over after {lasted}: {incident.detail}{about}"[:LONGEST_TEXT]
    words = (
        f"Incident {incident.id}, since {incident.opened_at:%Y-%m-%d %H:%M} UTC: {incident.detail}{about}\n"
        f"{rule.meaning} {rule.action}\n"
        f"Runbook: {runbooks.rstrip('/')}/{rule.runbook}.md\n"
        f"`tidemill incidents show {incident.id}`"
    )
    return words[:LONGEST_TEXT]


def escaped(text: str) -> str:
    """Return text with the three characters escaped that Slack gives a meaning; scraped text reaches this."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def slack_body(notice: AlertNotice, repeated: str = "") -> dict[str, Any]:
    """Return a notice as Slack's webhook takes it; `repeated` is added where it may have been sent before."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": notice.title[:LONGEST_TITLE]}}
    ]
    texts = [*notice.paragraphs, *([repeated] if repeated else [])]
    blocks += [
        {"type": "section", "text": {"type": "mrkdwn", "text": escaped(each)[:LONGEST_TEXT]}}
        for each in texts[: MOST_BLOCKS - 1]
        if each
    ]
    return {"text": escaped(notice.title[:LONGEST_TITLE]), "blocks": blocks}


def plain_text(notice: AlertNotice, repeated: str = "") -> str:
    """Return a notice as plain text, for mail and logs."""
    parts: Sequence[str] = [notice.title, *notice.paragraphs, *([repeated] if repeated else [])]
    return "\n\n".join(parts)
