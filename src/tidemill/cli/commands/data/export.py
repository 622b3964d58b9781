"""`tidemill export`."""

import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from tidemill.cli.system_opening import open_system
from tidemill.operations.exporting.dataset import ExportDataset, ExportFormat
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import console, print_json, print_table

app = single_command()


@app.command()
def export(
    ctx: typer.Context,
    dataset: Annotated[str | None, typer.Argument(metavar="[DATASET]", help="Which; else they are listed.")] = None,
    form: Annotated[ExportFormat, typer.Option("--format", "-f", help="The format.")] = ExportFormat.JSONL,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of to the screen.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", "-w", metavar="NAME=VALUE", help="Only those; may be repeated.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Go on after the row that has this cursor.")
    ] = None,
    as_of: Annotated[
        datetime | None, typer.Option("--as-of", metavar="MOMENT", help="As it was then, such as 2026-11-01T12:00.")
    ] = None,
    *,
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress it.")] = False,
    json: AsJson = False,
) -> None:
    """Write data as JSON Lines, CSV, Parquet and more, however much there is.

    The last column of each row is its cursor: what was cut off goes on with `--after`. With `--as-of` the rows are what
    they were at that moment, in UTC unless it names its zone.
    """

    async def work() -> None:
        async with open_system(ctx) as system:
            exporter = system.actions.exporter
            if dataset is None:
                _list(list(exporter.datasets.values()), as_json=json)
                return
            started = await exporter.start(
                dataset, form, parse_filters(where or []), actor(), after=after, gzip=gzip, as_of=moment_of(as_of)
            )
            if output is None:
                await stream(started.pieces, sys.stdout.buffer)
                return
            with output.open("wb") as file:
                await stream(started.pieces, file)

    run(work())


def moment_of(given: datetime | None) -> datetime | None:
    """Return a moment that a person wrote; one without a zone is meant in UTC."""
    return given.replace(tzinfo=UTC) if given is not None and given.tzinfo is None else given


def parse_filters(written: Sequence[str]) -> dict[str, str]:
    """Return `NAME=VALUE` as names and values."""
    found = {}
    for each in written:
        name, equals, value = each.partition("=")
        if not equals:
            msg = f"write a filter as NAME=VALUE, not {each!r}"
            raise Mistake(msg)
        found[name] = value
    return found


def _list(datasets: Sequence[ExportDataset], *, as_json: bool) -> None:
    rows = [(one.name, ", ".join(one.formats), ", ".join(one.filter_names), one.about) for one in datasets]
    if as_json:
        names = ("name", "formats", "filters", "about")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    print_table(counted(len(rows), "dataset"), ["name", "formats", "filters (--where)", "about"], rows)


async def stream(pieces: AsyncIterator[bytes], file: BinaryIO) -> None:
    """Write piece by piece, with a counter on a screen."""
    columns = (TextColumn("exported"), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress:
        counting = progress.add_task("export", total=None)
        async for piece in pieces:
            file.write(piece)
            progress.advance(counting, len(piece))
    file.flush()
