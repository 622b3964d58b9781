"""`tidemill candidates`."""

from typing import Annotated

import typer

from tidemill.cli.system_opening import open_system, with_system
from tidemill.core.discovery.candidates import Candidate, CandidateStatus
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Limit, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table

app = command_group("Look through the sites that discovery found, approve and reject them.")
Which = Annotated[int, typer.Argument(metavar="ID", help="The candidate's number.")]
Several = Annotated[list[int], typer.Argument(metavar="ID...", help="The candidates' numbers.")]
Note = Annotated[str, typer.Option(help="Why; kept with the candidate.")]


@app.command("list")
def list_candidates(
    ctx: typer.Context,
    status: Annotated[CandidateStatus | None, typer.Option(help="Only with this status.")] = None,
    place: Annotated[str | None, typer.Option(help="Only of this municipality.")] = None,
    limit: Limit = 50,
    *,
    json: AsJson = False,
) -> None:
    """List candidates, the newest first."""
    found = run(with_system(ctx, lambda system: system.discovery.listed(status=status, place=place, limit=limit)))
    if json:
        print_json(found)
        return
    rows = [(id_text(one.id), one.place, one.status, one.confidence, len(one.samples), one.url, one.reasons[:1])
            for one in found]  # fmt: skip
    columns = ["id", "place", "status", "confidence", "samples", "url", "first reason"]
    print_table(counted(len(found), "candidate"), columns, rows, right=["id", "confidence", "samples"])


@app.command("show")
def show_candidate(ctx: typer.Context, candidate_id: Which, *, json: AsJson = False) -> None:
    """Show a candidate with its sample events and every reason."""
    one = run(with_system(ctx, lambda system: system.discovery.find(candidate_id)))
    if json:
        print_json(one)
        return
    print_facts(
        f"Candidate {one.id}",
        {
            "address": one.url,
            "title": one.title,
            "place": one.place,
            "status": one.status,
            "confidence": one.confidence,
            "judged by": one.method,
            "found": one.found_at,
            "decided": f"{one.decided_by} {one.note}".strip(),
            "source": id_text(one.source_id),
        },
    )
    print_table("Why", ["reason"], [(reason,) for reason in one.reasons])
    samples = [(sample.starts, sample.title, sample.place) for sample in one.samples]
    print_table("Sample events", ["starts", "title", "place"], samples)


@app.command("approve")
def approve_candidates(
    ctx: typer.Context,
    candidates: Several,
    note: Note = "",
    *,
    enable: Annotated[bool, typer.Option("--enable", help="Switch the new sources on at once.")] = False,
    json: AsJson = False,
) -> None:
    """Make sources of candidates; they are off until you switch them on, unless you say --enable."""

    async def approve() -> list[Candidate]:
        async with open_system(ctx) as system:
            return [await system.discovery.approve(one, actor(), enable=enable, note=note) for one in candidates]

    report(run(approve()), "a source now" if enable else "a source now, switched off", as_json=json)


@app.command("reject")
def reject_candidates(ctx: typer.Context, candidates: Several, note: Note = "", *, json: AsJson = False) -> None:
    """Never show candidates again."""

    async def reject() -> list[Candidate]:
        async with open_system(ctx) as system:
            return [await system.discovery.reject(one, actor(), note) for one in candidates]

    report(run(reject()), "rejected", as_json=json)


def report(done: list[Candidate], words: str, *, as_json: bool) -> None:
    """Show what became of the candidates."""
    if as_json:
        print_json(done)
        return
    for one in done:
        print_line(f"{one.url}: {words}" + (f" (number {one.source_id})" if one.source_id is not None else ""))
