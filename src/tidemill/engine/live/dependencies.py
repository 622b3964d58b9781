"""What the live lane is built on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tidemill.core.health.contexts import NO_USAGE, ContextUsage
from tidemill.core.run import RunSummary
from tidemill.engine.live.lease import LaneLease
from tidemill.engine.live.options import LaneOptions
from tidemill.engine.live.states import PolledStates
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.health_ports import HealthSink, LaneReport
from tidemill.pipeline.live_ports import WatchLedger
from tidemill.pipeline.ports import Clock, Dice
from tidemill.pipeline.reader_functions.function import FunctionReaders


class HostSlots(Protocol):
    """Where slots of hosts are bought in advance."""

    sharers: int

    def want(self, host: str, count: int) -> None:
        """Say how many requests will be wanted soon."""
        ...

    async def give_back_unused(self) -> int:
        """Return what nobody wants any more."""
        ...


class RunClosing(Protocol):
    """Closes runs whose jobs have all ended."""

    async def close_runs(self, run_ids: Sequence[int], now: datetime) -> Sequence[RunSummary]:
        """Close them; return the summaries."""
        ...


class LaneMirror(Protocol):
    """Copies what is watched to where other programs read it; it raises nothing but `StoreError`."""

    async def copy_changed(self) -> None:
        """Copy what has changed since the last time."""
        ...

    async def publish(self, report: LaneReport, now: datetime) -> None:
        """Copy how things are watched, every few seconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneDependencies:
    """What the live lane is built on.

    `stages` are what polls fetch with: its `source_states` are `states`, and its fetchers are those of every other
    lane, so that there is one way out. `free_memory` returns the bytes that are free, None where nobody knows;
    `browser_usage` what this process's browser takes. `mirror` is None where nobody else reads along.
    """

    ledger: WatchLedger
    stages: StageDependencies
    states: PolledStates
    dice: Dice
    announce: Announce
    health: HealthSink
    slots: HostSlots
    runs: RunClosing
    lease: LaneLease
    readers: FunctionReaders
    options: LaneOptions = field(default_factory=LaneOptions)
    mirror: LaneMirror | None = None
    free_memory: Callable[[], int | None] = lambda: None
    browser_usage: Callable[[], ContextUsage] = lambda: NO_USAGE

    @property
    def clock(self) -> Clock:
        """The time."""
        return self.stages.clock
