"""`tidemill simulate`."""

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from tidemill.cli.mistakes import FAILURE
from tidemill.cli.options import AsJson, single
from tidemill.cli.showing import console, emit, say, table
from tidemill.cli.simulate import build_mill
from tidemill.lab.simulation import EVERYTHING, Outcome, Plan, simulate, unknown_faults
from tidemill.operations.mistakes import Mistake, unknown

app = single()


@app.command("simulate")
def simulate_days(
    days: Annotated[float, typer.Option(min=0.1, max=3_650, help="How many days to let pass.")] = 30,
    sources: Annotated[int, typer.Option(min=1, max=5_000, help="How many sources there are.")] = 200,
    seed: Annotated[int, typer.Option(help="Which world: the same number gives the same days.")] = 7,
    faults: Annotated[str, typer.Option(help="all, none, or kinds separated by commas.")] = "all",
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every event here, the same each time.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Run the real system through weeks of virtual time and check its laws.

    Sites fail, workers crash and freeze, people switch sources off and on; then every law is held against what
    happened. Exit code 1 when one was broken.
    """
    plan = Plan(days=days, sources=sources, seed=seed, faults=kinds(faults))
    if not json:
        console(stderr=True).print(f"Letting {days:g} days pass over {sources} sources ...")
    writing = log.open("wb") if log is not None else nullcontext()
    with tempfile.TemporaryDirectory(prefix="tidemill-simulation-") as folder, writing as file:
        outcome = simulate(plan, build_mill, Path(folder), file)
    if json:
        emit({"holds": outcome.holds, "outcome": outcome})
    else:
        show(outcome)
    raise typer.Exit(0 if outcome.holds else FAILURE)


def kinds(faults: str) -> tuple[str, ...]:
    """The faults that are meant."""
    if faults in {"all", "none"}:
        return EVERYTHING if faults == "all" else ()
    names = tuple(faults.split(","))
    if wrong := unknown_faults(names):
        raise Mistake(unknown("fault", wrong[0], EVERYTHING) + f"; there is all, none, {', '.join(EVERYTHING)}")
    return names


def show(outcome: Outcome) -> None:
    """Every law, what it was held against, and what was found."""
    rows = [
        ("ok" if verdict.holds else "failure", verdict.law, verdict.checked, verdict.breaches)
        for verdict in outcome.verdicts
    ]
    table("Laws", ["", "law", "held against", "breaches"], rows, right=["breaches"])
    for verdict in outcome.verdicts:
        for words in verdict.told:
            say(f"{verdict.law}: {words}")
    table("What happened", ["event", "times"], sorted(outcome.figures.items()), right=["times"])
    say(f"event log: {outcome.log_lines:,} lines, sha256 {outcome.log_sha256}")
