"""`tidemill proposals`."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tidemill.cli.system_opening import with_system
from tidemill.core.quality.proposals import Proposal
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table

app = command_group("Look at selectors that are proposed for redesigned pages, and accept or reject them.")

Number = Annotated[int, typer.Argument(metavar="NUMBER", help="The proposal's number.")]


@app.command("list")
def list_proposals(
    ctx: typer.Context,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also what was decided.")] = False,
    json: AsJson = False,
) -> None:
    """List what waits for a decision, the newest first."""
    found = run(with_system(ctx, lambda system: system.actions.proposals.every(everything=everything)))
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.source_name, one.status, f"{one.confidence:.0%}", _share(one.precision),
         _share(one.recall), one.diagnosis, one.created_at)
        for one in found
    ]  # fmt: skip
    names = ["number", "source", "status", "sure", "precision", "recall", "what happened", "when"]
    print_table(counted(len(found), "proposal"), names, rows, right=["sure", "precision", "recall"])


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


@app.command("show")
def show_proposal(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Show a proposal: what the selectors are, and what they would be."""
    _show(run(with_system(ctx, lambda system: system.actions.proposals.find(number))), as_json=json)


@app.command("accept")
def accept_proposal(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Let the source be read by the proposed selectors; its next run is due at once."""
    _show(run(with_system(ctx, lambda system: system.actions.proposals.accept(number, actor()))), as_json=json)


@app.command("reject")
def reject_proposal(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Leave the source as it is; the same is not proposed again."""
    _show(run(with_system(ctx, lambda system: system.actions.proposals.reject(number, actor()))), as_json=json)


def _show(proposal: Proposal, *, as_json: bool) -> None:
    if as_json:
        print_json(proposal)
        return
    print_line(f"proposal {proposal.id} for {proposal.source_name} is {proposal.status}: {proposal.diagnosis}")
    if proposal.replay_id is not None:
        print_line(
            f"proven on the last good pages: precision {_share(proposal.precision)}, recall {_share(proposal.recall)}; "
            f"`tidemill replays show {proposal.replay_id}` shows each page"
        )
    after: Mapping[str, Any] = proposal.after or {}
    fields = dict.fromkeys([*proposal.before, *after])
    rows = [(name, proposal.before.get(name, ""), after.get(name, "")) for name in fields]
    print_table(proposal.url, ["field", "now", "proposed"], rows)
