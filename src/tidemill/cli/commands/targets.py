"""`tidemill targets`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.reading import ReadSide
from tidemill.cli.import_report import report_import
from tidemill.cli.system_opening import open_system, with_read_side, with_system
from tidemill.core.target import TargetStatus
from tidemill.core.views import TargetFilter, TargetView
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.options import AsJson, DryRun, Limit, Prune, Reason, Source, Yes, command_group
from tidemill.terminal.run_report import report_started
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table

app = command_group("List, import, add, pause, run and remove targets.")
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

    async def load_targets(side: ReadSide) -> list[TargetView]:
        which = TargetFilter(source_id=await side.source_id(source), status=status, text=text)
        return await side.views.targets(which, after=after, limit=limit)

    found = run(with_read_side(ctx, load_targets))
    if json:
        print_json(found)
        return
    rows = [(id_text(one.id), one.source_name, one.url, one.status, one.enabled, one.last_status,
             one.consecutive_failures, one.schedule or "as its vertical", one.last_scraped_at,
             one.next_due_at) for one in found]  # fmt: skip
    columns = ["id", "source", "url", "status", "on", "last", "failures", "schedule", "scraped", "due"]
    print_table(counted(len(found), "target"), columns, rows, right=["id", "failures"])


@app.command("import")
def import_targets(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file with the columns source and url.")],
    *,
    prune: Prune = False,
    dry_run: DryRun = False,
    json: AsJson = False,
) -> None:
    """Bring in targets from CSV; run it again after every change. Bad rows are named by line, good ones kept."""

    async def import_content() -> int:
        content = file.read_bytes()
        async with open_system(ctx) as system:
            importer = system.actions.importer
            done = await importer.targets_file(content, actor(), file.name, prune=prune, dry_run=dry_run)
            return report_import(done, as_json=json, dry_run=dry_run)

    raise typer.Exit(run(import_content()))


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

    async def add() -> TargetView | None:
        async with open_system(ctx) as system:
            options = {"priority": priority} | ({"schedule": schedule} if schedule else {})
            target = await system.actions.targets.add(source, url, actor(), options)
            detail = await system.store.views.target(target.id, system.clock.now())
            return detail.view if detail else None

    added = run(add())
    print_line(f"added target {added.id if added else ''} {url}")


@app.command("feeds")
def read_feeds(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The source's name.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added, and add nothing.")] = False,
    json: AsJson = False,
) -> None:
    """Read what lists a source's pages (RSS, Atom, sitemaps) and add those that are new.

    Its feeds stand in its setting `feeds`; the tick `feeds` reads them every six hours. 0 all were read, 3 some,
    1 none.
    """
    done = run(with_system(ctx, lambda system: system.actions.feeds.refresh(source, actor(), dry_run=dry_run)))
    if json:
        print_json(done)
    else:
        rows = [(one.url, one.form, len(one.pages), one.trouble) for one in done.feeds]
        print_table("Feeds", ["feed", "what it is", "pages", "trouble"], rows, right=["pages"])
        added = "would be added" if dry_run else "added"
        print_line(f"{done.added} {added}, {done.known} known before, {done.refused} refused")
        for refusal in done.refusals:
            print_line(f"refused: {refusal}")
    read = sum(1 for one in done.feeds if one.form)
    raise typer.Exit(0 if read == len(done.feeds) else PARTIAL if read else FAILURE)


@app.command("schedule")
def schedule_target(
    ctx: typer.Context,
    which: Which,
    schedule: Annotated[
        str, typer.Argument(metavar="SCHEDULE", help="'every 6h', 'daily', a cron line, or 'default'.")
    ],
) -> None:
    """Scrape a target on another schedule from now on; 'default' is its vertical's own."""
    wanted = None if schedule == "default" else schedule
    done = run(with_system(ctx, lambda system: system.actions.targets.reschedule(which, wanted, actor())))
    print_line(f"target {done.id} is scraped {done.schedule or 'as its vertical says'}")


@app.command("pause")
def pause_target(ctx: typer.Context, which: Which, reason: Reason = "") -> None:
    """Leave a target alone until it is resumed."""
    done = run(with_system(ctx, lambda system: system.actions.targets.pause(which, actor(), reason)))
    print_line(f"target {done.id} is paused")


@app.command("resume")
def resume_target(ctx: typer.Context, which: Which) -> None:
    """Take a paused or broken target up again, at once."""
    done = run(with_system(ctx, lambda system: system.actions.targets.resume(which, actor())))
    print_line(f"target {done.id} is active")


@app.command("remove")
def remove_target(ctx: typer.Context, which: Which, *, yes: Yes = False) -> None:
    """Remove a target; its pages and records stay."""
    if not yes:
        typer.confirm(f"Remove target {which}?", abort=True)

    done = run(with_system(ctx, lambda system: system.actions.targets.remove(which, actor())))
    print_line(f"removed target {done.id}")


@app.command("run")
def run_target(ctx: typer.Context, which: Which, *, json: AsJson = False) -> None:
    """Enqueue a job for a target now; running workers take it up."""
    started = run(with_system(ctx, lambda system: system.actions.runs.start_target(which, actor())))
    raise typer.Exit(report_started(started, as_json=json))
