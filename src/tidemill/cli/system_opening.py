"""Open the system for a command."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import typer

from tidemill.bootstrap.reading import ReadSide, open_read_side
from tidemill.operations.mistakes import Mistake
from tidemill.settings import Settings, load_settings
from tidemill.terminal.global_options import GlobalOptions

if TYPE_CHECKING:  # the whole system takes a second to load, and a list does not need it
    from tidemill.bootstrap.listeners import Listeners
    from tidemill.bootstrap.system import System

Result = TypeVar("Result")

SCHEMES = ("sqlite", "postgresql", "postgres")
TRY_DEMO = "`tidemill migrate` makes it, `tidemill up` makes it and starts"


def settings_of(context: typer.Context, **overrides: Any) -> Settings:
    """Return the settings that this command works with."""
    options: GlobalOptions = context.obj or GlobalOptions()
    if options.database is not None:
        overrides["database"] = checked_database_url(options.database)
    settings = load_settings(options.settings, **overrides)
    checked_database_url(settings.database.get_secret_value())
    return settings


def checked_database_url(url: str) -> str:
    """Return the database's address; raise Mistake if it is not one that we know, without its password."""
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
async def open_system(
    context: typer.Context,
    *,
    create: bool = False,
    announce: "Listeners | None" = None,
    ready: "Callable[[System], Awaitable[None]] | None" = None,
    has_chores: bool = True,
    **overrides: Any,
) -> "AsyncIterator[System]":
    """Open the system with its tables checked; `create` makes them in an empty database, else one must exist.

    `ready` is awaited before anything is asked of the database.
    """
    from tidemill.bootstrap.migrations import require_current, upgrade  # noqa: PLC0415 - see above
    from tidemill.bootstrap.system import build  # noqa: PLC0415
    from tidemill.store.database.migrate import current  # noqa: PLC0415

    settings = settings_of(context, **overrides)
    if not create:
        refuse_if_absent(settings)
    system = build(settings, announce=announce, has_chores=has_chores)
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
    """Raise Mistake if the database file does not exist: reading must not create one."""
    url = settings.database.get_secret_value()
    file = url.partition(":///")[2].partition("?")[0].removeprefix("file:")
    if url.startswith("sqlite") and file and file != ":memory:" and not Path(file).exists():
        msg = f"there is no database {file} yet; {TRY_DEMO}"
        raise Mistake(msg)


async def with_system(context: typer.Context, action: "Callable[[System], Awaitable[Result]]") -> Result:
    """Open the system, await the action on it, and return its result."""
    async with open_system(context) as system:
        return await action(system)


async def with_read_side(context: typer.Context, look: Callable[[ReadSide], Awaitable[Result]]) -> Result:
    """Open the database to look at, await what is asked of it, and return the answer."""
    settings = settings_of(context)
    refuse_if_absent(settings)
    async with open_read_side(settings) as opened:
        return await look(opened)
