"""The options before the command's name: which settings and which database."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

import typer

from tidemill.plugin import RunningSystem

OpenSystem = Callable[[typer.Context], AbstractAsyncContextManager[RunningSystem]]


class GlobalOptions(NamedTuple):
    """The options of `tidemill` itself, and how a command opens the system that they mean."""

    settings: Path | None = None
    database: str | None = None
    open_system: OpenSystem | None = None
