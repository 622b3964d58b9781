"""`tidemill proposals`."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tidemill.cli.opening import opened
from tidemill.core.proposals import Proposal
from tidemill.terminal.options import AsJson, group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import emit, say, table

app = group("Look at selectors that are proposed for redesigned pages, and accept or reject them.")

Number = Annotated[int, typer.Argument(metavar="NUMBER", help="The proposal's number.")]


@app.command("list")
def list_proposals(
    ctx: typer.Context,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also what was decided.")] = False,
    json: AsJson = False,
) -> None:
    """List what waits for a decision, the newest first."""

    async def work() -> list[Proposal]:
        async with opened(ctx) as system:
            return await system.actions.proposals.every(everything=everything)

    found = run(work())
    if json:
        emit(found)
        return
    rows = [
        (one.id, one.source_name, one.status, f"{one.confidence:.0%}", one.diagnosis, one.created_at) for one in found
    ]
    table(f"{len(found)} proposals", ["number", "source", "status", "sure", "what happened", "when"], rows)


@app.command("show")
def show_proposal(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Show a proposal: what the selectors are, and what they would be."""

    async def work() -> Proposal:
        async with opened(ctx) as system:
            return await system.actions.proposals.find(number)

    _show(run(work()), as_json=json)


@app.command("accept")
def accept_proposal(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Let the source be read by the proposed selectors; its next run is due at once."""

    async def work() -> Proposal:
        async with opened(ctx) as system:
            return await system.actions.proposals.accept(number, actor())

    _show(run(work()), as_json=json)


@app.command("reject")
def reject_proposal(ctx: typer.Context, number: Number, *, json: AsJson = False) -> None:
    """Leave the source as it is; the same is not proposed again."""

    async def work() -> Proposal:
        async with opened(ctx) as system:
            return await system.actions.proposals.reject(number, actor())

    _show(run(work()), as_json=json)


def _show(proposal: Proposal, *, as_json: bool) -> None:
    if as_json:
        emit(proposal)
        return
    say(f"proposal {proposal.id} for {proposal.source_name} is {proposal.status}: {proposal.diagnosis}")
    after: Mapping[str, Any] = proposal.after or {}
    fields = dict.fromkeys([*proposal.before, *after])
    rows = [(name, proposal.before.get(name, ""), after.get(name, "")) for name in fields]
    table(proposal.url, ["field", "now", "proposed"], rows)
