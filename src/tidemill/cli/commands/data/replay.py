"""`tidemill replay`."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tidemill.bootstrap.system import System
from tidemill.cli.replay_report import show_replay
from tidemill.cli.system_opening import with_system
from tidemill.core.replay.gate import proves_nothing
from tidemill.core.replay.views import ReplayWithReport
from tidemill.engine.readers.reader import be_nice
from tidemill.operations.mistakes import Mistake
from tidemill.operations.replay.requests import ReplayRequest
from tidemill.terminal.exit_codes import EMPTY
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import console

NICE_STEPS = 5

app = single_command()


@app.command()
def replay(
    ctx: typer.Context,
    *,
    source: Annotated[str, typer.Option(metavar="NAME", help="Pages of this source.")] = "",
    adapter: Annotated[str, typer.Option(metavar="ID", help="Pages that this adapter reads.")] = "",
    vertical: Annotated[str, typer.Option(metavar="V", help="Pages of this kind of data.")] = "",
    since: Annotated[str, typer.Option(metavar="AGE", help="Only pages that are younger: 12h, 30d, 4w.")] = "",
    pages: Annotated[int, typer.Option(metavar="N", help="The newest so many pages.")] = 5_000,
    with_: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="WHAT",
            help="Selectors (a .yaml file), or an adapter: package:Adapter, poet:…, scrapy:…",
        ),
    ] = "",
    with_version: Annotated[str, typer.Option(metavar="X", help="Another version that the adapter brings.")] = "",
    resume: Annotated[int | None, typer.Option(metavar="NUMBER", help="Go on with a replay that ended early.")] = None,
    apply: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Bring an accepted replay into the records.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as a page.")] = None,
    json: AsJson = False,
) -> None:
    """Read stored pages again, each at its own moment, and report what would differ."""
    request = ReplayRequest(
        source=source, adapter=adapter, vertical=vertical, since=since, pages=pages, with_=with_,
        with_version=with_version,
    )  # fmt: skip
    if resume is not None and apply is not None:
        msg = "name one of --resume and --apply"
        raise Mistake(msg)
    be_nice(NICE_STEPS)
    shown = run(with_system(ctx, lambda system: _done(system, request, resume, apply)))
    show_replay(shown, as_json=json, html=html)
    if shown.report is not None and proves_nothing(shown.report):
        raise typer.Exit(EMPTY)


async def _done(system: System, request: ReplayRequest, resume: int | None, apply: int | None) -> ReplayWithReport:
    actions = system.actions.replays
    if apply is not None:
        await actions.apply(apply, actor())
        return await actions.show(apply)
    number = resume if resume is not None else (await actions.start(request, actor())).id
    columns = (TextColumn("replay {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    err = console(stderr=True)
    with Progress(*columns, console=err, disable=not sys.stderr.isatty(), transient=True) as progress:
        bar = progress.add_task(str(number), total=None)
        return await actions.run(number, lambda done, total: progress.update(bar, completed=done, total=total))
