"""Incidents: the list with its buttons, and one incident with its reasons, its runbook and what was said of it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.access.roles import Role
from tidemill.core.schedules import span_in_words
from tidemill.operations.why.explanation import Explanation
from tidemill.web.api.parameters import Key, Word
from tidemill.web.auth.gate import caller_of
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.lists import LONGEST_NOTICE, BulkAction, Column, Filters, ListPage, RowAction, number
from tidemill.web.responses import BadParameter

USUAL_SNOOZE_HOURS = "4"


def incidents(deps: WebDeps) -> ListPage:
    """Return the page of incidents: what people were told of, and what they can do about it."""

    async def load(chosen: Filters, _: str | None, limit: int) -> Sequence[Any]:
        return await deps.incidents.every(open_only=chosen["status"] != "all", limit=limit)

    async def acknowledge(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.incidents.acknowledge(number(key), by, fields["note"])
        return f"Incident {key} is yours; it is not repeated."

    async def snooze(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.incidents.snooze(number(key), by, hours(fields["hours"]), fields["note"])
        return f"Nothing is said of incident {key} for a while."

    async def comment(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.incidents.comment(number(key), by, fields["note"])
        return f"Noted at incident {key}."

    async def close(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.incidents.close(number(key), by, fields["note"])
        return f"Incident {key} is closed; if its condition still holds, it opens anew."

    async def send_test(_: Filters, by: str) -> str:
        tested = await deps.incidents.test(by)
        return "; ".join(f"{each.channel}: {each.error or 'taken'}" for each in tested)

    note = ("note", "Note")
    return ListPage(
        path="/incidents",
        title="Incidents",
        about="What people were told of, the most urgent first. An incident closes when its cause is gone.",
        empty="No incident is open.",
        columns=[
            Column("incident", lambda row: row.id, lambda row: f"/incidents/{row.id}"),
            Column("urgency", lambda row: row.severity),
            Column("alert", lambda row: row.alert.replace("_", " ")),
            Column("cause", lambda row: row.cause),
            Column("detail", lambda row: row.detail[:200]),
            Column("since", lambda row: row.opened_at),
            Column("state", lambda row: row.state),
            Column("over", lambda row: row.closed_at),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/incidents",
        usual_status="open",
        filters=[("status", "Show", ["open", "all"])],
        actions=[
            RowAction(
                name="acknowledge", label="I am at it", do=acknowledge, fields=[note],
                applies=lambda row: row.closed_at is None and row.acknowledged_at is None,
            ),
            RowAction(
                name="snooze", label="Snooze", do=snooze, applies=is_open,
                fields=[("hours", "Hours (4 if empty)"), note],
            ),
            RowAction(name="comment", label="Comment", do=comment, fields=[note]),
            RowAction(
                name="close", label="Close", do=close, applies=is_open, fields=[note],
                warning="If its condition still holds, it opens anew and is told again.",
            ),
        ],
        bulk=[BulkAction(
            name="send-test", label="Send a test message", do=send_test, warning="By every channel that is set up.",
            offered_when_empty=True,
        )],
        is_paged=False,
    )  # fmt: skip


def is_open(row: Any) -> bool:
    """Return whether an incident goes on."""
    return row.closed_at is None


def hours(text: str) -> timedelta:
    """Return a number of hours that a person wrote."""
    written = text.strip() or USUAL_SNOOZE_HOURS
    if not written.isascii() or not written.isdigit() or not 1 <= int(written) <= 720:  # noqa: PLR2004 - 30 days
        msg = f"{written[:20]!r} is no number of hours; write 1 to 720"
        raise BadParameter(msg)
    return timedelta(hours=int(written))


def add_incident_page(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the page of one incident, and that of every alert there is."""
    listed = incidents(deps)

    @router.get("/alerts")
    async def alerts() -> Response:
        values = {each.name: each.value for each in deps.settings()}
        rules = await deps.incidents.rules()
        return render(
            "alerts.html", rules=rules, channels=deps.incidents.channel_names, settings=values,
            after={each.alert: span_in_words(timedelta(seconds=each.after_seconds)) for each in rules},
        )  # fmt: skip

    @router.get("/incidents/{incident_id:int}")
    async def incident(incident_id: Key, request: Request, done: Word = None) -> Response:
        detail = await deps.incidents.show(incident_id)
        why: Explanation = await deps.why(f"incident:{incident_id}")
        acts = caller_of(request).role.includes(Role.OPERATOR)
        actions = [each for each in listed.actions if each.applies(detail.incident)] if acts else []
        return render(
            "incident.html", detail=detail, incident=detail.incident, why=why, actions=actions,
            done=(done or "")[:LONGEST_NOTICE],
        )  # fmt: skip
