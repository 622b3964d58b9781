"""`tidemill crawl`."""

import asyncio
import sys
from contextlib import suppress
from typing import Annotated

import msgspec
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tidemill.bootstrap.page_readers.replays import GATE_TICK
from tidemill.bootstrap.system import System
from tidemill.cli.crawling import Crawl, crawl_exit_code, watch_progress
from tidemill.cli.signals import Stopper
from tidemill.cli.system_opening import open_system
from tidemill.core.failure import Failure
from tidemill.core.views import RunDetail
from tidemill.engine.periodic import run_safely
from tidemill.operations.mistakes import Mistake
from tidemill.operations.runs import Started
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import console, id_text, print_json, print_line, print_table

app = single_command()

HELD = "a change of reading is held at the gate, so pages were stored and not read; `tidemill replays list --waiting`"


class Crawled(msgspec.Struct, frozen=True):
    """What `crawl --json` prints."""

    exit_code: int
    started: list[Started]
    runs: list[RunDetail]
    notes: list[str]


@app.command()
def crawl(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="The source's name.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every source that is switched on.")] = False,
    json: AsJson = False,
) -> None:
    """Scrape a source now, to the end, and answer with an exit code.

    0 complete, 1 failure, 3 partial, 4 the pages came but held nothing and did not say so. The first Ctrl-C finishes
    what is in hand, the second stops at once.
    """
    if (source is None) != everything:
        msg = "name a source, or say --all"
        raise Mistake(msg)
    done = run(run_crawl(ctx, source))
    if json:
        print_json(done)
    else:
        show(done)
    raise typer.Exit(done.exit_code)


async def run_crawl(ctx: typer.Context, source: str | None) -> Crawled:
    """Enqueue the runs, drain to their end, and return how they went."""
    async with open_system(ctx) as system:
        first, *others = await chosen_sources(system, source)
        gate = await pass_gate(system)
        started = [await system.actions.runs.start_source(first, actor())]
        crawling = Crawl(system, started[0].run_ids)

        async def enqueue() -> None:
            for name in others:
                started.append(await system.actions.runs.start_source(name, actor()))
                crawling.add(started[-1].run_ids)

        if others:
            crawling.enqueue_beside(enqueue())
        if others or crawling.run_ids:
            await with_progress(system, crawling, crawling.run_ids)
        run_ids = crawling.run_ids
        notes = [*gate, *(note for each in started for note in each.notes)]
        if crawling.waits_until is not None:
            notes.append(f"jobs wait until {crawling.waits_until:%Y-%m-%d %H:%M} UTC; `tidemill up` goes on with them")
        found = [await system.store.views.run(run_id) for run_id in run_ids]
        runs = [detail for detail in found if detail is not None]
        if any(Failure.CHANGE_HELD in each.failures for each in runs):
            notes.append(HELD)
        return Crawled(crawl_exit_code(runs) if runs else FAILURE, started, runs, notes)


async def pass_gate(system: System) -> list[str]:
    """Let changed adapters and selectors go through the gate first, as `up` does each minute; return what went wrong.

    No slot of the tick is taken: who only crawls by hand is not told that ticks are overdue.
    """
    status, detail = await run_safely(system.ticks.chores[GATE_TICK].run)
    return [] if status == "ok" else [f"changes of reading could not be checked: {detail.strip().splitlines()[-1]}"]


async def chosen_sources(system: System, source: str | None) -> list[str]:
    """Return the names of the sources to crawl: the one given, or all that may run."""
    if source is not None:
        return [source]
    views = await system.store.views.sources(system.clock.now())
    chosen = [one.name for one in views if one.enabled and not one.auto_disabled and one.targets_on]
    if not chosen:
        msg = "no source is switched on and has targets; see `tidemill sources list`"
        raise Mistake(msg)
    return chosen


async def with_progress(system: System, crawling: Crawl, run_ids: list[int]) -> None:
    """Run the crawl under a progress bar; Ctrl-C works as everywhere."""
    columns = (TextColumn("scraping"), BarColumn(), MofNCompleteColumn(), TextColumn("jobs"), TimeElapsedColumn())
    err = console(stderr=True)
    with Progress(*columns, console=err, disable=not sys.stderr.isatty(), transient=True) as progress:
        bar = progress.add_task("jobs", total=None)
        watching = asyncio.create_task(
            watch_progress(system, run_ids, lambda ended, total: progress.update(bar, completed=ended, total=total))
        )
        try:
            with Stopper(crawling.stop) as stopper:
                await stopper.run_until_done(crawling.run())
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching


def show(done: Crawled) -> None:
    """Show the runs, and what a person should know."""
    rows = [
        (id_text(one.run.id), one.run.source_name, one.run.status, one.run.complete,
         f"{one.run.urls_succeeded}/{one.run.urls_attempted}", one.run.pages_unchanged, one.run.records_read,
         one.run.records_inserted, one.run.records_updated, one.run.records_seen_again, one.failures, one.run.doubts)
        for one in done.runs
    ]  # fmt: skip
    columns = ["run", "source", "status", "complete", "pages", "unchanged", "read", "new", "changed", "seen again",
               "failures", "doubts"]  # fmt: skip
    if rows:
        print_table("", columns, rows, right=["run", "pages", "unchanged", "read", "new", "changed", "seen again"])
    for each in done.started:
        if each.rejected:
            print_line(f"{counted(each.rejected, 'target was', 'targets were')} turned away: {each.reason}")
    for note in done.notes:
        print_line(f"note: {note}")
