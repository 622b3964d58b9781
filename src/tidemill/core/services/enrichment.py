"""Enrichment: questions about records that rules alone cannot answer, the services to ask, and their answers."""

from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from tidemill.core.services.degradation import Service
from tidemill.core.source import Coordinates, Source


class RequestKind(StrEnum):
    """What a record lacks: where exactly it is, what kind it is, or on what day."""

    PLACE = "place"
    CATEGORY = "category"
    DATE = "date"

    @property
    def service(self) -> Service:
        """The service that can answer."""
        return Service.GEOCODER if self is RequestKind.PLACE else Service.LLM


class EnrichmentRequest(msgspec.Struct, frozen=True):
    """A question about a record. Equal questions have equal keys and are sent once, however many records need them."""

    kind: RequestKind
    key: str
    question: Mapping[str, Any]


class Geocoded(msgspec.Struct, frozen=True):
    """A geocoder's answer; `coordinates` is None when it has no plausible result."""

    coordinates: Coordinates | None
    exact: bool = False


class ModelAnswer(msgspec.Struct, frozen=True):
    """A language model's answer, checked for bounds; `value` is empty when the model did not know."""

    value: str
    confidence: float = 0.5


Answer = Geocoded | ModelAnswer
Answers = Mapping[tuple[RequestKind, str], Answer]
"""Known answers by kind and key."""


class EnrichmentRules(Protocol):
    """A vertical's rules for enrichment: pure and optional; prices have none, because a price is never guessed."""

    def requests_for(self, record: Any, source: Source) -> Sequence[EnrichmentRequest]:
        """Return the questions that an accepted record leaves open."""
        ...

    def recovery_request(
        self, fields: Mapping[str, Any], reason: str, source: Source, read_on: date
    ) -> EnrichmentRequest | None:
        """Return the question whose answer could make a dropped record acceptable; None if there is none."""
        ...

    def fields_with_answer(
        self, fields: Mapping[str, Any], request: EnrichmentRequest, answer: Answer
    ) -> Mapping[str, Any] | None:
        """Return the raw fields with the answer filled in, to be judged again; None when the answer does not help."""
        ...

    def with_provenance(self, record: Any, answer: Answer) -> Any:
        """Return a recovered record that names the model as the origin of the answer."""
        ...

    def enriched(self, record: Any, answers: Answers, source: Source) -> Any:
        """Return the record with known answers filled in and checked by rules; unchanged when none apply."""
        ...

    def prompt(self, requests: Sequence[EnrichmentRequest]) -> str:
        """Return one prompt for many questions; scraped text is included as data only."""
        ...

    def answer_schema(self) -> Mapping[str, Any]:
        """Return the JSON schema of a reply."""
        ...

    def parse_reply(
        self, reply: bytes, requests: Sequence[EnrichmentRequest]
    ) -> dict[tuple[RequestKind, str], ModelAnswer]:
        """Return the valid answers in a reply; invalid ones are left out, and nothing is raised."""
        ...
