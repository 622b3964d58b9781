"""What discovery needs from the store, as protocols; `bootstrap` plugs the real things in."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from tidemill.core.candidates import Candidate
from tidemill.core.discovery import SearchResult
from tidemill.core.places import Place


class Places(Protocol):
    """Where to look, and when each was last searched."""

    async def every(self) -> Sequence[Place]:
        """All places."""
        ...

    async def searched(self) -> Mapping[str, datetime]:
        """When each was last searched to the end."""
        ...

    async def mark_searched(self, name: str, now: datetime) -> None:
        """The checkpoint."""
        ...


class SearchedLike(Protocol):
    """A question that was asked."""

    @property
    def asked_at(self) -> datetime:
        """When."""
        ...

    @property
    def hits(self) -> Sequence[SearchResult] | None:
        """What came; None when nobody knows."""
        ...


class Searches(Protocol):
    """What each question was answered with."""

    async def recall(self, queries: Sequence[str]) -> Mapping[str, SearchedLike]:
        """What is known of these."""
        ...

    async def begin(self, query: str, place: str, now: datetime) -> None:
        """It is about to be asked."""
        ...

    async def finish(
        self, query: str, place: str, hits: Sequence[SearchResult], asked_at: datetime, now: datetime
    ) -> None:
        """It was answered."""
        ...

    async def forget(self, query: str) -> None:
        """It never reached the service."""
        ...


class Candidates(Protocol):
    """Where candidates wait."""

    async def put(self, found: Sequence[Candidate]) -> None:
        """Bring them in."""
        ...

    async def taken(self) -> Collection[str]:
        """Sites that need no look."""
        ...

    async def judged(self, canonical_urls: Collection[str], since: datetime) -> Collection[str]:
        """Which of these were judged since then."""
        ...


class Spill(Protocol):
    """A file for what the database cannot take."""

    async def write(self, lines: Sequence[Mapping[str, Any]], now: datetime) -> str:
        """Append; answers the file's name."""
        ...
