"""Enrichment: what rules alone could not say about a record, who may be asked, and what an answer is worth."""

from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from tidemill.core.degradation import Service
from tidemill.core.source import Coordinates, Source


class RequestKind(StrEnum):
    """What a record lacks: where exactly it is, what kind it is, or on what day."""

    PLACE = "place"
    CATEGORY = "category"
    DATE = "date"

    @property
    def service(self) -> Service:
        """Who can tell."""
        return Service.GEOCODER if self is RequestKind.PLACE else Service.LLM


class EnrichmentRequest(msgspec.Struct, frozen=True):
    """A question about a record. Equal questions have equal keys, and are asked once however many records ask."""

    kind: RequestKind
    key: str
    question: Mapping[str, Any]


class Geocoded(msgspec.Struct, frozen=True):
    """Where a place is; `coordinates` is None when the geocoder knows none that can be right."""

    coordinates: Coordinates | None
    exact: bool = False


class ModelAnswer(msgspec.Struct, frozen=True):
    """What the language model said, within its bounds; `value` is empty when it did not know."""

    value: str
    sureness: float = 0.5


Answer = Geocoded | ModelAnswer
Answers = Mapping[tuple[RequestKind, str], Answer]
"""What is known, by kind and key."""


class Enriching(Protocol):
    """A vertical's side of enrichment: pure, and optional; prices have none, because a price is never guessed."""

    def wants(self, record: Any, source: Source) -> Sequence[EnrichmentRequest]:
        """What rules could not say about a record that they accepted."""
        ...

    def lost(self, fields: Mapping[str, Any], reason: str, source: Source, read_on: date) -> EnrichmentRequest | None:
        """What would save a record that rules had to drop for this reason."""
        ...

    def saved(self, fields: Mapping[str, Any], want: EnrichmentRequest, answer: Answer) -> Mapping[str, Any] | None:
        """The raw fields with the answer in them, for the rules to judge again; None when it is of no use."""
        ...

    def marked(self, record: Any, answer: Answer) -> Any:
        """A saved record, with the mark of who saved it."""
        ...

    def dressed(self, record: Any, answers: Answers, source: Source) -> Any:
        """The record with what is known put in, re-checked by rules; the record itself when nothing is."""
        ...

    def prompt(self, wants: Sequence[EnrichmentRequest]) -> str:
        """One prompt for many questions; what was scraped is in it as data."""
        ...

    def shape(self) -> Mapping[str, Any]:
        """The JSON schema that an answer must have."""
        ...

    def told(self, reply: bytes, wants: Sequence[EnrichmentRequest]) -> dict[tuple[RequestKind, str], ModelAnswer]:
        """The answers in a reply that are within bounds; garbage is left out, and none at all raises nothing."""
        ...
