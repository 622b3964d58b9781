"""`tidemill adapters`."""

from typing import Annotated

import typer

from tidemill.cli.system_opening import open_system, with_system
from tidemill.operations.dry_run import DryRun
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import PARTIAL
from tidemill.terminal.options import AsJson, Reason, Source, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table

app = command_group("List adapters, switch them on and off, bless what they yield.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The adapter's name, such as events.generic.")]


@app.command("list")
def list_adapters(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List adapters with their versions, and who switched which off."""
    found = run(with_system(ctx, lambda system: system.actions.adapters.every()))
    if json:
        print_json(found)
        return
    rows = [(one.id, one.vertical, one.version, one.enabled, one.disabled_by, one.disabled_reason) for one in found]
    print_table(counted(len(found), "adapter"), ["adapter", "vertical", "version", "on", "off by", "because"], rows)


@app.command("enable")
def enable_adapter(
    ctx: typer.Context,
    name: Name,
    *,
    careful: Annotated[bool, typer.Option("--careful", help="Refuse when the dry run goes badly.")] = False,
    json: AsJson = False,
) -> None:
    """Switch an adapter on after a dry run on stored pages, which is shown; its next run is watched."""
    done = run(with_system(ctx, lambda system: system.actions.adapters.enable(name, actor(), careful=careful)))
    if json:
        print_json(done)
        return
    show_dry_run(done.dry_run)
    print_line(f"adapter {done.adapter.id} is on; its next run is watched, and one bad one switches it off again")


@app.command("try")
def try_adapter(ctx: typer.Context, name: Name, *, json: AsJson = False) -> None:
    """Let an adapter read the newest stored pages of its targets, and show what comes of it; nothing is written."""
    trial = run(with_system(ctx, lambda system: system.actions.adapters.dry_run(name)))
    if json:
        print_json(trial)
    else:
        show_dry_run(trial)
    raise typer.Exit(0 if trial.is_successful else PARTIAL)


def show_dry_run(trial: DryRun) -> None:
    """Show the dry run in a few lines."""
    print_line(f"dry run of {trial.adapter_id} {trial.version}: {trial.well} of {trial.pages} stored pages went well, "
        f"{counted(trial.records, 'record')}")  # fmt: skip
    for reason, count in trial.reasons.items():
        print_line(f"  {count} x {reason}")
    if not trial.is_successful:
        print_line("  most pages failed: if the site has not changed back, mend the adapter first")


@app.command("bless")
def bless_adapter(ctx: typer.Context, name: Name, source: Source = None, *, json: AsJson = False) -> None:
    """Take the share of records that have each field, as the latest runs show it, for what should be.

    From then on a field that is five points off is told of.
    """

    async def bless() -> dict[int, dict[str, float]]:
        async with open_system(ctx) as system:
            done = await system.actions.adapters.bless(name, actor(), source)
            return {each.source_id: each.shares for each in done}

    found = run(bless())
    if json:
        print_json(found)
        return
    rows = [
        (id_text(owner), field, f"{share:.0%}") for owner, shares in found.items() for field, share in shares.items()
    ]
    print_table(f"Blessed for {counted(len(found), 'source')}", ["source", "field", "share"], rows, right=["share"])


@app.command("baselines")
def list_baselines(ctx: typer.Context, name: Name, *, json: AsJson = False) -> None:
    """List the shares of records that should have each field, as people took them for good."""
    found = run(with_system(ctx, lambda system: system.actions.adapters.baselines(name)))
    if json:
        print_json(found)
        return
    rows = [(each.source_name, each.field, f"{each.share:.0%}", each.records, each.blessed_by) for each in found]
    columns = ["source", "field", "filled in", "records", "by"]
    print_table(f"{counted(len(rows), 'baseline')} of {name}", columns, rows, right=["filled in", "records"])


@app.command("disable")
def disable_adapter(ctx: typer.Context, name: Name, reason: Reason = "") -> None:
    """Switch an adapter off: nothing is enqueued for its targets any more."""
    done = run(with_system(ctx, lambda system: system.actions.adapters.disable(name, actor(), reason)))
    print_line(f"adapter {done.id} is off")
