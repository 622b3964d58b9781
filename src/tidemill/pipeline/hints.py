"""A second look at what rules had to drop: with a day that a model read for us earlier, if it did."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from tidemill.core.degradation import Service, ServiceState
from tidemill.core.enrichment import EnrichmentRequest, EnrichmentRules, ModelAnswer
from tidemill.core.outcome import Advance, Fail, Outcome
from tidemill.core.record import RawRecord
from tidemill.core.verdict import Accepted, Dropped, Verdict
from tidemill.core.vertical import Context, Vertical
from tidemill.pipeline.checkpoints import Judged
from tidemill.pipeline.ports import ServiceRegistry


class HintSource(Protocol):
    """The answers that this process has in mind."""

    def get(self, key: str) -> ModelAnswer | None:
        """What is known at once."""
        ...

    async def recall(self, keys: Collection[str]) -> bool:
        """Bring these to mind; answers whether any came."""
        ...


@dataclass(frozen=True, slots=True)
class EnrichmentHints:
    """What normalizing may use besides rules: each vertical's side, the answers in mind, and who is to be asked."""

    enriching: Mapping[str, EnrichmentRules]
    hints: HintSource
    asks: Collection[Service] = field(default_factory=frozenset)

    def of(self, vertical: str) -> EnrichmentRules | None:
        """The vertical's side, if it has one; prices have none."""
        return self.enriching.get(vertical)


def second_look(
    vertical: Vertical, raw: RawRecord, verdict: Verdict, context: Context, aid: EnrichmentHints
) -> tuple[Verdict, EnrichmentRequest | None]:
    """The verdict with what a model said put to the rules, and the question that is still open."""
    enriching = aid.of(vertical.name)
    if enriching is None or not isinstance(verdict, Dropped) or Service.LLM not in aid.asks:
        return verdict, None
    want = enriching.recovery_request(raw.fields, verdict.reason, context.source, context.read_at.date())
    if want is None:
        return verdict, None
    told = aid.hints.get(want.key)
    if told is None:
        return verdict, want
    fields = enriching.fields_with_answer(raw.fields, want, told)
    if fields is None:
        return verdict, None
    again = vertical.judge(msgspec.structs.replace(raw, fields=fields), context)
    if isinstance(again, Accepted):
        return Accepted(again.identity, enriching.with_provenance(again.record, told)), None
    return again, None


def missing_services(aid: EnrichmentHints, services: ServiceRegistry) -> frozenset[Service]:
    """The services that are meant to be asked and do not answer, as far as this process knows."""
    return frozenset(service for service in aid.asks if services.state_of(service) is not ServiceState.WORKS)


def lost_keys(outcome: Outcome) -> list[str]:
    """The questions that a page's verdict left open: worth a look into the database before it stands."""
    match outcome:
        case Advance(produced=Judged(rejected=rejected)) | Fail(evidence=Judged(rejected=rejected)):
            return [each.want.key for each in rejected if each.want is not None]
        case _:
            return []
