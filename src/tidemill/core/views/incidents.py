"""Incidents as people are shown them, with what was said about each."""

from datetime import datetime

import msgspec


class IncidentView(msgspec.Struct, frozen=True, kw_only=True):
    """Something that people are told of, and whether it is over.

    `rule`, `field`, `adapter_id`, `source_id` and `run_id` are set where drift detection noticed it.
    """

    id: int
    alert: str
    severity: str
    cause: str
    vertical: str
    detail: str
    subjects: list[str]
    adapter_id: str | None
    source_id: int | None
    source_name: str
    rule: str
    field: str
    run_id: int | None
    times: int
    opened_at: datetime
    last_seen_at: datetime
    closed_at: datetime | None
    closed_by: str | None
    told_at: datetime | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    snoozed_until: datetime | None

    @property
    def state(self) -> str:
        """How it stands in a word: open, acknowledged, snoozed or over."""
        if self.closed_at is not None:
            return "over"
        if self.acknowledged_at is not None:
            return "acknowledged"
        return "snoozed" if self.snoozed_until is not None else "open"


class IncidentNote(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody did about an incident, or said of it."""

    actor: str
    action: str
    note: str
    created_at: datetime


class IncidentDetail(msgspec.Struct, frozen=True, kw_only=True):
    """An incident with its notes, what its alert means, what to do, and where its runbook is."""

    incident: IncidentView
    notes: list[IncidentNote]
    condition: str
    meaning: str
    action: str
    runbook: str
