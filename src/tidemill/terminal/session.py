"""What a command needs to run: the system it opens, the event loop, and the name of the user."""

import asyncio
import getpass
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import typer

from tidemill.engine.interpreter import tune_interpreter
from tidemill.plugin import RunningSystem
from tidemill.terminal.global_options import GlobalOptions

Result = TypeVar("Result")


@asynccontextmanager
async def open_system(context: typer.Context) -> AsyncIterator[RunningSystem]:
    """Open the system that this command is for; its database must exist and its tables be current."""
    options: GlobalOptions = context.obj
    if options.open_system is None:
        msg = "this command was not started by `tidemill`, which knows how to open the system"
        raise RuntimeError(msg)
    async with options.open_system(context) as system:
        yield system


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's coroutine, on uvloop where it is installed."""
    tune_interpreter()
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return asyncio.run(coroutine)
    return uvloop.run(coroutine)


def actor() -> str:
    """Return the user's name for the audit log."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a process without a user's name, as in some containers
        return "cli"
