"""`tidemill targets`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.cli.importing import report_import
from tidemill.cli.opening import opened
from tidemill.core.target import TargetStatus
from tidemill.core.views import TargetFilter, TargetView
from tidemill.terminal.options import AsJson, Limit, Reason, Source, Yes, group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import emit, key, say, table
from tidemill.terminal.started import report_started

app = group("List, import, add, pause, run and remove targets.")
Which = Annotated[str, typer.Argument(metavar="ID|URL", help="The target's number or address.")]


@app.command("list")
def list_targets(
    ctx: typer.Context,
    source: Source = None,
    status: Annotated[TargetStatus | None, typer.Option(help="Only with this status.")] = None,
    text: Annotated[str | None, typer.Option(help="Only with this in their address.")] = None,
    after: Annotated[int, typer.Option(help="Go on after this number.")] = 0,
    limit: Limit = 100,
    *,
    json: AsJson = False,
) -> None:
    """List targets: when each is due and how its last scrape ended."""

    async def work() -> list[TargetView]:
        async with opened(ctx) as system:
            owner = (await system.actions.sources.find(source)).id if source else None
            which = TargetFilter(source_id=owner, status=status, text=text)
            return await system.store.views.targets(which, after=after, limit=limit)

    found = run(work())
    if json:
        emit(found)
        return
    rows = [(key(one.id), one.source_name, one.url, one.status, one.enabled, one.last_status, one.consecutive_failures,
             one.last_scraped_at, one.next_due_at) for one in found]  # fmt: skip
    columns = ["id", "source", "url", "status", "on", "last", "failures", "scraped", "due"]
    table(f"{len(found)} targets", columns, rows, right=["id", "failures"])


@app.command("import")
def import_targets(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file with the columns source and url.")],
    *,
    json: AsJson = False,
) -> None:
    """Bring in targets from CSV; run it again after every change. Bad rows are named by line, good ones kept."""

    async def work() -> int:
        content = file.read_bytes()
        async with opened(ctx) as system:
            return report_import(await system.actions.importer.targets_file(content, actor(), file.name), as_json=json)

    raise typer.Exit(run(work()))


@app.command("add")
def add_target(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The source's name.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="The page's address.")],
    schedule: Annotated[
        str | None, typer.Option(help="'every 6h' or a cron line; the vertical's own by default.")
    ] = None,
    priority: Annotated[int, typer.Option(help="Higher goes first.")] = 0,
) -> None:
    """Add a page to a source; it is due at once."""

    async def work() -> TargetView | None:
        async with opened(ctx) as system:
            options = {"priority": priority} | ({"schedule": schedule} if schedule else {})
            target = await system.actions.targets.add(source, url, actor(), options)
            detail = await system.store.views.target(target.id, system.clock.now())
            return detail.view if detail else None

    added = run(work())
    say(f"added target {added.id if added else ''} {url}")


@app.command("pause")
def pause_target(ctx: typer.Context, which: Which, reason: Reason = "") -> None:
    """Leave a target alone until it is resumed."""

    async def work() -> int:
        async with opened(ctx) as system:
            return (await system.actions.targets.pause(which, actor(), reason)).id

    say(f"target {run(work())} is paused")


@app.command("resume")
def resume_target(ctx: typer.Context, which: Which) -> None:
    """Take a paused or broken target up again, at once."""

    async def work() -> int:
        async with opened(ctx) as system:
            return (await system.actions.targets.resume(which, actor())).id

    say(f"target {run(work())} is active")


@app.command("remove")
def remove_target(ctx: typer.Context, which: Which, *, yes: Yes = False) -> None:
    """Remove a target; its pages and records stay."""
    if not yes:
        typer.confirm(f"Remove target {which}?", abort=True)

    async def work() -> int:
        async with opened(ctx) as system:
            return (await system.actions.targets.remove(which, actor())).id

    say(f"removed target {run(work())}")


@app.command("run")
def run_target(ctx: typer.Context, which: Which, *, json: AsJson = False) -> None:
    """Enqueue a job for a target now; running workers take it up."""

    async def work() -> int:
        async with opened(ctx) as system:
            return report_started(await system.actions.runs.start_target(which, actor()), as_json=json)

    raise typer.Exit(run(work()))
