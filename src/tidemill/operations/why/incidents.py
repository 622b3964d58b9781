"""Why there is an incident: which condition holds, since when, who was told, and who is at it."""

from datetime import datetime

from tidemill.core.views.incidents import IncidentDetail
from tidemill.operations.why.explanation import (
    Explanation,
    Step,
    blocking_step,
    format_relative,
    info_step,
    passing_step,
)


def why_incident(detail: IncidentDetail, now: datetime) -> Explanation:
    """Explain an incident, from its condition to what was said of it."""
    incident = detail.incident
    is_over = incident.closed_at is not None
    steps = [
        (passing_step if is_over else blocking_step)("condition", f"{detail.condition}: {incident.detail}"),
        info_step("cause", f"{incident.cause}; open since {format_relative(incident.opened_at, now)}"),
        _told(detail, now),
    ]
    if incident.acknowledged_at is not None:
        steps.append(info_step("acknowledged", f"{incident.acknowledged_by} is at it, so it is not repeated"))
    if incident.snoozed_until is not None:
        steps.append(info_step("snoozed", f"nothing is said of it until {incident.snoozed_until:%Y-%m-%d %H:%M} UTC"))
    if incident.run_id:
        steps.append(
            info_step("run", f"noticed at the end of run {incident.run_id}; see `tidemill why run:{incident.run_id}`")
        )
    steps += [
        info_step(each.action, f"{each.actor}: {each.note}" if each.note else each.actor) for each in detail.notes
    ]
    steps.append(info_step("runbook", detail.runbook))
    verdict = f"over since {format_relative(incident.closed_at, now)}" if incident.closed_at else detail.action
    return Explanation(f"incident {incident.id}", verdict, steps)


def _told(detail: IncidentDetail, now: datetime) -> Step:
    told = detail.incident.told_at
    if told is None:
        return info_step("told", "nobody yet: it waits for its turn, or a more urgent one of its cause is open")
    return info_step("told", format_relative(told, now))
