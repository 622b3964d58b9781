"""`tidemill replays`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.cli.replay_report import print_applied, show_replay
from tidemill.cli.system_opening import with_system
from tidemill.core.replay.views import ReplayView
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table

app = command_group("Look at replays and at changes held at the gate; accept, refuse, revert and roll back.")

Number = Annotated[int, typer.Argument(metavar="NUMBER", help="The replay's number.")]


@app.command("list")
def list_replays(
    ctx: typer.Context,
    *,
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that wait for a person.")] = False,
    json: AsJson = False,
) -> None:
    """List replays, the newest first."""
    found = run(with_system(ctx, lambda system: system.actions.replays.every(waiting=waiting)))
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.scope.words, f"{one.pages_done} of {one.pages_total}", one.state_words,
         "; ".join(one.held_because), one.created_by, one.created_at)
        for one in found
    ]  # fmt: skip
    print_table(counted(len(found), "replay"), ["number", "of", "pages", "state", "held because", "by", "when"], rows)


@app.command("changes")
def list_changes(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List changes of adapters' versions and of sources' selectors, and what the gate made of each."""
    found = run(with_system(ctx, lambda system: system.actions.replays.every_change()))
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.kind, one.source_name or one.adapter_id, one.status, id_text(one.replay_id),
         "; ".join(one.held_because), one.created_at)
        for one in found
    ]  # fmt: skip
    print_table(
        counted(len(found), "change"), ["number", "of", "whose", "status", "replay", "held because", "when"], rows
    )


@app.command("show")
def show(
    ctx: typer.Context,
    number: Number,
    *,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as a page.")] = None,
    json: AsJson = False,
) -> None:
    """Show a replay's report."""
    show_replay(run(with_system(ctx, lambda system: system.actions.replays.show(number))), as_json=json, html=html)


@app.command("accept")
def accept(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Accept what a replay shows: a change that waited takes effect."""
    _say(run(with_system(ctx, lambda system: system.actions.replays.accept(number, actor()))), as_json=json)


@app.command("refuse")
def refuse(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Refuse what a replay shows: everything stays as it is."""
    _say(run(with_system(ctx, lambda system: system.actions.replays.refuse(number, actor()))), as_json=json)


@app.command("revert")
def revert(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Take back what applying a replay did to the records."""
    _say(run(with_system(ctx, lambda system: system.actions.replays.revert(number, actor()))), as_json=json)


@app.command("rollback")
def roll_back(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Whose last change of selectors to undo.")],
    *,
    json: AsJson = False,
) -> None:
    """Go back to the selectors that a source had before; they are replayed like any other change."""
    show_replay(run(with_system(ctx, lambda system: system.actions.replays.roll_back(source, actor()))), as_json=json)


def _say(replay: ReplayView, *, as_json: bool) -> None:
    if as_json:
        print_json(replay)
        return
    print_line(f"replay {replay.id} of {replay.scope.words} is {replay.state_words}")
    print_applied(replay)
