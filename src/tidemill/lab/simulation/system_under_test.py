"""What the lab asks of the system that it puts to the test; whoever starts a simulation passes a builder in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from tidemill.lab.simulation.worker_control import WorkerControl
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.ports import Clock, Dice, Transport


class SystemUnderTest(Protocol):
    """A whole system in one worker process."""

    async def prepare(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Make the tables and bring these sources in."""
        ...

    async def run(self) -> None:
        """Work until stopped, or until the task is cancelled."""
        ...

    def stop(self) -> None:
        """Finish what is in hand, then leave."""
        ...

    async def switch(self, source: str, *, on: bool) -> None:
        """Switch a source on or off, as a person would."""
        ...

    async def answer(self, address: str, as_of: datetime | None) -> list[dict[str, Any]]:
        """Return all that readers are answered when they ask for a list, as of a moment if one is given."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


@dataclass(frozen=True, slots=True)
class SimulatedEnvironment:
    """Everything that a simulated system must use in place of the real thing.

    `control.check` must be called before every transaction: it keeps a dead worker from the database. `vertical` is
    the one whose sites are simulated; the others have nothing to do.
    """

    folder: Path
    clock: Clock
    dice: Dice
    transport: Transport
    announce: Announce
    control: WorkerControl
    ticks: Mapping[str, str]
    lease: timedelta
    vertical: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        """The SQLite file that all workers share."""
        return self.folder / "simulation.db"


Build = Callable[[SimulatedEnvironment], SystemUnderTest]
