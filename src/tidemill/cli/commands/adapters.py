"""`tidemill adapters`."""

from typing import Annotated

import typer

from tidemill.cli.opening import opened
from tidemill.core.views.quality import IncidentView
from tidemill.operations.adapters import AdapterLine, Enabled
from tidemill.operations.dry_run import DryRun
from tidemill.terminal.exit_codes import PARTIAL
from tidemill.terminal.options import AsJson, Limit, Reason, Source, group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import emit, key, say, table

app = group("List adapters, switch them on and off, bless what they yield.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The adapter's name, such as events.generic.")]


@app.command("list")
def list_adapters(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List adapters with their versions, and who switched which off."""

    async def work() -> list[AdapterLine]:
        async with opened(ctx) as system:
            return await system.actions.adapters.every()

    found = run(work())
    if json:
        emit(found)
        return
    rows = [(one.id, one.vertical, one.version, one.enabled, one.disabled_by, one.disabled_reason) for one in found]
    table(f"{len(found)} adapters", ["adapter", "vertical", "version", "on", "off by", "because"], rows)


@app.command("enable")
def enable_adapter(
    ctx: typer.Context,
    name: Name,
    *,
    careful: Annotated[bool, typer.Option("--careful", help="Refuse when the dry run goes badly.")] = False,
    json: AsJson = False,
) -> None:
    """Switch an adapter on after a dry run on stored pages, which is shown; its next run is watched."""

    async def work() -> Enabled:
        async with opened(ctx) as system:
            return await system.actions.adapters.enable(name, actor(), careful=careful)

    done = run(work())
    if json:
        emit(done)
        return
    show_dry_run(done.dry_run)
    say(f"adapter {done.adapter.id} is on; its next run is watched, and one bad one switches it off again")


@app.command("try")
def try_adapter(ctx: typer.Context, name: Name, *, json: AsJson = False) -> None:
    """Let an adapter read the newest stored pages of its targets, and show what comes of it; nothing is written."""

    async def work() -> DryRun:
        async with opened(ctx) as system:
            return await system.actions.adapters.dry_run(name)

    trial = run(work())
    if json:
        emit(trial)
    else:
        show_dry_run(trial)
    raise typer.Exit(0 if trial.is_successful else PARTIAL)


def show_dry_run(trial: DryRun) -> None:
    """The dry run in a few lines."""
    say(f"dry run of {trial.adapter_id} {trial.version}: {trial.well} of {trial.pages} stored pages went well, "
        f"{trial.records} records")  # fmt: skip
    for reason, count in trial.reasons.items():
        say(f"  {count} x {reason}")
    if not trial.is_successful:
        say("  most pages failed: if the site has not changed back, mend the adapter first")


@app.command("bless")
def bless_adapter(ctx: typer.Context, name: Name, source: Source = None, *, json: AsJson = False) -> None:
    """Take the share of records that have each field, as the latest runs show it, for what should be.

    From then on a field that is five points off is told of.
    """

    async def work() -> dict[int, dict[str, float]]:
        async with opened(ctx) as system:
            done = await system.actions.adapters.bless(name, actor(), source)
            return {each.source_id: each.shares for each in done}

    found = run(work())
    if json:
        emit(found)
        return
    rows = [(key(owner), field, f"{share:.0%}") for owner, shares in found.items() for field, share in shares.items()]
    table(f"Blessed for {len(found)} sources", ["source", "field", "share"], rows, right=["share"])


@app.command("incidents")
def list_incidents(
    ctx: typer.Context,
    limit: Limit = 50,
    *,
    over: Annotated[bool, typer.Option("--over", help="Also those that are over.")] = False,
    json: AsJson = False,
) -> None:
    """List what drift detection noticed, the newest first."""

    async def work() -> list[IncidentView]:
        async with opened(ctx) as system:
            return await system.actions.adapters.incidents(open_only=not over, limit=limit)

    found = run(work())
    if json:
        emit(found)
        return
    rows = [
        (one.adapter_id, one.source_name, one.rule, one.field, one.detail, one.times, one.opened_at, one.closed_at)
        for one in found
    ]
    columns = ["adapter", "source", "rule", "field", "detail", "times", "since", "over"]
    table(f"{len(found)} incidents", columns, rows, right=["times"])


@app.command("disable")
def disable_adapter(ctx: typer.Context, name: Name, reason: Reason = "") -> None:
    """Switch an adapter off: nothing is enqueued for its targets any more."""

    async def work() -> AdapterLine:
        async with opened(ctx) as system:
            return await system.actions.adapters.disable(name, actor(), reason)

    say(f"adapter {run(work()).id} is off")
