"""Ports to outside services: search, geocoder and language model.

None of them raises for what a service does. A failed request is returned as a value, so that the caller can go on
without it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from tidemill.core.discovery.search import SearchResult
from tidemill.core.services.budget import Budget, BudgetRefusal
from tidemill.core.services.degradation import Service
from tidemill.core.services.enrichment import Geocoded


class NoAnswerReason(StrEnum):
    """Why a service gave no usable answer."""

    DOWN = "down"
    LIMITED = "limited"
    REFUSED = "refused"
    GARBAGE = "garbage"
    OVER_BUDGET = "over_budget"


class NoAnswer(msgspec.Struct, frozen=True):
    """A service gave no answer: why, in words that hold no secret, and when to retry if it said so.

    `sent` says whether the request may have been processed, and so paid for; False when the service refused or failed.
    """

    reason: NoAnswerReason
    detail: str
    retry_after: timedelta | None = None
    sent: bool = True


class ModelReply(msgspec.Struct, frozen=True):
    """A language model's reply and its token counts."""

    text: bytes
    tokens_in: int
    tokens_out: int


class SearchService(Protocol):
    """A paid web search."""

    async def search(self, query: str, *, country: str, language: str) -> tuple[SearchResult, ...] | NoAnswer:
        """Return the first results in a country, two letters, and a language."""
        ...


class Geocoder(Protocol):
    """Finds the coordinates of places."""

    async def locate(self, question: Mapping[str, Any]) -> Geocoded | NoAnswer:
        """Return a place's coordinates; waits first, because the service is rate limited."""
        ...


class LanguageModel(Protocol):
    """A paid language model."""

    @property
    def name(self) -> str:
        """Which model it is."""
        ...

    async def answer(self, prompt: str, schema: Mapping[str, Any], max_tokens: int) -> ModelReply | NoAnswer:
        """Return one reply that follows a JSON schema."""
        ...


class SpendingLimit(Protocol):
    """Limits the spending on a service, across processes and restarts."""

    async def reserve(self, service: Service, cost: int, budget: Budget, now: datetime) -> BudgetRefusal | None:
        """Reserve `cost`, or return the limit that it would exceed."""
        ...

    async def settle(self, service: Service, reserved: int, paid: int, reserved_at: datetime) -> None:
        """Replace a reservation by what was paid."""
        ...
