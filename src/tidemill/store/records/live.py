"""The ports that the store of the live lane writes through, within its own transactions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.live.change import Appended, LogEntry, Published, ThingKey
from tidemill.core.live.rules import ListedThing
from tidemill.core.source import Source


class ChangeLog(Protocol):
    """The append-only log of changes, with the newest state of each thing."""

    async def append(self, connection: AsyncConnection, entries: Sequence[LogEntry], now: datetime) -> list[Appended]:
        """Append entries in order within the caller's transaction; the fence has been checked in it.

        An entry whose token is there already is left out of what is written and is in the answer, with its offset. An
        entry whose `seq` does not follow the newest raises `SequenceTaken`.
        """
        ...

    async def latest(self, things: Sequence[ThingKey]) -> Mapping[ThingKey, Published]:
        """Return the newest state of each thing that has one."""
        ...

    def publish(self, appended: Sequence[Appended]) -> None:
        """Tell this process's readers; called after the commit, in the order of the commits."""
        ...


class SequenceTaken(Exception):
    """Another owner wrote this number before us: the watch is lost, and what it holds must not be written."""


class LiveThings(Protocol):
    """A vertical's own tables about its things."""

    async def identify(self, source: Source, listed: Sequence[ListedThing], now: datetime) -> Mapping[str, str]:
        """Return the vertical's key for each listed thing, by the site's own id; the same again for the same.

        One that belongs to no known thing gets a new key (and a row that a person can settle). Those left out of the
        answer are not watched.
        """
        ...

    async def write(self, connection: AsyncConnection, key: str, rows: Sequence[Any], now: datetime) -> None:
        """Write the `rows` of a `Merged` within the caller's transaction."""
        ...
