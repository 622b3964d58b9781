"""`tidemill discover`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.listeners import Listeners
from tidemill.cli.system_opening import open_system
from tidemill.operations.discovery import GazetteerImported, SpillImported
from tidemill.pipeline.discover import Discovered
from tidemill.pipeline.happenings import Happening, PlaceSearched
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.options import AsJson, Limit, command_group
from tidemill.terminal.session import run
from tidemill.terminal.showing import console, print_json, print_line, print_table, without_control_codes

app = command_group("Search municipalities for agendas, and import what a search without a database found.")


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

    async def search() -> tuple[Discovered, int]:
        async with open_system(ctx, announce=Listeners(print_progress)) as system:
            return await system.discovery.run(limit, tuple(places or ()))

    done, enabled = run(search())
    if json:
        print_json({"discovered": done, "enabled": enabled})
    else:
        show(done, enabled)
    raise typer.Exit(PARTIAL if done.degraded or done.spilled_to else 0)


def print_progress(happening: Happening) -> None:
    """Print each searched place on standard error."""
    if isinstance(happening, PlaceSearched):
        words = (
            f"{happening.place}: looked at {counted(happening.looked_at, 'site')}, {happening.found} for you to review"
        )
        console(stderr=True).print(without_control_codes(words), markup=False)


def show(done: Discovered, enabled: int) -> None:
    """Show what was done."""
    places = counted(len(done.places), "municipality", "municipalities")
    print_line(f"{places} searched with {counted(done.asked, 'paid question')}")
    print_line(
        f"{counted(done.pending, 'candidate waits', 'candidates wait')}, {done.skipped} skipped, {enabled} switched on"
    )
    if done.waiting:
        print_line(f"without the search these wait: {', '.join(done.waiting)}")
    if done.degraded:
        print_line(f"had to do without: {', '.join(done.degraded)}")
    for words in done.budget_words:
        print_line(words)
    if done.spilled_to:
        print_line(f"the database did not answer; bring it in later: tidemill discover import {done.spilled_to}")


@app.command("import")
def import_file(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What discovery wrote while the database was away.")],
    *,
    json: AsJson = False,
) -> None:
    """Bring in what discovery had to write to a file; twice is once.

    Bad lines are named, good ones kept; a file without bad lines is renamed to `FILE.imported`.
    """

    async def import_content() -> SpillImported:
        content = file.read_bytes()
        async with open_system(ctx) as system:
            return await system.discovery.import_spill(content)

    done = run(import_content())
    if not done.bad_lines:
        file.rename(file.with_name(f"{file.name}.imported"))
    if json:
        print_json(done)
    else:
        print_line(
            f"{counted(done.candidates, 'candidate')} and {counted(done.searches, 'search', 'searches')} brought in"
        )
        if done.bad_lines:
            print_line(f"lines that cannot be read: {', '.join(map(str, done.bad_lines))}")
    raise typer.Exit(PARTIAL if done.bad_lines else 0)


@app.command("gazetteer")
def import_gazetteer(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV: a line for each town.")],
    *,
    json: AsJson = False,
) -> None:
    """Bring in towns of any country to be searched; what is known of a town is renewed.

    Columns: name, region, country, population, latitude, longitude, language, time_zone, and spoken if people say
    another name. Nothing is searched by this.
    """

    async def import_content() -> GazetteerImported:
        content = file.read_bytes()
        async with open_system(ctx) as system:
            return await system.discovery.import_places(content)

    done = run(import_content())
    if json:
        print_json(done)
    else:
        print_line(f"{counted(done.places, 'place')} brought in; `tidemill discover run NAME` searches one")
        for problem in done.problems:
            print_line(problem)
    raise typer.Exit((PARTIAL if done.places else FAILURE) if done.problems else 0)


@app.command("places")
def list_places(ctx: typer.Context, limit: Limit = 20, *, json: AsJson = False) -> None:
    """List municipalities, the largest first, with when each was last searched."""

    async def load_places() -> list[dict[str, object]]:
        async with open_system(ctx) as system:
            places, searched = await system.store.places.every(), await system.store.places.searched()
        largest = sorted(places, key=lambda place: -place.population)[:limit]
        return [
            {"name": place.name, "region": place.region, "country": place.country, "population": place.population,
             "searched_at": searched.get(place.name)}
            for place in largest
        ]  # fmt: skip

    found = run(load_places())
    if json:
        print_json(found)
        return
    print_table(
        "Municipalities", ["name", "region", "country", "people", "searched"], [tuple(one.values()) for one in found]
    )
