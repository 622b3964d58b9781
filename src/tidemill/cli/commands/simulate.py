"""`tidemill simulate`."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from tidemill.cli.simulate import build_mill
from tidemill.engine.interpreter import settle_in
from tidemill.lab.laws import Verdict
from tidemill.lab.simulation import EVERYTHING, Outcome, Plan, simulate
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single
from tidemill.terminal.showing import console, emit, say, table
from tidemill.verticals.listings.lab.fortnight import HomesOutcome, HomesPlan, simulate_homes
from tidemill.verticals.listings.lab.world import KINDS

app = single()


class WorldChoice(StrEnum):
    """Which part of the lab's world."""

    AGENDAS = "agendas"
    HOMES = "homes"


@app.command("simulate")
def simulate_days(
    days: Annotated[float, typer.Option(min=0.1, max=3_650, help="How many days to let pass.")] = 30,
    sources: Annotated[int, typer.Option(min=1, max=5_000, help="How many sources there are (agendas).")] = 200,
    seed: Annotated[int, typer.Option(help="Which world: the same number gives the same days.")] = 7,
    faults: Annotated[str, typer.Option(help="all, none, or kinds separated by commas.")] = "all",
    world: Annotated[
        WorldChoice, typer.Option(help="agendas: sites with events; homes: listings of 19 cities that come and go.")
    ] = WorldChoice.AGENDAS,
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
    if world is WorldChoice.HOMES:
        homes_pass(HomesPlan(days=days, seed=seed, faults=kinds(faults, KINDS)), log, as_json=json)
    plan = Plan(days=days, sources=sources, seed=seed, faults=kinds(faults, EVERYTHING))
    if not json:
        console(stderr=True).print(f"Letting {days:g} days pass over {sources} sources ...")
    writing = log.open("wb") if log is not None else nullcontext()
    settle_in()
    with tempfile.TemporaryDirectory(prefix="tidemill-simulation-") as folder, writing as file:
        outcome = simulate(plan, build_mill, Path(folder), file)
    if json:
        emit({"holds": outcome.holds, "outcome": outcome})
    else:
        show(outcome)
    raise typer.Exit(0 if outcome.holds else FAILURE)


def homes_pass(plan: HomesPlan, log: Path | None, *, as_json: bool) -> NoReturn:
    """Let the days pass over a housing market, and compare the repository with what was really there."""
    if not as_json:
        console(stderr=True).print(f"Letting {plan.days:g} days pass over the homes of 19 cities ...")
    writing = log.open("wb") if log is not None else nullcontext()
    with tempfile.TemporaryDirectory(prefix="tidemill-simulation-") as folder, writing as file:
        outcome = simulate_homes(plan, build_mill, Path(folder), file)
    if as_json:
        emit({"holds": outcome.holds, "outcome": outcome})
    else:
        show(outcome)
    raise typer.Exit(0 if outcome.holds else FAILURE)


def kinds(faults: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The faults that are meant, of those that the world has."""
    if faults in {"all", "none"}:
        return known if faults == "all" else ()
    names = tuple(faults.split(","))
    if wrong := [name for name in names if name not in known]:
        msg = f"unknown fault {wrong[0]!r}; there is {', '.join(('all', 'none', *known))}"
        raise Mistake(msg)
    return names


def show(outcome: Outcome | HomesOutcome) -> None:
    """Every law, what happened, and the sum of the event log."""
    show_verdicts(outcome.verdicts, outcome.figures)
    say(f"event log: {outcome.log_lines:,} lines, sha256 {outcome.log_sha256}")


def show_verdicts(verdicts: Sequence[Verdict], figures: Mapping[str, int]) -> None:
    """Every law, what it was held against, and what was found."""
    rows = [
        ("ok" if verdict.holds else "failure", verdict.law, verdict.checked, verdict.breaches) for verdict in verdicts
    ]
    table("Laws", ["", "law", "held against", "breaches"], rows, right=["breaches"])
    for verdict in verdicts:
        for words in verdict.told:
            say(f"{verdict.law}: {words}")
    table("What happened", ["event", "times"], sorted(figures.items()), right=["times"])
