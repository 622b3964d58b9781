"""What was said before the command's name: which settings and which database."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import typer

from tidemill.plugin import Part

if TYPE_CHECKING:  # `tidemill --help` imports this module, and not the pipeline with it
    from tidemill.pipeline.ports import Clock


class RunningSystem(Protocol):
    """As much of a running system as a vertical's command needs."""

    @property
    def clock(self) -> "Clock":
        """Its time."""
        ...

    def part(self, kind: type[Part]) -> Part:
        """What a vertical does in it, by the kind of its parts."""
        ...


OpenSystem = Callable[[typer.Context], AbstractAsyncContextManager[RunningSystem]]


class GlobalOptions(NamedTuple):
    """The options of `tidemill` itself, and how a command opens the system that they mean."""

    settings: Path | None = None
    database: str | None = None
    open_system: OpenSystem | None = None
