"""`tidemill new`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.plugins import DEFAULT_VERTICAL
from tidemill.cli.app import COMMANDS
from tidemill.cli.scaffolding import scaffold, scaffold_vertical
from tidemill.engine.clock import RealClock
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.showing import print_json, print_line

app = command_group("Make something new out of a template: an adapter with its golden pages and its test.")


@app.command("adapter")
def new_adapter(
    name: Annotated[str, typer.Argument(help="What to call it, such as townhall-arnhem.")],
    *,
    domain: Annotated[str, typer.Option(help="The site that it reads, such as arnhem.nl.")],
    vertical: Annotated[
        str, typer.Option(help="What kind of data it reads: events, prices, listings or matches.")
    ] = DEFAULT_VERTICAL,
    into: Annotated[Path, typer.Option(help="The folder to make it in.")] = Path(),
    json: AsJson = False,
) -> None:
    """Make a package with an adapter, golden pages (usual, empty, changed, blocked) and a test that passes."""
    made = scaffold(name, vertical, domain, into, RealClock().now())
    if json:
        print_json([str(path) for path in made])
        return
    for path in made:
        print_line(f"made {path}")
    folder = made[0].parent
    print_line(f"try it: tidemill check {folder}, pytest {folder}; install it: pip install -e {folder}")


@app.command("vertical")
def new_vertical(
    name: Annotated[str, typer.Argument(help="What to call it, such as recipes or used_cars.")],
    *,
    into: Annotated[Path, typer.Option(help="The folder to make it in.")] = Path(),
    json: AsJson = False,
) -> None:
    """Make a package with a vertical that runs as made: read, judged, stored, and shown by API, portal and command."""
    made = scaffold_vertical(name, into, COMMANDS)
    if json:
        print_json([str(path) for path in made])
        return
    for path in made:
        print_line(f"made {path}")
    folder = made[0].parent
    print_line(
        f"install it: pip install -e {folder}; then: tidemill migrate, pytest {folder}; {folder / 'README.md'} goes on"
    )
