"""The services that may know more than we do, as ports: search, geocoder and language model.

None of them raises for what a service does. A service that does not answer is a value, so that whoever asks can go on
without it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from tidemill.core.budget import Budget, BudgetRefusal
from tidemill.core.degradation import Service
from tidemill.core.discovery import SearchResult
from tidemill.core.enrichment import Geocoded


class Unwell(StrEnum):
    """Why a service gave no answer that can be used."""

    DOWN = "down"
    LIMITED = "limited"
    REFUSED = "refused"
    GARBAGE = "garbage"


class NoAnswer(msgspec.Struct, frozen=True):
    """A service did not answer: why, in words that hold no secret, and when to come back if it said so.

    `sent` tells whether the question may have been taken, and so paid for: a service that refused or failed took none.
    """

    why: Unwell
    detail: str
    retry_after: timedelta | None = None
    sent: bool = True


class ModelReply(msgspec.Struct, frozen=True):
    """What the language model said, and what it took."""

    text: bytes
    tokens_in: int
    tokens_out: int


class SearchService(Protocol):
    """Searches the web, for money."""

    async def search(self, query: str) -> tuple[SearchResult, ...] | NoAnswer:
        """The first results."""
        ...


class Geocoder(Protocol):
    """Knows where places are."""

    async def locate(self, question: Mapping[str, Any]) -> Geocoded | NoAnswer:
        """Where the place is, as far as it is known; waits for its turn, because the service is asked politely."""
        ...


class LanguageModel(Protocol):
    """Answers questions about text, for money."""

    @property
    def name(self) -> str:
        """Which model it is."""
        ...

    async def answer(self, prompt: str, shape: Mapping[str, Any], max_tokens: int) -> ModelReply | NoAnswer:
        """One reply in the shape of a JSON schema."""
        ...


class SpendingLimit(Protocol):
    """Bounds what is spent on a service, across processes and restarts."""

    async def reserve(self, service: Service, cost: int, budget: Budget, now: datetime) -> BudgetRefusal | None:
        """Put `cost` aside, or say which limit is in the way."""
        ...

    async def settle(self, service: Service, reserved: int, paid: int, reserved_at: datetime) -> None:
        """Put right what was reserved."""
        ...
