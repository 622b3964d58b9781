"""What a contender is told to do, and what it answers."""

import sys
from collections.abc import Iterator

import msgspec

EVENTS_PER_PAGE = 16
DISTURBED = 0.1
"""The share of its time that a contender may wait for a processor before its speed is doubtful."""


class Task(msgspec.Struct, frozen=True):
    """So many pages from these origins into that database; files of its own go into `folder`."""

    origins: list[str]
    pages: int
    database: str
    folder: str

    def urls(self) -> Iterator[str]:
        """Every page once, the hosts in turn."""
        hosts = len(self.origins)
        for number in range(self.pages):
            yield f"{self.origins[number % hosts]}/bench/{number}"

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a file."""
        return self.database.startswith("sqlite")

    @property
    def sqlite_file(self) -> str:
        """The database file."""
        return self.database.removeprefix("sqlite:///")


class Figures(msgspec.Struct, frozen=True):
    """What one contender needed for its task: time on the clock, time on the processor, memory at its highest.

    `waited_seconds` of its time it was ready to run, and others had the processor.
    `found` counts what is in its database afterwards, by name; `extra` holds what only one contender can tell.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float
    found: dict[str, int]
    waited_seconds: float = 0.0
    extra: dict[str, float] = {}

    @property
    def was_disturbed(self) -> bool:
        """Whether others on the machine took so much of its time that its speed says little."""
        return self.waited_seconds > DISTURBED * self.seconds


def source_name(origin: str) -> str:
    """What a source of this origin is called: a name has no slashes and colons."""
    return origin.removeprefix("http://").replace(":", " ")


def task_from_command_line() -> Task:
    """The task that this process was started for."""
    return msgspec.json.decode(sys.argv[1], type=Task)


def answer(figures: Figures) -> None:
    """Tell whoever started this process."""
    sys.stdout.buffer.write(msgspec.json.encode(figures) + b"\n")
    sys.stdout.flush()
