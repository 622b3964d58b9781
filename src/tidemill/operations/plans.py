"""The contents of an import file: sources and targets to create, and its problems by line."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.core.checks.source_settings import SettingChecks
from tidemill.core.source import Source
from tidemill.core.target import Target

MOST_PROBLEMS = 1_000
"""After this many problems the rest of a file is not read."""

LONGEST_NAME, LONGEST_MESSAGE = 200, 1_000
"""Characters of a problem that are told."""

LARGEST_FILE = 20_000_000
"""Bytes; enough for several hundred thousand targets."""


class Problem(msgspec.Struct, frozen=True):
    """What is wrong, where (the line counts from 1; 0 is the file as a whole), and what to do."""

    line: int
    field: str
    message: str


class TargetPlan(msgspec.Struct, frozen=True):
    """A target to import; `fields` names what the file sets, so that the rest is left as it is."""

    line: int
    source_name: str
    target: Target
    fields: Collection[str]


class SourcePlan(msgspec.Struct, frozen=True):
    """A source to import, with its targets; `names_targets` tells whether the file speaks of them at all."""

    line: int
    source: Source
    fields: Collection[str]
    targets: tuple[TargetPlan, ...] = ()
    names_targets: bool = False


CreateTargets = Callable[[datetime], Awaitable[int]]


class TargetTemplate(msgspec.Struct, frozen=True):
    """A setting from which a source's targets are made, one for each thing that its vertical lists.

    `problem_with` returns what is wrong with a value of it, '' if nothing is. `create_targets` creates the targets of
    every source that has the setting and returns how many changed. A source that has it says in `beside`, another
    setting, for which things; '' where it is for all of them.
    """

    setting: str
    problem_with: Callable[[object], str]
    create_targets: CreateTargets
    beside: str = ""


class KnownAdapters(msgspec.Struct, frozen=True):
    """The known adapters of each vertical, and the settings that create targets.

    `settings` are those of a source that each adapter reads; one that is not in it may be set anything. `tiers` are
    those of each vertical; one that is not in it has any.
    """

    adapters: Mapping[str, Collection[str]]
    templates: Sequence[TargetTemplate] = ()
    settings: Mapping[str, SettingChecks] = {}
    tiers: Mapping[str, Collection[str]] = {}


class ProblemList:
    """Collects the problems of a file while it is read."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: list[Problem] = []

    def add(self, line: int, field: str, message: str) -> None:
        """Add a problem, shortened where it repeats the file; after one more than the most none is added."""
        if len(self.found) <= MOST_PROBLEMS:
            self.found.append(Problem(line, field[:LONGEST_NAME], message[:LONGEST_MESSAGE]))

    @property
    def too_many(self) -> bool:
        """Whether to stop reading the file."""
        return len(self.found) >= MOST_PROBLEMS
