"""`tidemill up`."""

from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from typing import Annotated

import typer

from tidemill.bootstrap.cluster.database_wait import wait_for_database
from tidemill.bootstrap.run_ends import following_run_ends
from tidemill.bootstrap.system import System
from tidemill.bootstrap.web import Telemetry, serve_web
from tidemill.cli.signals import Stopper
from tidemill.cli.system_opening import open_system, settings_of
from tidemill.settings import Settings
from tidemill.store.database.migrate import current
from tidemill.telemetry.logs import log_listener, make_logger
from tidemill.terminal.options import single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import console

app = single_command()


@app.command()
def up(
    ctx: typer.Context,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="Port of the web app; 0 picks a free one.")
    ] = None,
    *,
    web: Annotated[bool, typer.Option("--web/--no-web", help="Whether to serve the web app.")] = True,
) -> None:
    """Run everything in one process: schedule, workers and web app.

    The first Ctrl-C finishes what is in hand and ends, the second ends at once; nothing is lost either way.
    """
    settings = settings_of(ctx, **({} if port is None else {"web_port": port}))
    run(run_until_stopped(ctx, settings, web=web))


async def run_until_stopped(ctx: typer.Context, settings: Settings, *, web: bool) -> None:
    """Run the system, and the web app if wanted, until a person stops it."""
    logger = make_logger(settings.log_level, settings.log_format)
    telemetry = Telemetry(
        lambda words, error: logger.error(words, error=str(error)), log_listener(logger, settings.log_level)
    )
    async with open_system(ctx, create=True, announce=telemetry.listeners, ready=wait_until_available) as system:
        portal = serve_web(system, telemetry, settings.web_host, settings.web_port) if web else nullcontext("")
        async with portal as address:
            if address:
                await tell_first_link(system, address)
            await supervise(system, address)


async def tell_first_link(system: System, address: str) -> None:
    """While nobody can sign in, print the link that makes the first admin; it works once, for 15 minutes."""
    people = system.actions.people
    if await people.is_empty():
        secret = await people.first_link("tidemill up")
        words = f"Nobody can sign in yet; make the first admin at {address}/welcome?link={secret} (within 15 minutes)"
        console(stderr=True).print(words, soft_wrap=True, markup=False)


async def wait_until_available(system: System) -> None:
    """Wait for a PostgreSQL that is away; whoever worked on it before gets the time to be seen again."""
    database = system.store.database
    longest = timedelta(seconds=0 if database.is_sqlite else system.settings.database_wait_seconds)
    say = partial(console(stderr=True).print, soft_wrap=True, markup=False)
    if await wait_for_database(lambda: current(database), longest, system.clock, say):
        system.worker.spare_others()


async def supervise(system: System, address: str) -> None:
    """Run the supervisor, and tell a person where to look and how to stop."""
    err = console(stderr=True)
    where = f"Tidemill is up; see {address}" if address else "Tidemill is up"

    def finish() -> None:
        err.print("Finishing what is in hand; Ctrl-C again stops at once.")
        system.supervisor.stop()

    with Stopper(finish) as stopper:
        err.print(f"{where}  (Ctrl-C finishes and ends)")
        async with following_run_ends(system.announce, system.clock, system.parts.values()):
            await stopper.run_until_done(system.supervisor.run())
    err.print("Stopped; everything is kept.")
