"""A command at work: opens the system it is for, runs its coroutine, and knows who typed it."""

import asyncio
import getpass
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import typer

from tidemill.engine.interpreter import tune_interpreter
from tidemill.plugin import RunningSystem
from tidemill.terminal.global_options import GlobalOptions

Answer = TypeVar("Answer")


@asynccontextmanager
async def opened(context: typer.Context) -> AsyncIterator[RunningSystem]:
    """The system that this command is for; its database must be there and its tables current."""
    options: GlobalOptions = context.obj
    if options.open_system is None:
        msg = "this command was not started by `tidemill`, which knows how to open the system"
        raise RuntimeError(msg)
    async with options.open_system(context) as system:
        yield system


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a command's coroutine, on the fast loop where there is one."""
    tune_interpreter()
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


def actor() -> str:
    """Who the audit log says it was."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a process without a user's name, as in some containers
        return "cli"
