"""`tidemill up`."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

import typer

from tidemill.bootstrap.cluster.clocks import refuse_wrong_clock
from tidemill.bootstrap.cluster.database_wait import wait_for_database
from tidemill.bootstrap.cluster.process_metrics import answering, process_telemetry
from tidemill.bootstrap.run_ends import following_run_ends
from tidemill.bootstrap.system import System
from tidemill.bootstrap.watching.traces import sending_traces
from tidemill.bootstrap.web import serve_web
from tidemill.cli.signals import Stopper
from tidemill.cli.system_opening import open_system, settings_of
from tidemill.settings import Settings
from tidemill.store.database.migrate import current
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
    role: Annotated[
        list[str] | None, typer.Option(metavar="ROLE", help="web, worker or ticks; several times for several.")
    ] = None,
    lane: Annotated[
        list[str] | None, typer.Option(metavar="LANE", help="http, browser or live: whose jobs a worker takes.")
    ] = None,
    *,
    web: Annotated[bool, typer.Option("--web/--no-web", help="Whether to serve the web app.")] = True,
) -> None:
    """Run everything in one process: schedule, workers and web app; or a part of it, as often as wanted.

    The first Ctrl-C finishes what is in hand and ends, the second ends at once; nothing is lost either way.
    """
    chosen = {"web_port": port, "roles": role, "lanes": lane}
    overrides = {name: value for name, value in chosen.items() if value not in (None, [])}
    settings = settings_of(ctx, **overrides)
    run(run_until_stopped(ctx, settings, overrides, web=web and "web" in settings.roles))


async def run_until_stopped(ctx: typer.Context, settings: Settings, overrides: Mapping[str, Any], *, web: bool) -> None:
    """Run the system, and the web app if wanted, until a person stops it."""
    telemetry = process_telemetry(settings)
    async with sending_traces(settings, telemetry), open_system(
        ctx, create=True, announce=telemetry.listeners, ready=wait_until_available,
        has_chores="ticks" in settings.roles, **overrides,
    ) as system:  # fmt: skip
        asked = serve_web(system, telemetry, settings.web_host, settings.web_port) if web else None
        async with asked or answering(settings, telemetry) as address:
            if web:
                await tell_first_link(system, address)
            await supervise(system, where_to_look(address, web=web))


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
    await refuse_wrong_clock(database, system.clock)


def where_to_look(address: str, *, web: bool) -> str:
    """Return where a person finds the web app, or Prometheus the numbers of a process without one."""
    if not address:
        return ""
    return f"; see {address}" if web else f"; metrics at {address}/metrics"


async def supervise(system: System, where: str) -> None:
    """Run the supervisor, and tell a person where to look and how to stop."""
    err = console(stderr=True)

    def finish() -> None:
        err.print("Finishing what is in hand; Ctrl-C again stops at once.")
        system.supervisor.stop()

    with Stopper(finish) as stopper:
        err.print(f"Tidemill is up{where}  (Ctrl-C finishes and ends)", soft_wrap=True)
        async with following_run_ends(system.announce, system.clock, system.parts.values()):
            await stopper.run_until_done(system.supervisor.run())
    err.print("Stopped; everything is kept.")
