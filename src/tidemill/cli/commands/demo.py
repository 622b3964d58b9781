"""`tidemill demo`."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live

from tidemill.bootstrap.migrations import upgrade
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import Telemetry, serving
from tidemill.cli.demo_discovery import SITES, discover_and_review, standins
from tidemill.cli.demo_homes import housing, scraped_over_and_over
from tidemill.cli.demo_lab import LabTerms, lab, lively
from tidemill.cli.scoreboard import Scoreboard
from tidemill.cli.stopping import Stopper
from tidemill.cli.summary import discrepancies, summary
from tidemill.core.views import SourceView, Totals
from tidemill.core.views.totals import RecordTotal
from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings, load_settings
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single
from tidemill.terminal.session import run
from tidemill.terminal.showing import console, emit
from tidemill.web.listening import CannotListen

app = single()

SHOPS = 3
"""One of each make: WooCommerce, Magento, and one with nothing but schema.org's data."""
USUAL_SECONDS = 60.0
"""How long a demo for machines runs unless it is told."""
ROUND = 300.0
"""Seconds of the timetable of faults when nobody said how long."""
TICKS = {
    "dispatch": "every 5s", "enrich": "every 5s", "close_runs": "every 10s", "proof": "every 1m",
    "freshness": "every 10s",
}  # fmt: skip
SCHEDULE = "adaptive 10s-10s"
"""Every ten seconds to the dot: other schedules are spread over a minute, which a demo has no time for."""
FRAME = timedelta(milliseconds=200)
TIMEOUT_SECONDS = 4.0
DRAIN_SECONDS = 15.0


class DemoStage(StrEnum):
    """What the demo begins with: agendas that it is told of, agendas that it must find, or homes for rent."""

    AGENDAS = "agendas"
    DISCOVERY = "discovery"
    HOMES = "homes"


@app.command()
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
    discover: Annotated[
        bool, typer.Option("--discover", help="Know no site; search 12 municipalities for agendas first.")
    ] = False,
    shops: Annotated[bool, typer.Option("--shops", help="Three shops beside the agendas, whose prices move.")] = False,
    homes: Annotated[
        bool, typer.Option("--homes", help="Homes for rent in 19 cities instead: two weeks in five minutes.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Watch Tidemill scrape a small web of misbehaving sites on this machine.

    Nothing leaves the machine: the sites are served here, with 403s, time-outs, broken pages and redesigns on a
    timetable. The first Ctrl-C finishes what is in hand and shows a summary, the second stops at once.
    """
    if discover and homes:
        msg = "--discover searches for agendas, and --homes has none: choose one"
        raise typer.BadParameter(msg)
    if shops and (discover or homes):
        msg = "--shops come beside known agendas: leave out --discover and --homes"
        raise typer.BadParameter(msg)
    stage = DemoStage.HOMES if homes else DemoStage.DISCOVERY if discover else DemoStage.AGENDAS
    seconds = seconds or (USUAL_SECONDS if json else None)
    kinds = faults or ("none" if discover else "all")
    count = max(sites, SITES) if discover else sites
    lasts = ROUND if homes else seconds or ROUND
    terms = LabTerms(seed=seed, sites=count, faults=kinds, seconds=lasts, interval=0.5, shops=SHOPS if shops else 0)
    raise typer.Exit(run(play(stage, terms, seconds, keep, port, as_json=json)))


async def play(
    stage: DemoStage, terms: LabTerms, seconds: float | None, keep: Path | None, port: int, *, as_json: bool
) -> int:
    """Serve the world, scrape it, and tell how that went."""
    telemetry = Telemetry(lambda words, error: console(stderr=True).print(f"{words}: {error!r}"))
    with place(keep) as folder:
        async with set_up(stage, terms) as (entries, asking), built(folder, telemetry, asking) as system:
            await bring_in(system, stage, entries)
            again = scraped_over_and_over(system) if stage is DemoStage.HOMES else nullcontext()
            async with portal(system, telemetry, port) as address, again:
                began = system.clock.now()
                await show_or_wait(system, telemetry, seconds, address, as_json=as_json)
                took = (system.clock.now() - began).total_seconds()
            totals, kinds = await system.store.views.counts(), system.store.views.totals.records
            sources = await system.store.views.sources(system.clock.now())
    return tell(totals, kinds, sources, took, str(keep or ""), as_json=as_json)


@asynccontextmanager
async def set_up(stage: DemoStage, terms: LabTerms) -> AsyncIterator[tuple[list[dict[str, Any]], Mapping[str, Any]]]:
    """Serve what the demo is to scrape; answers its sources, and settings that tell whom else it may ask."""
    if stage is DemoStage.HOMES:
        async with housing(terms) as market:
            yield market
        return
    async with lab(terms) as entries, standins(entries, serve=stage is DemoStage.DISCOVERY) as asking:
        yield lively(entries, SCHEDULE, TIMEOUT_SECONDS), asking


async def bring_in(system: System, stage: DemoStage, entries: list[dict[str, Any]]) -> None:
    """Make the lab's sites sources: told of them, or by finding them."""
    if stage is not DemoStage.DISCOVERY:
        await system.actions.importer.source_entries(entries, "demo")
        return
    found = await discover_and_review(system, entries)
    console(stderr=True).print(
        f"Searched {found.municipalities} municipalities with {found.questions} questions: {found.candidates} "
        f"candidates, of which {found.approved} were approved and switched on"
    )


def tell(
    totals: Totals,
    kinds: Sequence[RecordTotal],
    sources: list[SourceView],
    took: float,
    kept_in: str,
    *,
    as_json: bool,
) -> int:
    """The summary; numbers that do not add up are a failure."""
    if as_json:
        emit(totals)
    else:
        console().print(summary(totals, kinds, sources, took, kept_in))
    return FAILURE if discrepancies(totals, kinds) else 0


def place(keep: Path | None) -> tempfile.TemporaryDirectory[str] | nullcontext[str]:
    """Where the demo's database is: thrown away unless it is to be kept."""
    if keep is None:
        return tempfile.TemporaryDirectory(prefix="tidemill-demo-")
    if keep.exists() and any(keep.iterdir()):
        msg = f"{keep} is not empty; name a new folder for the demo"
        raise Mistake(msg)
    keep.mkdir(parents=True, exist_ok=True)
    return nullcontext(str(keep))


@asynccontextmanager
async def built(folder: str, telemetry: Telemetry, asking: Mapping[str, Any]) -> AsyncIterator[System]:
    """A system of its own, that may ask this machine and nothing else; `asking` tells whom it may ask for more."""
    system = build(settings_in(folder, asking), announce=telemetry.listeners)
    try:
        await upgrade(system.store.database)
        yield system
    finally:
        await system.close()


def settings_in(folder: str, asking: Mapping[str, Any]) -> Settings:
    """Settings for a demo: quick rhythms, and loopback allowed."""
    file = Path(folder).absolute() / "tidemill.db"
    allowed = ["127.0.0.0/8", "::1/128"]
    return load_settings(database=f"sqlite:///{file}", allow_networks=allowed, ticks=TICKS, **asking)


@asynccontextmanager
async def portal(system: System, telemetry: Telemetry, port: int) -> AsyncIterator[str]:
    """The web app; a demo goes on without it when its port is taken."""
    try:
        async with serving(system, telemetry, "127.0.0.1", port) as address:
            yield address
    except CannotListen as trouble:
        raise Mistake(str(trouble)) from trouble


async def show_or_wait(
    system: System, telemetry: Telemetry, seconds: float | None, address: str, *, as_json: bool
) -> None:
    """Run until the time is up or somebody says stop, with a live picture for a person."""
    names = {source.id: source.name for source in await system.store.views.sources(system.clock.now())}
    began = system.clock.now()
    board = Scoreboard(names, began)
    telemetry.listeners.add(board.listen)
    until = None if seconds is None else began + timedelta(seconds=seconds)
    err = console(stderr=True)
    live = Live(console=err, auto_refresh=False, transient=True) if err.is_terminal and not as_json else None
    with live or nullcontext(), Stopper(system.supervisor.stop, bound_seconds=DRAIN_SECONDS) as stopper:
        if live is None and not as_json:
            err.print(f"Scraping {len(names)} sites; look on at {address} (Ctrl-C finishes and ends)")
        drawing = asyncio.create_task(draw(system, board, live, address, until))
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, stopper.stop)
        try:
            await stopper.until_done(system.supervisor.run())
        finally:
            drawing.cancel()
            with suppress(asyncio.CancelledError):
                await drawing


async def draw(system: System, board: Scoreboard, live: Live | None, address: str, until: datetime | None) -> None:
    """Draw the board a few times a second."""
    while live is not None:
        now = system.clock.now()
        live.update(board.draw(now, address, None if until is None else until - now), refresh=True)
        await system.clock.sleep_until(now + FRAME)
