"""`tidemill discover`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.listeners import Listeners
from tidemill.cli.opening import opened
from tidemill.operations.discovery import SpillImported
from tidemill.pipeline.discover import Discovered
from tidemill.pipeline.happenings import Happening, PlaceSearched
from tidemill.terminal.exit_codes import PARTIAL
from tidemill.terminal.options import AsJson, Limit, group
from tidemill.terminal.session import run
from tidemill.terminal.showing import console, emit, harmless, say, table

app = group("Search municipalities for agendas, and import what a search without a database found.")


@app.command("run")
def run_discovery(
    ctx: typer.Context,
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PLACE]...", help="Municipalities; else those whose turn it is."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=400, help="How many at most.")] = None,
    *,
    json: AsJson = False,
) -> None:
    """Search for agendas now: those not searched lately first, the largest first.

    Answers 3 when a service was away, or what was found had to go to a file.
    """

    async def work() -> tuple[Discovered, int]:
        async with opened(ctx, announce=Listeners(tell)) as system:
            return await system.discovery.run(limit, tuple(places or ()))

    done, enabled = run(work())
    if json:
        emit({"discovered": done, "enabled": enabled})
    else:
        show(done, enabled)
    raise typer.Exit(PARTIAL if done.degraded or done.spilled_to else 0)


def tell(happening: Happening) -> None:
    """Say how it goes, on the side."""
    if isinstance(happening, PlaceSearched):
        words = f"{happening.place}: looked at {happening.looked_at} sites, {happening.found} wait for you"
        console(stderr=True).print(harmless(words), markup=False)


def show(done: Discovered, enabled: int) -> None:
    """What was done, for a person."""
    say(f"{len(done.places)} municipalities searched with {done.asked} paid questions")
    say(f"{done.pending} candidates wait, {done.skipped} were skipped, {enabled} were switched on")
    if done.waiting:
        say(f"without the search these wait: {', '.join(done.waiting)}")
    if done.degraded:
        say(f"had to do without: {', '.join(done.degraded)}")
    if done.spilled_to:
        say(f"the database did not answer; bring it in later: tidemill discover import {done.spilled_to}")


@app.command("import")
def import_file(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What discovery wrote while the database was away.")],
    *,
    json: AsJson = False,
) -> None:
    """Bring in what discovery had to write to a file; twice is once. Bad lines are named, good ones kept."""

    async def work() -> SpillImported:
        content = file.read_bytes()
        async with opened(ctx) as system:
            return await system.discovery.import_spill(content)

    done = run(work())
    if json:
        emit(done)
    else:
        say(f"{done.candidates} candidates and {done.searches} searches brought in")
        if done.bad_lines:
            say(f"lines that cannot be read: {', '.join(map(str, done.bad_lines))}")
    raise typer.Exit(PARTIAL if done.bad_lines else 0)


@app.command("places")
def list_places(ctx: typer.Context, limit: Limit = 20, *, json: AsJson = False) -> None:
    """List municipalities, the largest first, with when each was last searched."""

    async def work() -> list[dict[str, object]]:
        async with opened(ctx) as system:
            places, searched = await system.store.places.every(), await system.store.places.searched()
        largest = sorted(places, key=lambda place: -place.population)[:limit]
        return [
            {"name": place.name, "region": place.region, "population": place.population,
             "searched_at": searched.get(place.name)}
            for place in largest
        ]  # fmt: skip

    found = run(work())
    if json:
        emit(found)
        return
    table("Municipalities", ["name", "province", "people", "searched"], [tuple(one.values()) for one in found])
