"""`tidemill export`."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from tidemill.terminal.options import single_command
from tidemill.terminal.session import actor, open_system, run
from tidemill.terminal.showing import console
from tidemill.verticals.events.export import Exporter, Format
from tidemill.verticals.events.parts import EventsParts
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.views import EventFilter

app = single_command()
DAY = ["%Y-%m-%d"]


@app.command()
def export(
    ctx: typer.Context,
    form: Annotated[Format, typer.Option("--format", "-f", help="JSON Lines or CSV.")] = Format.JSONL,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of to the screen.")] = None,
    source: Annotated[str | None, typer.Option(help="Only of this source.")] = None,
    category: Annotated[Category | None, typer.Option(help="Only of this category.")] = None,
    text: Annotated[str | None, typer.Option(help="Only with this in title or venue.")] = None,
    since: Annotated[datetime | None, typer.Option("--from", formats=DAY, help="From this day on (UTC).")] = None,
    until: Annotated[datetime | None, typer.Option("--to", formats=DAY, help="Before this day (UTC).")] = None,
    *,
    gone: Annotated[bool, typer.Option("--gone", help="Also those that are gone.")] = False,
) -> None:
    """Write events as JSON Lines or CSV, however many there are."""

    async def work() -> None:
        async with open_system(ctx) as system:
            which = EventFilter(
                text=text,
                category=category,
                source=source,
                date_from=since.replace(tzinfo=UTC) if since else None,
                date_to=until.replace(tzinfo=UTC) if until else None,
                include_gone=gone,
            )
            if output is None:
                await stream(system.part(EventsParts).exporter, which, form, sys.stdout.buffer)
                return
            with output.open("wb") as file:
                await stream(system.part(EventsParts).exporter, which, form, file)

    run(work())


async def stream(exporter: Exporter, which: EventFilter, form: Format, file: BinaryIO) -> None:
    """Write page by page, with a counter on a screen."""
    pieces = await exporter.start(which, form, actor())
    columns = (TextColumn("exported {task.completed:,.0f} events"), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as progress:
        counting = progress.add_task("export", total=None)
        async for piece in pieces:
            file.write(piece)
            progress.advance(counting, piece.count(b"\n"))
    file.flush()
