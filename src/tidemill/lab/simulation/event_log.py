"""The log of a simulation: one line of JSON for everything that happens, the same bytes every time."""

import hashlib
from collections import Counter
from datetime import datetime
from typing import BinaryIO

import msgspec

from tidemill.pipeline.happenings import Happening


class SimulationBegan(msgspec.Struct, frozen=True, tag=True):
    """The world and its timetable, so that a log says what it is a log of."""

    at: datetime
    seed: int
    sources: int
    days: float
    faults: tuple[str, ...]


class WorkerStarted(msgspec.Struct, frozen=True, tag=True):
    """A worker came up."""

    at: datetime
    worker: int


class WorkerKilled(msgspec.Struct, frozen=True, tag=True):
    """A worker died as by kill -9."""

    at: datetime
    worker: int


class WorkerFrozen(msgspec.Struct, frozen=True, tag=True):
    """A worker stands still, with jobs in hand."""

    at: datetime
    worker: int


class WorkerThawed(msgspec.Struct, frozen=True, tag=True):
    """A frozen worker woke up, believing that no time has passed."""

    at: datetime
    worker: int


class WorkerStopped(msgspec.Struct, frozen=True, tag=True):
    """A worker left in good order."""

    at: datetime
    worker: int


class WorkerFell(msgspec.Struct, frozen=True, tag=True):
    """A worker ended by an error of its own, which nothing may make it do."""

    at: datetime
    worker: int
    error: str


class SourceSwitched(msgspec.Struct, frozen=True, tag=True):
    """A person switched a source on or off."""

    at: datetime
    host: str
    on: bool


class Asked(msgspec.Struct, frozen=True, tag=True):
    """A site got a request; `ended` is when its answer was in, or the connection gone. Status 0 is no answer."""

    at: datetime
    ended: datetime
    worker: int
    host: str
    path: str
    status: int
    retry_after: float | None = None


LabEvent = (
    SimulationBegan | WorkerStarted | WorkerKilled | WorkerFrozen | WorkerThawed | WorkerStopped
    | WorkerFell | SourceSwitched | Asked
)  # fmt: skip


class EventLog:
    """Takes happenings in order, writes them if there is somewhere to write to, and sums them up in one digest."""

    def __init__(self, file: BinaryIO | None = None) -> None:
        """Write to `file`, or only count and digest."""
        self._file = file
        self._digest = hashlib.sha256()
        self._encode = msgspec.json.Encoder(decimal_format="number").encode
        self.counts: Counter[str] = Counter()

    def write(self, event: Happening | LabEvent) -> None:
        """One line."""
        line = self._encode(event) + b"\n"
        self._digest.update(line)
        self.counts[type(event).__name__] += 1
        if self._file is not None:
            self._file.write(line)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return self.counts.total()

    @property
    def sha256(self) -> str:
        """The digest of every line so far."""
        return self._digest.hexdigest()
