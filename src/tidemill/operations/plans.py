"""What a file asks for: sources and targets to bring in, and everything that is wrong with it, by line."""

from collections.abc import Collection, Mapping

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


class KnownAdapters(msgspec.Struct, frozen=True):
    """What names may be used: the adapters of each vertical."""

    adapters: Mapping[str, Collection[str]]


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
