"""`tidemill sources`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tidemill.bootstrap.plugins import DEFAULT_ADAPTER, DEFAULT_VERTICAL
from tidemill.cli.import_report import report_import
from tidemill.cli.system_opening import open_system, with_read_side, with_system
from tidemill.core.views import SourceDetail
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, DryRun, Prune, Reason, Yes, command_group
from tidemill.terminal.run_report import report_started
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table

app = command_group("List, import, add, switch, run and remove sources.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The source's name or number.")]


@app.command("list")
def list_sources(
    ctx: typer.Context,
    vertical: Annotated[str | None, typer.Option(help="Only of this vertical.")] = None,
    *,
    json: AsJson = False,
) -> None:
    """List sources: how each stands, and why."""
    found = run(with_read_side(ctx, lambda side: side.views.sources(side.clock.now(), vertical=vertical)))
    if json:
        print_json(found)
        return
    columns = [
        "name",
        "vertical",
        "stands",
        "breaker",
        "targets",
        "last success",
        "reliability",
        "records",
        "why",
    ]
    rows = [
        (one.name, one.vertical, one.standing, one.circuit_state, f"{one.targets_on}/{one.targets}",
         one.last_success_at, one.reliability if one.standing == "well" else None, one.records, one.standing_reason)
        for one in found
    ]  # fmt: skip
    print_table(counted(len(found), "source"), columns, rows, right=["targets", "reliability", "records"])


@app.command("show")
def show_source(ctx: typer.Context, name: Name, *, json: AsJson = False) -> None:
    """Show one source with its breaker, hosts, jobs and last runs."""

    async def load_source() -> SourceDetail | None:
        async with open_system(ctx) as system:
            source = await system.actions.sources.find(name)
            return await system.store.views.source(source.id, system.clock.now())

    detail = run(load_source())
    if json or detail is None:
        print_json(detail)
        return
    view, source = detail.view, detail.source
    print_facts(
        f"Source {view.name}",
        {
            "number": id_text(view.id),
            "vertical": view.vertical,
            "address": view.base_url,
            "adapter": view.adapter_id,
            "stands": view.standing,
            "why": view.standing_reason,
            "breaker": view.circuit_state,
            "targets": f"{view.targets_on} of {view.targets} on",
            "place": f"{source.city} {source.time_zone} {source.language}",
            "terms approved by": source.tos_approved_by,
            "reliability": view.reliability,
            "records": view.records,
            "last scraped": view.last_scraped_at,
            "last success": view.last_success_at,
            "next due": detail.due_at,
            "jobs": detail.jobs,
            "dead letters": detail.letters,
            "hosts": [host.host for host in detail.hosts],
        },
    )
    rows = [(id_text(one.id), one.trigger, one.status, one.started_at, f"{one.urls_succeeded}/{one.urls_attempted}",
             one.records_accepted, one.complete) for one in detail.runs]  # fmt: skip
    print_table("Last runs", ["run", "trigger", "status", "started", "pages", "accepted", "complete"], rows)


@app.command("import")
def import_sources(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file with a list of sources.")],
    *,
    prune: Prune = False,
    dry_run: DryRun = False,
    json: AsJson = False,
) -> None:
    """Bring in sources from YAML; run it again after every change. Bad entries are named by line, good ones kept."""

    async def import_content() -> int:
        content = file.read_bytes()
        async with open_system(ctx, create=True) as system:
            importer = system.actions.importer
            done = await importer.sources_file(content, actor(), file.name, prune=prune, dry_run=dry_run)
            return report_import(done, as_json=json, dry_run=dry_run)

    raise typer.Exit(run(import_content()))


@app.command("add")
def add_source(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A short name, such as jazzclub.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="The site's address.")],
    vertical: Annotated[str, typer.Option(help="What kind of data it has.")] = DEFAULT_VERTICAL,
    adapter: Annotated[str, typer.Option(help="What reads its pages; see `tidemill list adapters`.")] = DEFAULT_ADAPTER,
    target: Annotated[list[str] | None, typer.Option("--target", metavar="URL", help="A page to scrape.")] = None,
    market_url: Annotated[
        str | None, typer.Option(help="Homes for rent: its search page, with {city_slug} and the like; covers markets.")
    ] = None,
    market: Annotated[
        list[str] | None,
        typer.Option("--market", metavar="ID", help="A market that it covers, or all; with --market-url."),
    ] = None,
    *,
    language: Annotated[str | None, typer.Option(help="The language that it is in, such as nl.")] = None,
    time_zone: Annotated[str | None, typer.Option(help="The clock that its times are on.")] = None,
    city: Annotated[str | None, typer.Option(help="Where it is at home.")] = None,
    pace: Annotated[float | None, typer.Option(metavar="SECONDS", help="Seconds between two requests.")] = None,
    browser: Annotated[bool, typer.Option("--browser", help="Its pages need JavaScript.")] = False,
    terms_approved_by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who approved its terms of service, today.")
    ] = None,
    schedule: Annotated[str | None, typer.Option(help="'every 6h', 'daily' or a cron line, for its targets.")] = None,
) -> None:
    """Add one source; --target may be given several times. Without one, the site's address is the page to scrape."""

    async def add() -> tuple[str, int]:
        async with open_system(ctx, create=True) as system:
            entry: dict[str, Any] = {"name": name, "vertical": vertical, "base_url": url, "adapter": adapter}
            if market_url is not None:
                named = {"markets": "all" if market == ["all"] else market} if market else {}
                entry["settings"] = {"market_url": market_url, **named}
            told = {"language": language, "time_zone": time_zone, "city": city}
            entry |= {field: value for field, value in told.items() if value is not None}
            entry |= {"pace": {"interval_seconds": pace}} if pace is not None else {}
            entry |= {"fetcher": "browser"} if browser else {}
            if terms_approved_by is not None:
                reviewed = system.clock.now().isoformat()
                entry["tos"] = {"reviewed_at": reviewed, "approved_by": terms_approved_by}
            source = await system.actions.sources.add(entry, actor())
            pages = target or ([] if market_url is not None else [url])
            options = {"schedule": schedule} if schedule else {}
            for page in pages:
                await system.actions.targets.add(source.name, page, actor(), options)
            return source.name, len(pages) + await system.actions.sources.create_template_targets(source)

    added, count = run(add())
    print_line(f"added source {added} with {counted(count, 'target')}")


@app.command("enable")
def enable_source(ctx: typer.Context, name: Name) -> None:
    """Switch a source on; what was held against it is forgiven."""
    done = run(with_system(ctx, lambda system: system.actions.sources.enable(name, actor())))
    print_line(f"source {done.name} is on")


@app.command("disable")
def disable_source(ctx: typer.Context, name: Name, reason: Reason = "") -> None:
    """Switch a source off: no request is made any more, not even for jobs that wait already."""
    done = run(with_system(ctx, lambda system: system.actions.sources.disable(name, actor(), reason)))
    print_line(f"source {done.name} is off")


@app.command("remove")
def remove_source(ctx: typer.Context, name: Name, *, yes: Yes = False) -> None:
    """Remove a source with its targets and runs; its pages and records stay."""
    if not yes:
        typer.confirm(f"Remove source {name} with its targets and runs?", abort=True)

    done = run(with_system(ctx, lambda system: system.actions.sources.remove(name, actor())))
    print_line(f"removed source {done.name}")


@app.command("run")
def run_source(ctx: typer.Context, name: Name, *, json: AsJson = False) -> None:
    """Enqueue a run now; running workers take it up. `tidemill crawl` does it here and waits."""
    started = run(with_system(ctx, lambda system: system.actions.runs.start_source(name, actor())))
    raise typer.Exit(report_started(started, as_json=json))


@app.command("upgrades")
def list_upgrades(
    ctx: typer.Context,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Those that were decided, too.")] = False,
    json: AsJson = False,
) -> None:
    """List sources for which another fetcher is suggested, because ours did not get their pages."""
    found = run(with_system(ctx, lambda system: system.actions.upgrades.every(everything=everything)))
    if json:
        print_json(found)
        return
    rows = [
        (one.source_name, one.fetcher, one.times, one.reason, one.status, one.last_at, one.decided_by) for one in found
    ]  # fmt: skip
    columns = ["source", "suggested", "pages", "because", "status", "last", "decided by"]
    print_table(counted(len(found), "suggested upgrade"), columns, rows, right=["pages"])


@app.command("accept-upgrade")
def accept_upgrade(ctx: typer.Context, name: Name) -> None:
    """Let a source be got by the suggested fetcher from now on."""
    done = run(with_system(ctx, lambda system: system.actions.upgrades.accept(name, actor())))
    print_line(f"source {done.source_name} is got by {done.fetcher} from now on")


@app.command("dismiss-upgrade")
def dismiss_upgrade(ctx: typer.Context, name: Name) -> None:
    """Leave a source as it is, and do not suggest the same again."""
    done = run(with_system(ctx, lambda system: system.actions.upgrades.dismiss(name, actor())))
    print_line(f"source {done.source_name} stays as it is")
