"""`tidemill demo`."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live

from tidemill.bootstrap.labs import DEMO_OPTIONS
from tidemill.bootstrap.migrations import upgrade
from tidemill.bootstrap.run_ends import following_run_ends
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import Telemetry, serve_web
from tidemill.cli.demo_lab import lab_server, with_demo_schedule
from tidemill.cli.scoreboard import Scoreboard
from tidemill.cli.signals import Stopper
from tidemill.cli.summary import discrepancies, summary
from tidemill.core.views import SourceView, Totals
from tidemill.core.views.totals import RecordTotal
from tidemill.lab.demo import DemoOption, DemoTerms, Entry, ServedSites
from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings, load_settings
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command, with_switches
from tidemill.terminal.session import run
from tidemill.terminal.showing import console, print_json
from tidemill.web.listening import CannotListen

app = single_command()

DEFAULT_SECONDS = 60.0
"""How long a demo with --json runs by default."""
FAULT_ROUND_SECONDS = 300.0
"""Length of the timetable of faults when the demo has no set end."""
TICKS = {
    "dispatch": "every 5s", "enrich": "every 5s", "close_runs": "every 10s", "proof": "every 1m",
    "freshness": "every 10s",
}  # fmt: skip
SCHEDULE = "adaptive 10s-10s"
"""Every ten seconds exactly: other schedules are spread over a minute, which is too long for a demo."""
FRAME_INTERVAL = timedelta(milliseconds=200)
TIMEOUT_SECONDS = 4.0
DRAIN_SECONDS = 15.0


def demo(
    seconds: Annotated[
        float | None, typer.Option(min=1, help="End after so many seconds; else Ctrl-C ends it.")
    ] = None,
    sites: Annotated[int, typer.Option(min=1, max=500, help="How many sites there are.")] = 12,
    seed: Annotated[int, typer.Option(help="Which world: the same number gives the same sites and faults.")] = 7,
    faults: Annotated[
        str | None, typer.Option(help="all, none, or kinds separated by commas; all unless --discover.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep the database in this new folder.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port of the web app; 0 picks a free one.")] = 0,
    *,
    json: AsJson = False,
    **chosen: bool,
) -> None:
    """Watch Tidemill scrape a small web of misbehaving sites on this machine.

    Nothing leaves the machine: the sites are served here, with 403s, time-outs, broken pages and redesigns on a
    timetable. The first Ctrl-C finishes what is in hand and shows a summary, the second stops at once.
    """
    options = [option for option in DEMO_OPTIONS if chosen[option.name]]
    refuse_conflicts(options)
    seconds = seconds or (DEFAULT_SECONDS if json else None)
    terms = DemoTerms(
        seed=seed, counts={"sites": sites}, faults=faults, seconds=seconds or FAULT_ROUND_SECONDS, interval=0.5
    )
    for option in options:
        terms = option.change_terms(terms)
    raise typer.Exit(run(run_demo(options, terms, seconds, keep, port, as_json=json)))


app.command()(with_switches(demo, {option.name: option.help for option in DEMO_OPTIONS}))


def refuse_conflicts(options: Sequence[DemoOption]) -> None:
    """Raise BadParameter for options that do not go together."""
    names = {option.name for option in options}
    for option in options:
        for other, why in option.conflicts.items():
            if other in names:
                raise typer.BadParameter(why)


async def run_demo(
    options: Sequence[DemoOption],
    terms: DemoTerms,
    seconds: float | None,
    keep: Path | None,
    port: int,
    *,
    as_json: bool,
) -> int:
    """Serve the sites, scrape them, show how that went, and return the exit code."""
    telemetry = Telemetry(lambda words, error: console(stderr=True).print(f"{words}: {error!r}"))
    with demo_folder(keep) as folder:
        async with (
            serve_sites(options, terms) as served,
            build_demo_system(folder, telemetry, served.settings) as system,
        ):
            await import_sources(system, options, served.sources)
            async with serve_portal(system, telemetry, port) as address, run_options(system, options):
                began = system.clock.now()
                await run_with_scoreboard(system, telemetry, seconds, address, as_json=as_json)
                took = (system.clock.now() - began).total_seconds()
            totals, kinds = await system.store.views.counts(), system.store.views.totals.records
            sources = await system.store.views.sources(system.clock.now())
    return show_summary(totals, kinds, sources, took, str(keep or ""), as_json=as_json)


@asynccontextmanager
async def serve_sites(options: Sequence[DemoOption], terms: DemoTerms) -> AsyncIterator[ServedSites]:
    """Serve what the demo scrapes, and the services that it may ask."""
    own = next((option.serve for option in options if option.serve is not None), None)
    async with AsyncExitStack() as stack:
        if own is not None:
            yield await stack.enter_async_context(own(terms))
            return
        served = await stack.enter_async_context(lab_server(terms))
        settings: dict[str, Any] = {}
        for option in options:
            if option.serve_beside is not None:
                settings |= await stack.enter_async_context(option.serve_beside(served.sources))
        yield ServedSites(
            with_demo_schedule(prepared_sources(options, served.sources), SCHEDULE, TIMEOUT_SECONDS), settings
        )


def prepared_sources(options: Sequence[DemoOption], sources: list[Entry]) -> list[Entry]:
    """Return the sources as the options want them."""
    for option in options:
        sources = [option.prepare_source(source) for source in sources]
    return sources


@asynccontextmanager
async def run_options(system: System, options: Sequence[DemoOption]) -> AsyncIterator[None]:
    """Run what the options do while the demo runs."""
    async with AsyncExitStack() as stack:
        for option in options:
            if option.while_running is not None:
                await stack.enter_async_context(option.while_running(system))
        yield


async def import_sources(system: System, options: Sequence[DemoOption], entries: list[Entry]) -> None:
    """Import the lab's sites as sources, or add them in an option's own way."""
    own = next((option.bring_in for option in options if option.bring_in is not None), None)
    if own is None:
        await system.actions.importer.source_entries(entries, "demo")
    else:
        console(stderr=True).print(await own(system, entries))


def show_summary(
    totals: Totals,
    kinds: Sequence[RecordTotal],
    sources: list[SourceView],
    took: float,
    kept_in: str,
    *,
    as_json: bool,
) -> int:
    """Show the summary and return the exit code; numbers that do not add up are a failure."""
    if as_json:
        print_json(totals)
    else:
        console().print(summary(totals, kinds, sources, took, kept_in))
    return FAILURE if discrepancies(totals, kinds) else 0


def demo_folder(keep: Path | None) -> tempfile.TemporaryDirectory[str] | nullcontext[str]:
    """Return the folder of the demo's database: a temporary one unless it is to be kept."""
    if keep is None:
        return tempfile.TemporaryDirectory(prefix="tidemill-demo-")
    if keep.exists() and any(keep.iterdir()):
        msg = f"{keep} is not empty; name a new folder for the demo"
        raise Mistake(msg)
    keep.mkdir(parents=True, exist_ok=True)
    return nullcontext(str(keep))


@asynccontextmanager
async def build_demo_system(
    folder: str, telemetry: Telemetry, service_settings: Mapping[str, Any]
) -> AsyncIterator[System]:
    """Build a system that may reach this machine only; `service_settings` name the services it may ask."""
    system = build(demo_settings(folder, service_settings), announce=telemetry.listeners)
    try:
        await upgrade(system.store.database)
        yield system
    finally:
        await system.close()


def demo_settings(folder: str, service_settings: Mapping[str, Any]) -> Settings:
    """Return settings for a demo: short rhythms, and loopback allowed."""
    file = Path(folder).absolute() / "tidemill.db"
    allowed = ["127.0.0.0/8", "::1/128"]
    return load_settings(database=f"sqlite:///{file}", allow_networks=allowed, ticks=TICKS, **service_settings)


@asynccontextmanager
async def serve_portal(system: System, telemetry: Telemetry, port: int) -> AsyncIterator[str]:
    """Serve the web app; a port that is taken is a mistake."""
    try:
        async with serve_web(system, telemetry, "127.0.0.1", port) as address:
            yield address
    except CannotListen as trouble:
        raise Mistake(str(trouble)) from trouble


async def run_with_scoreboard(
    system: System, telemetry: Telemetry, seconds: float | None, address: str, *, as_json: bool
) -> None:
    """Run until the time is up or a person stops it, with a live scoreboard on a terminal."""
    names = {source.id: source.name for source in await system.store.views.sources(system.clock.now())}
    began = system.clock.now()
    board = Scoreboard(names, began)
    telemetry.listeners.add(board.listen)
    until = None if seconds is None else began + timedelta(seconds=seconds)
    err = console(stderr=True)
    live = Live(console=err, auto_refresh=False, transient=True) if err.is_terminal and not as_json else None
    with live or nullcontext(), Stopper(system.supervisor.stop, limit_seconds=DRAIN_SECONDS) as stopper:
        if live is None and not as_json:
            err.print(f"Scraping {len(names)} sites; look on at {address} (Ctrl-C finishes and ends)")
        drawing = asyncio.create_task(keep_drawing(system, board, live, address, until))
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, stopper.stop)
        try:
            async with following_run_ends(system.announce, system.clock, system.parts.values()):
                await stopper.run_until_done(system.supervisor.run())
        finally:
            drawing.cancel()
            with suppress(asyncio.CancelledError):
                await drawing


async def keep_drawing(
    system: System, board: Scoreboard, live: Live | None, address: str, until: datetime | None
) -> None:
    """Draw the scoreboard a few times a second."""
    while live is not None:
        now = system.clock.now()
        live.update(board.draw(now, address, None if until is None else until - now), refresh=True)
        await system.clock.sleep_until(now + FRAME_INTERVAL)
