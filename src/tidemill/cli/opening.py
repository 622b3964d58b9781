"""Opens the system for a command."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from tidemill.bootstrap.listeners import Listeners
from tidemill.bootstrap.migrations import require_current, upgrade
from tidemill.bootstrap.system import System, build
from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings, load_settings
from tidemill.store.database.migrate import current
from tidemill.terminal.global_options import GlobalOptions

SCHEMES = ("sqlite", "postgresql", "postgres")
TRY_DEMO = "`tidemill migrate` makes it, `tidemill up` makes it and starts"


def settings_of(context: typer.Context, **overrides: Any) -> Settings:
    """The settings that this command works with."""
    place: GlobalOptions = context.obj or GlobalOptions()
    if place.database is not None:
        overrides["database"] = readable(place.database)
    settings = load_settings(place.settings, **overrides)
    readable(settings.database.get_secret_value())
    return settings


def readable(url: str) -> str:
    """The database's address, if we know what to make of it; its password is not repeated."""
    scheme = url.partition("://")[0].partition("+")[0]
    try:
        parts = urlsplit(url)
        known = parts.scheme.partition("+")[0] in SCHEMES and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        known = False
    if not known or (scheme == "sqlite" and ":///" not in url):
        msg = "the database is written as sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"
        raise Mistake(msg)
    return url


@asynccontextmanager
async def opened(
    context: typer.Context,
    *,
    create: bool = False,
    announce: Listeners | None = None,
    ready: Callable[[System], Awaitable[None]] | None = None,
    **overrides: Any,
) -> AsyncIterator[System]:
    """The system, its tables checked; `create` makes them in an empty database, without it one must be there.

    `ready` is awaited before anything is asked of the database.
    """
    settings = settings_of(context, **overrides)
    if not create:
        refuse_if_absent(settings)
    system = build(settings, announce=announce)
    try:
        if ready is not None:
            await ready(system)
        if create and await current(system.store.database) is None:
            await upgrade(system.store.database)
        await require_current(system.store.database)
        yield system
    finally:
        await system.close()


def refuse_if_absent(settings: Settings) -> None:
    """Looking at a database must not make one."""
    url = settings.database.get_secret_value()
    file = url.partition(":///")[2].partition("?")[0].removeprefix("file:")
    if url.startswith("sqlite") and file and file != ":memory:" and not Path(file).exists():
        msg = f"there is no database {file} yet; {TRY_DEMO}"
        raise Mistake(msg)
