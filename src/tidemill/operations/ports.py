"""What the operations need from the store, as protocols; `bootstrap` plugs the real things in."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from tidemill.core.audit import AuditEntry
from tidemill.core.source import Source
from tidemill.core.target import Target

Change = Literal["created", "updated", "unchanged"]


class Sources(Protocol):
    """Sources, kept. Whatever changes them writes the audit entries in the same transaction."""

    async def upsert(
        self, wanted: Sequence[tuple[Source, Collection[str]]], now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> dict[str, tuple[int, Change]]:
        """Create or change by name, only the named fields of those that exist; answers keys and changes."""
        ...

    async def find(self, which: int | str) -> Source | None:
        """A source by key or by name."""
        ...

    async def every(self, *, vertical: str | None = None, enabled: bool | None = None) -> list[Source]:
        """All sources, or some."""
        ...

    async def names(self) -> list[str]:
        """Every source's name."""
        ...

    async def set_enabled(
        self, source_ids: Sequence[int], *, enabled: bool, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Switch sources on or off; on clears what was held against them."""
        ...

    async def remove(self, source_id: int, now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Remove a source with its targets."""
        ...


class Targets(Protocol):
    """Targets, kept. Whatever changes them writes the audit entries in the same transaction."""

    async def upsert(
        self, wanted: Sequence[tuple[Target, Collection[str]]], now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> dict[tuple[int, str], tuple[int, Change]]:
        """Create or change by source and canonical URL, only the named fields of those that exist."""
        ...

    async def bring_in(
        self,
        wanted: Iterable[tuple[Target, Collection[str]]],
        most: int,
        now: datetime,
        audit: Callable[[int], AuditEntry | None],
    ) -> Mapping[Change, int]:
        """The same in one transaction for as many as a file holds, read while they are written; answers counts.

        There are no more than `most`, no two with the same address; `audit` is told how many there were.
        """
        ...

    async def find(self, target_id: int) -> Target | None:
        """A target by key."""
        ...

    async def at(self, canonical_url: str) -> list[Target]:
        """The targets with this canonical URL."""
        ...

    async def pause(self, target_ids: Sequence[int], now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Leave targets alone."""
        ...

    async def resume(self, target_ids: Sequence[int], now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Take targets up again."""
        ...

    async def remove(self, target_ids: Sequence[int], now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Remove targets."""
        ...
