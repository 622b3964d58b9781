"""`tidemill simulate`."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.labs import SIMULATIONS
from tidemill.bootstrap.simulation import build_simulated_system
from tidemill.engine.interpreter import tune_interpreter
from tidemill.lab.simulation.choice import SimulationTerms
from tidemill.lab.simulation.laws import LawVerdict
from tidemill.lab.simulation.plan import SimulationOutcome
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command, with_choices
from tidemill.terminal.showing import console, print_json, print_line, print_table

app = single_command()


def simulate_days(
    days: Annotated[float, typer.Option(min=0.1, max=3_650, help="How many days to let pass.")] = 30,
    sources: Annotated[int, typer.Option(min=1, max=5_000, help="How many sources there are (agendas).")] = 200,
    seed: Annotated[int, typer.Option(help="Which world: the same number gives the same days.")] = 7,
    faults: Annotated[str, typer.Option(help="all, none, or kinds separated by commas.")] = "all",
    world: str = "",
    moments: Annotated[
        int,
        typer.Option(min=0, max=100_000, help="At so many random moments, hold what --as-of says to what was shown."),
    ] = 0,
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
    choice = SIMULATIONS[world]
    terms = SimulationTerms(
        days=days, sources=sources, seed=seed, faults=chosen_faults(faults, choice.faults), moments=moments
    )
    if not json:
        console(stderr=True).print(f"Letting {days:g} days pass over {choice.subject(terms)} ...")
    writing = log.open("wb") if log is not None else nullcontext()
    tune_interpreter()
    with tempfile.TemporaryDirectory(prefix="tidemill-simulation-") as folder, writing as file:
        outcome = choice.run(terms, build_simulated_system, Path(folder), file)
    if json:
        print_json({"holds": outcome.holds, "outcome": outcome})
    else:
        show(outcome)
    raise typer.Exit(0 if outcome.holds else FAILURE)


app.command("simulate")(
    with_choices(simulate_days, "world", {name: choice.about for name, choice in SIMULATIONS.items()})
)


def chosen_faults(faults: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the faults that are meant, of those that the world has."""
    if faults in {"all", "none"}:
        return known if faults == "all" else ()
    names = tuple(faults.split(","))
    if wrong := [name for name in names if name not in known]:
        msg = f"unknown fault {wrong[0]!r}; there is {', '.join(('all', 'none', *known))}"
        raise Mistake(msg)
    return names


def show(outcome: SimulationOutcome) -> None:
    """Show every law, what happened, and the checksum of the event log."""
    show_verdicts(outcome.verdicts, outcome.figures)
    print_line(f"event log: {outcome.log_lines:,} lines, sha256 {outcome.log_sha256}")


def show_verdicts(verdicts: Sequence[LawVerdict], figures: Mapping[str, int]) -> None:
    """Show every law, what it was checked against, and what was found."""
    rows = [
        ("ok" if verdict.holds else "failure", verdict.law, verdict.checked, verdict.breaches) for verdict in verdicts
    ]
    print_table("Laws", ["", "law", "held against", "breaches"], rows, right=["breaches"])
    for verdict in verdicts:
        for words in verdict.told:
            print_line(f"{verdict.law}: {words}")
    print_table("What happened", ["event", "times"], sorted(figures.items()), right=["times"])
