"""`tidemill objectives`."""

from typing import Annotated

import typer

from tidemill.cli.system_opening import with_system
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_facts, print_json, print_table

app = command_group("See how freshness objectives stand: budgets, what burns them, whom they leave out.")


@app.command("list")
def list_objectives(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List objectives, the one with the least budget left first."""
    found = run(with_system(ctx, lambda system: system.actions.objectives.every()))
    if json:
        print_json(found)
        return
    rows = [
        (one.name, one.words, f"{one.checked}/{one.active}", "good" if one.is_good else "bad", one.bad_minutes,
         f"{one.left_minutes:.1f}", f"{one.left_share:.1%}", f"{one.burn['1h']:.1f}", len(one.excluded))
        for one in found
    ]  # fmt: skip
    columns = ["objective", "is kept when", "checked", "now", "bad min", "left min", "left", "burn 1h", "left out"]
    print_table(
        counted(len(found), "objective"), columns, rows, right=["bad min", "left min", "left", "burn 1h", "left out"]
    )


@app.command("show")
def show_objective(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A vertical, or VERTICAL/SOURCE.")],
    *,
    json: AsJson = False,
) -> None:
    """Show an objective: its budget, how fast it burns, its days, and whom it leaves out."""
    one = run(with_system(ctx, lambda system: system.actions.objectives.find(name)))
    if json:
        print_json(one)
        return
    facts = {
        "is kept when": one.words,
        "now": f"{one.checked} of {one.active} records were checked: {'good' if one.is_good else 'bad'}",
        "counted": one.at,
        "bad minutes": f"{one.bad_minutes} of {one.counted_minutes}; {one.allowed_minutes:.1f} may be",
        "left": f"{one.left_minutes:.1f} minutes ({one.left_share:.1%})",
        "burn": ", ".join(f"{rate:.1f} x over {window}" for window, rate in one.burn.items()),
        "told of as": ", ".join(one.burning) or "nothing",
    }
    print_facts(f"Objective {one.name}", facts)
    bad = [(each.day, each.counted, each.bad) for each in one.days if each.bad]
    print_table("Days with bad minutes", ["day", "counted", "bad"], bad, right=["counted", "bad"])
    print_table("Left out", ["source", "why"], [(each.name, each.reason) for each in one.excluded])
