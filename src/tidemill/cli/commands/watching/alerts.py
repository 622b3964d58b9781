"""`tidemill alerts`."""

from typing import Annotated

import typer
import yaml

from tidemill.cli.system_opening import settings_of, with_system
from tidemill.core.alerts.prometheus import rule_file
from tidemill.core.alerts.table import RULES
from tidemill.core.schedules import span_in_words
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Limit, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import print_json, print_table

app = command_group("List the alerts, what was sent, and send a test message.")


@app.command("list")
def list_alerts(*, json: AsJson = False) -> None:
    """List every alert: when it is told, how urgent it is, and its runbook."""
    if json:
        print_json(RULES)
        return
    rows = [
        (
            rule.name.value,
            rule.severity.value,
            rule.cause.value,
            rule.condition,
            span_in_words(rule.delay) if rule.delay else "at once",
            rule.runbook_path,
        )
        for rule in RULES
    ]  # fmt: skip
    print_table(counted(len(rows), "alert"), ["alert", "urgency", "grouped by", "told when", "delay", "runbook"], rows)


@app.command("rules")
def print_rules(ctx: typer.Context) -> None:
    """Print the alerts as rules for Prometheus, with the addresses of runbooks that are set."""
    typer.echo(yaml.safe_dump(rule_file(settings_of(ctx).runbooks_url), sort_keys=False, width=120), nl=False)


@app.command("outbox")
def list_outbox(ctx: typer.Context, limit: Limit = 50, *, json: AsJson = False) -> None:
    """List the newest messages to people, sent or waiting."""
    found = run(with_system(ctx, lambda system: system.actions.incidents.outbox(limit)))
    if json:
        print_json(found)
        return
    rows = [
        (one.created_at, one.channel, one.kind, one.title, one.status, one.attempts, one.sent_at, one.last_error)
        for one in found
    ]
    columns = ["written", "channel", "kind", "title", "status", "tries", "sent", "last error"]
    print_table(counted(len(found), "message"), columns, rows, right=["tries"])


@app.command("rounds")
def list_rounds(ctx: typer.Context, limit: Limit = 20, *, json: AsJson = False) -> None:
    """List the last rounds of runs with their summaries."""
    found = run(with_system(ctx, lambda system: system.alerts.rounds.latest(limit)))
    if json:
        print_json(found)
        return
    rows = [
        (one.vertical, one.started_at, one.completed_at, one.runs, one.sources_processed, one.records_inserted,
         one.records_updated, one.records_skipped, one.errors, one.dlq_items_added, f"{one.complete_runs}/{one.runs}",
         ", ".join(one.circuit_breakers_tripped), ", ".join(one.degraded))
        for one in found
    ]  # fmt: skip
    columns = ["vertical", "from", "to", "runs", "sources", "inserted", "updated", "skipped", "errors", "dead letters",
               "complete", "breakers", "did without"]  # fmt: skip
    print_table(counted(len(found), "round"), columns, rows)


@app.command("test")
def send_test(
    ctx: typer.Context,
    channel: Annotated[str | None, typer.Argument(metavar="[CHANNEL]", help="Only this channel.")] = None,
    *,
    json: AsJson = False,
) -> None:
    """Send a test message now by every channel that is set up; the exit code is 1 if one did not take it."""
    tested = run(with_system(ctx, lambda system: system.actions.incidents.test(actor(), channel)))
    if json:
        print_json(tested)
    else:
        print_table("Test message", ["channel", "result"], [(one.channel, one.error or "taken") for one in tested])
    raise typer.Exit(1 if any(one.error for one in tested) else 0)
