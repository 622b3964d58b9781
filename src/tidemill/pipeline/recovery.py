"""Recovery of records that rules dropped, with answers that a model gave earlier."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from tidemill.core.record import RawRecord
from tidemill.core.services.degradation import Service, ServiceState
from tidemill.core.services.enrichment import EnrichmentRequest, EnrichmentRules, ModelAnswer
from tidemill.core.verdict import Accepted, Dropped, Verdict
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.checkpoints import Parsed
from tidemill.pipeline.ports import ServiceRegistry


class AnswerCache(Protocol):
    """The answers that this process has in memory."""

    def get(self, key: str) -> ModelAnswer | None:
        """Return an answer from memory."""
        ...

    async def load(self, keys: Collection[str]) -> bool:
        """Load answers into memory and return whether there were any."""
        ...


@dataclass(frozen=True, slots=True)
class NormalizeEnrichment:
    """What normalize uses of enrichment: rules by vertical, cached answers, and the services that are set up."""

    rules: Mapping[str, EnrichmentRules]
    answers: AnswerCache
    services: Collection[Service] = field(default_factory=frozenset)

    def rules_for(self, vertical: str) -> EnrichmentRules | None:
        """Return the vertical's rules, if it has any."""
        return self.rules.get(vertical)


def judge_with_answer(
    vertical: Vertical,
    raw: RawRecord,
    verdict: Dropped,
    context: Context,
    rules: EnrichmentRules,
    answers: Mapping[str, ModelAnswer],
) -> tuple[Verdict, EnrichmentRequest | None]:
    """Return the verdict on a dropped record with a known answer filled in, and the request that is still open."""
    request = rules.recovery_request(raw.fields, verdict.reason, context.source, context.read_at.date())
    if request is None:
        return verdict, None
    answer = answers.get(request.key)
    if answer is None:
        return verdict, request
    fields = rules.fields_with_answer(raw.fields, request, answer)
    if fields is None:
        return verdict, None
    new_verdict = vertical.judge(msgspec.structs.replace(raw, fields=fields), context)
    if isinstance(new_verdict, Accepted):
        return Accepted(new_verdict.identity, rules.with_provenance(new_verdict.record, answer)), None
    return new_verdict, None


def missing_services(enrichment: NormalizeEnrichment, services: ServiceRegistry) -> frozenset[Service]:
    """Return the services that are set up and do not work, as far as this process knows."""
    return frozenset(service for service in enrichment.services if services.state_of(service) is not ServiceState.WORKS)


def open_request_keys(parsed: Parsed) -> list[str]:
    """Return the keys of a page's open requests, whose answers may be in the database."""
    return (
        [each.request.key for each in parsed.verdicts.rejected if each.request is not None] if parsed.verdicts else []
    )
