"""Discovery's ports to the store; `bootstrap` supplies the implementations."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from tidemill.core.discovery.candidates import Candidate
from tidemill.core.discovery.places import Place
from tidemill.core.discovery.search import SearchResult


class Places(Protocol):
    """The places to search, and when each was last searched."""

    async def every(self) -> Sequence[Place]:
        """Return all places."""
        ...

    async def searched(self) -> Mapping[str, datetime]:
        """Return when each place was last searched completely."""
        ...

    async def mark_searched(self, name: str, now: datetime) -> None:
        """Store that a place was searched completely."""
        ...


class StoredSearch(Protocol):
    """A stored search query."""

    @property
    def asked_at(self) -> datetime:
        """When it was sent."""
        ...

    @property
    def hits(self) -> Sequence[SearchResult] | None:
        """The results; None when the answer was never stored."""
        ...


class Searches(Protocol):
    """The stored search queries and their results."""

    async def load(self, queries: Sequence[str]) -> Mapping[str, StoredSearch]:
        """Return the stored searches among these queries."""
        ...

    async def begin(self, query: str, place: str, now: datetime) -> None:
        """Store that a query is about to be sent."""
        ...

    async def finish(
        self, query: str, place: str, hits: Sequence[SearchResult], asked_at: datetime, now: datetime
    ) -> None:
        """Store the results of a query."""
        ...

    async def forget(self, query: str) -> None:
        """Remove a query that never reached the service."""
        ...


class Candidates(Protocol):
    """The repository of candidates."""

    async def put(self, found: Sequence[Candidate]) -> None:
        """Insert or update candidates."""
        ...

    async def taken(self) -> Collection[str]:
        """Return the sites that need no inspection."""
        ...

    async def judged(self, canonical_urls: Collection[str], since: datetime) -> Collection[str]:
        """Return those of these URLs that were rated since a moment."""
        ...


class Spill(Protocol):
    """A file for what the database cannot take."""

    async def write(self, lines: Sequence[Mapping[str, Any]], now: datetime) -> str:
        """Append lines and return the file's name."""
        ...
