"""`tidemill import`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
import yaml

from tidemill.bootstrap.plugins import DEFAULT_VERTICAL, PLUGINS
from tidemill.interop.import_paths import UnusableCode
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.showing import print_json, print_line

app = command_group("Write a sources file from a project of another tool.")


class ImportedSpider(msgspec.Struct, frozen=True):
    """A spider that was taken over, and what was left out of it."""

    name: str
    adapter: str
    targets: int
    left_out: tuple[str, ...]


@app.callback()
def group() -> None:
    """Keep `scrapy` a command of its own: other tools may follow."""


@app.command("scrapy")
def import_scrapy(
    project: Annotated[Path, typer.Argument(help="The folder with scrapy.cfg in it.")],
    *,
    vertical: Annotated[str, typer.Option(help="What kind of data its items are.")] = DEFAULT_VERTICAL,
    into: Annotated[Path, typer.Option(help="The sources file to write.")] = Path("sources.yaml"),
    json: AsJson = False,
) -> None:
    """Write a sources file with an entry for each spider, and say what was left out.

    Look it over, then `tidemill sources import FILE --dry-run`. The project has to be importable where Tidemill runs.
    """
    if vertical not in PLUGINS:
        raise NotFound(unknown_name("vertical", vertical, PLUGINS))
    if into.exists():
        msg = f"{into} exists already; write another with --into, or remove it"
        raise Mistake(msg)
    try:
        from tidemill.interop.scrapy_projects import entries_of  # noqa: PLC0415 - an extra
    except ImportError as error:
        msg = f"this needs the extra scrapy: pip install 'tidemill[scrapy]' ({error})"
        raise Mistake(msg) from error
    try:
        found = entries_of(project, vertical)
    except UnusableCode as error:
        raise Mistake(str(error)) from error
    into.write_text(
        yaml.safe_dump({"sources": [dict(each.entry) for each in found]}, sort_keys=False), encoding="utf-8"
    )
    spiders = [
        ImportedSpider(each.entry["name"], each.entry["adapter"], len(each.entry["targets"]), each.left_out)
        for each in found
    ]
    if json:
        print_json(spiders)
        return
    for one in spiders:
        print_line(f"{one.name}: {counted(one.targets, 'target')}, read by {one.adapter}")
        for words in one.left_out:
            print_line(f"  left out: {words}")
    print_line(f"wrote {into}; put {project.resolve()} on PYTHONPATH, then: tidemill sources import {into} --dry-run")
