"""`tidemill incidents`."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer

from tidemill.bootstrap.system import System
from tidemill.cli.system_opening import with_system
from tidemill.core.schedules import BadSchedule, Every, parse_schedule
from tidemill.core.views.incidents import IncidentDetail
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Limit, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table

app = command_group("Look at incidents; acknowledge, snooze, comment on and close them.")

IncidentId = Annotated[int, typer.Argument(metavar="ID", min=0, help="The incident's number.")]
Note = Annotated[str, typer.Option("--note", help="What to write down with it.")]


@app.command("list")
def list_incidents(
    ctx: typer.Context,
    limit: Limit = 50,
    *,
    over: Annotated[bool, typer.Option("--over", help="Also those that are over.")] = False,
    json: AsJson = False,
) -> None:
    """List incidents: the open ones most urgent first, or all of them newest first."""
    found = run(with_system(ctx, lambda system: system.actions.incidents.every(open_only=not over, limit=limit)))
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.severity, one.alert.replace("_", " "), one.cause, one.detail, one.opened_at, one.state)
        for one in found
    ]
    print_table(counted(len(found), "incident"), ["id", "urgency", "alert", "cause", "detail", "since", "state"], rows)


@app.command("show")
def show_incident(ctx: typer.Context, incident: IncidentId, *, json: AsJson = False) -> None:
    """Show an incident: what it means, what to do, its runbook, and what was said of it."""
    _act(ctx, lambda system: system.actions.incidents.show(incident), json=json)


@app.command("ack")
def acknowledge(ctx: typer.Context, incident: IncidentId, note: Note = "", *, json: AsJson = False) -> None:
    """Say that you are at it: it is not repeated any more."""
    _act(ctx, lambda system: system.actions.incidents.acknowledge(incident, actor(), note), json=json)


@app.command("snooze")
def snooze(
    ctx: typer.Context,
    incident: IncidentId,
    length: Annotated[str, typer.Option("--for", help="For how long, e.g. 30m, 4h or 2d.")] = "4h",
    note: Note = "",
    *,
    json: AsJson = False,
) -> None:
    """Say nothing of it for a while; if it is still open then, it is told again."""
    try:
        rhythm = parse_schedule(f"every {length}")
    except BadSchedule:
        rhythm = None
    if not isinstance(rhythm, Every):
        msg = f"{length!r} is no length of time; write 30m, 4h or 2d"
        raise Mistake(msg)
    span = rhythm.interval
    _act(ctx, lambda system: system.actions.incidents.snooze(incident, actor(), span, note), json=json)


@app.command("comment")
def comment(
    ctx: typer.Context,
    incident: IncidentId,
    note: Annotated[str, typer.Argument(metavar="WORDS", help="What to write down.")],
    *,
    json: AsJson = False,
) -> None:
    """Write something down about it, also when it is over."""
    _act(ctx, lambda system: system.actions.incidents.comment(incident, actor(), note), json=json)


@app.command("close")
def close(ctx: typer.Context, incident: IncidentId, note: Note = "", *, json: AsJson = False) -> None:
    """Close it by hand; if its condition still holds, it opens anew."""
    _act(ctx, lambda system: system.actions.incidents.close(incident, actor(), note), json=json)


def _act(ctx: typer.Context, do: Callable[[System], Awaitable[IncidentDetail]], *, json: bool) -> None:
    detail = run(with_system(ctx, do))
    if json:
        print_json(detail)
        return
    one = detail.incident
    facts = {
        "alert": f"{one.severity} {one.alert.replace('_', ' ')}",
        "state": one.state,
        "cause": one.cause,
        "detail": one.detail,
        "concerns": ", ".join(one.subjects),
        "since": one.opened_at,
        "last told": one.told_at,
        "over": one.closed_at,
        "meaning": detail.meaning,
        "do": detail.action,
        "runbook": detail.runbook,
    }
    print_facts(f"Incident {one.id}", {name: value for name, value in facts.items() if value})
    for note in detail.notes:
        print_line(
            f"{note.created_at:%Y-%m-%d %H:%M} {note.actor} {note.action}" + (f": {note.note}" if note.note else "")
        )
