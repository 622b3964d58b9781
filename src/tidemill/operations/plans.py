"""What a file asks for: sources and targets to bring in, and everything that is wrong with it, by line."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.core.source import Source
from tidemill.core.target import Target

MOST_PROBLEMS = 1_000
"""Past this many a file is not what it should be, and the rest of it is not read."""

LARGEST_FILE = 20_000_000
"""Bytes; a hundred thousand targets fit several times."""


class Problem(msgspec.Struct, frozen=True):
    """What is wrong, where (the line counts from 1; 0 is the file as a whole), and what to do."""

    line: int
    field: str
    message: str


class TargetPlan(msgspec.Struct, frozen=True):
    """A target to bring in; `fields` names what the file speaks of, so that the rest is left as it is."""

    line: int
    source_name: str
    target: Target
    fields: Collection[str]


class SourcePlan(msgspec.Struct, frozen=True):
    """A source to bring in, with its targets."""

    line: int
    source: Source
    fields: Collection[str]
    targets: tuple[TargetPlan, ...] = ()


LayOut = Callable[[datetime], Awaitable[int]]


class TargetTemplate(msgspec.Struct, frozen=True):
    """A setting from which a source's targets are made, one for each thing that its vertical lists.

    `trouble` says what is wrong with a value of it, '' if nothing is. `lay_out` gives every source that has the
    setting its targets and answers how many were changed.
    """

    setting: str
    trouble: Callable[[object], str]
    lay_out: LayOut


class KnownAdapters(msgspec.Struct, frozen=True):
    """What names may be used: the adapters of each vertical, and the settings that make targets."""

    adapters: Mapping[str, Collection[str]]
    templates: Sequence[TargetTemplate] = ()


class Troubles:
    """Collects problems as a file is read."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: list[Problem] = []

    def add(self, line: int, field: str, message: str) -> None:
        """Note one."""
        self.found.append(Problem(line, field, message))

    @property
    def too_many(self) -> bool:
        """Whether to give up on the rest of the file."""
        return len(self.found) >= MOST_PROBLEMS
