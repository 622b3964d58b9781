"""`tidemill status`."""

import typer

from tidemill.cli.system_opening import with_system
from tidemill.core.health.system import Grade
from tidemill.operations.status import StatusReport
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table

app = single_command()


@app.command()
def status(ctx: typer.Context, *, json: AsJson = False) -> None:
    """Show on one screen how everything stands; the exit code is 1 if it is not healthy."""
    report = run(with_system(ctx, lambda system: system.actions.status.report()))
    if json:
        print_json(report)
    else:
        _print(report)
    raise typer.Exit(0 if report.grade is Grade.HEALTHY else 1)


def _print(report: StatusReport) -> None:
    print_line(f"{report.grade.value} at {report.at:%Y-%m-%d %H:%M} UTC")
    for reason in report.reasons:
        print_line(f"  {reason}")
    rows = [
        (each.vertical, each.sources, each.fresh, each.records, each.oldest_success, each.oldest_source)
        for each in report.freshness
    ]
    columns = ["vertical", "sources on", "fresh (24 h)", "records", "oldest success", "of"]
    print_table("Freshness", columns, rows, right=["sources on", "fresh (24 h)", "records"])
    alarms = [
        (id_text(each.id), each.severity, each.alert.replace("_", " "), each.cause, each.opened_at)
        for each in report.incidents
    ]
    print_table("Incidents", ["id", "urgency", "alert", "cause", "since"], alarms)
    print_facts(
        "Needs a person",
        {line.partition(":")[0]: line.partition(":")[2].strip() for line in report.waiting} or {"nothing": ""},
    )
    print_facts(
        "Proof of work", {"overdue": "; ".join(report.overdue) or "nothing: every tick and every due target was done"}
    )
    print_facts("Last fired", dict(report.last_fired))
