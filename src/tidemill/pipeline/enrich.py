"""Enrich: after a record is stored, ask outside services what rules could not decide, and fill in the answers.

It runs apart from the page pipeline. A request without an answer stays queued; the record keeps what rules
decided, its run is marked as degraded, and the first pass after the service is back repairs it.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.services.degradation import Service
from tidemill.core.services.enrichment import (
    Answer,
    EnrichmentRequest,
    EnrichmentRules,
    Geocoded,
    ModelAnswer,
    RequestKind,
)
from tidemill.pipeline.model_budget import BudgetedModel
from tidemill.pipeline.outside_services import Geocoder, NoAnswer, NoAnswerReason
from tidemill.pipeline.ports import Clock, ServiceRegistry

Key = tuple[RequestKind, str]
MODEL_KINDS = (RequestKind.CATEGORY, RequestKind.DATE)


class QueuedRequest(Protocol):
    """A request that waits in the queue."""

    @property
    def request(self) -> EnrichmentRequest:
        """The request."""
        ...

    @property
    def vertical(self) -> str:
        """The vertical of its record."""
        ...

    @property
    def tries(self) -> int:
        """How often it was sent without an answer."""
        ...


class RequestQueue(Protocol):
    """The queue of enrichment requests."""

    async def due(self, kinds: Sequence[RequestKind], now: datetime, limit: int) -> Sequence[QueuedRequest]:
        """Return the requests that are due, each once."""
        ...

    async def postpone(self, keys: Collection[Key], until: datetime) -> None:
        """Postpone these requests."""
        ...

    async def mark_degraded_runs(self, service: Service, kinds: Sequence[RequestKind]) -> int:
        """Mark as degraded the runs whose records wait for a service that failed."""
        ...

    async def answered_targets(self, keys: Collection[str], now: datetime) -> list[int]:
        """Return the targets whose dropped records an answer may make acceptable."""
        ...

    async def abandon(self, keys: Collection[str]) -> None:
        """Drop requests about records that no answer can recover."""
        ...


class StoredAnswers(Protocol):
    """All answers that were ever received."""

    async def load(self, wanted: Collection[Key]) -> Mapping[Key, Answer]:
        """Return the known answers among these keys."""
        ...

    async def save_geocoded(self, key: str, query: str, geocoded: Geocoded, now: datetime) -> None:
        """Store a geocoder's answer."""
        ...

    async def save_model_answers(self, answers: Mapping[Key, ModelAnswer], model: str, now: datetime) -> None:
        """Store a model's answers."""
        ...


class RecordRepairs(Protocol):
    """Fills answers into a vertical's stored records."""

    async def request_missing(self, now: datetime) -> int:
        """Queue requests for records that were stored before a service was set up; return how many."""
        ...

    async def repair(self, kind: RequestKind, keys: Sequence[str], now: datetime) -> int:
        """Fill in answers and return how many records changed."""
        ...


class EnrichmentLimits(msgspec.Struct, frozen=True):
    """Limits on the work and spending of one pass."""

    places: int = 50
    questions: int = 200
    batch: int = 20
    micro_dollars: int = 20_000
    max_tries: int = 3
    retry_after: timedelta = timedelta(hours=1)


class EnrichmentResult(msgspec.Struct, frozen=True):
    """What one pass did."""

    asked: int = 0
    answered: int = 0
    repaired: int = 0
    reread: int = 0
    micro_dollars: int = 0
    trouble: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return a summary for the chore's row."""
        summary = (
            f"{self.asked} asked, {self.answered} answered, {self.repaired} records repaired, {self.reread} pages again"
        )
        return "; ".join([summary, *self.trouble])


class Enricher:
    """Processes queued requests, within its limits."""

    def __init__(
        self,
        requests: RequestQueue,
        answers: StoredAnswers,
        repairs: Mapping[str, RecordRepairs],
        rules: Mapping[str, EnrichmentRules],
        services: ServiceRegistry,
        clock: Clock,
        *,
        geocoder: Geocoder | None = None,
        model: BudgetedModel | None = None,
        reread: Callable[[Sequence[int]], Awaitable[int]],
        limits: EnrichmentLimits | None = None,
    ) -> None:
        """`repairs` and `rules` by vertical; `reread` enqueues targets whose dropped records may be recovered."""
        self._requests = requests
        self._answers = answers
        self._repairs = repairs
        self._rules = rules
        self._services = services
        self._clock = clock
        self._geocoder = geocoder
        self._model = model
        self._reread = reread
        self._limits = limits or EnrichmentLimits()
        self._paused_until: dict[Service, datetime] = {}

    async def enrich(self) -> EnrichmentResult:
        """Do one pass: places first, then the model's questions, including those of older records."""
        for repairs in self._repairs.values():
            await repairs.request_missing(self._clock.now())
        return _sum(await self._geocode(), await self._ask_model())

    async def _geocode(self) -> EnrichmentResult:
        due = await self._requests.due([RequestKind.PLACE], self._clock.now(), self._limits.places)
        done, due = await self._apply_known(due)
        if self._geocoder is None or self._is_paused(Service.GEOCODER):
            return done
        for asked in due:
            answer = await self._geocoder.locate(asked.request.question)
            if isinstance(answer, NoAnswer):
                return _sum(done, await self._failed(Service.GEOCODER, answer, [asked]))
            await self._services.works(Service.GEOCODER)
            query = str(asked.request.question["query"])
            await self._answers.save_geocoded(asked.request.key, query, answer, self._clock.now())
            done = _sum(done, EnrichmentResult(asked=1), await self._apply([asked], {_key(asked): answer}))
        return done

    async def _ask_model(self) -> EnrichmentResult:
        due = await self._requests.due(MODEL_KINDS, self._clock.now(), self._limits.questions)
        done, due = await self._apply_known(due)
        if self._model is None or self._is_paused(Service.LLM):
            return done
        for vertical in sorted({asked.vertical for asked in due}):
            mine = [asked for asked in due if asked.vertical == vertical]
            for start in range(0, len(mine), self._limits.batch):
                done = _sum(done, await self._ask_batch(mine[start : start + self._limits.batch], done.micro_dollars))
                if done.trouble:
                    return done
        return done

    async def _ask_batch(self, batch: Sequence[QueuedRequest], spent: int) -> EnrichmentResult:
        """Send one prompt for many requests, if this pass may spend so much more."""
        rules, model = self._rules[batch[0].vertical], self._model
        requests = [asked.request for asked in batch]
        prompt = rules.prompt(requests)
        if model is None or spent + model.estimate(prompt) > self._limits.micro_dollars:
            return EnrichmentResult(trouble=("this pass has spent its share; the next goes on",))
        reply, paid = await model.ask(prompt, rules.answer_schema())
        if isinstance(reply, NoAnswer):
            return _sum(EnrichmentResult(micro_dollars=paid), await self._failed(Service.LLM, reply, batch))
        answers = rules.parse_reply(reply.text, requests)
        if not answers:
            garbage = NoAnswer(NoAnswerReason.GARBAGE, "the model talks garbage")
            return _sum(EnrichmentResult(micro_dollars=paid), await self._failed(Service.LLM, garbage, batch))
        await self._services.works(Service.LLM)
        await self._answers.save_model_answers(answers, model.name, self._clock.now())
        await self._postpone([asked for asked in batch if _key(asked) not in answers])
        return _sum(EnrichmentResult(asked=len(batch), micro_dollars=paid), await self._apply(batch, answers))

    async def _apply_known(self, due: Sequence[QueuedRequest]) -> tuple[EnrichmentResult, list[QueuedRequest]]:
        """Apply answers that are already known and return the remaining requests: nothing is paid for twice.

        Requests of a vertical that is no longer installed stay queued.
        """
        due = [asked for asked in due if asked.vertical in self._repairs]
        known = await self._answers.load([_key(asked) for asked in due]) if due else {}
        done = await self._apply(due, known)
        return done, [asked for asked in due if _key(asked) not in known]

    async def _apply(self, batch: Sequence[QueuedRequest], answers: Mapping[Key, Answer]) -> EnrichmentResult:
        """Fill answers into the records that waited, and re-read the pages of dropped records that they may recover."""
        now, repaired = self._clock.now(), 0
        for asked in batch:
            if asked.request.kind is not RequestKind.DATE and _key(asked) in answers:
                repaired += await self._repairs[asked.vertical].repair(asked.request.kind, [asked.request.key], now)
        dates = {key: answer for (kind, key), answer in answers.items() if kind is RequestKind.DATE}
        await self._requests.abandon([key for key, answer in dates.items() if not _has_value(answer)])
        targets = await self._requests.answered_targets(
            [key for key, answer in dates.items() if _has_value(answer)], now
        )
        reread = await self._reread(targets) if targets else 0
        return EnrichmentResult(answered=len(answers), repaired=repaired, reread=reread)

    async def _failed(self, service: Service, no: NoAnswer, batch: Sequence[QueuedRequest]) -> EnrichmentResult:
        """Report the failed service, mark the runs that wait for it, and pause it as long as it asks for."""
        await self._services.degraded(service, no.detail)
        await self._requests.mark_degraded_runs(
            service, [RequestKind.PLACE] if service is Service.GEOCODER else MODEL_KINDS
        )
        if no.retry_after is not None:
            self._paused_until[service] = self._clock.now() + no.retry_after
        if no.reason is NoAnswerReason.GARBAGE:
            await self._postpone(batch)
        return EnrichmentResult(asked=len(batch), trouble=(f"{service}: {no.detail}",))

    async def _postpone(self, batch: Sequence[QueuedRequest]) -> None:
        """Postpone requests without an answer; after `max_tries` the record keeps what rules decided."""
        exhausted = [asked for asked in batch if asked.tries + 1 >= self._limits.max_tries]
        others = [_key(asked) for asked in batch if asked not in exhausted]
        await self._requests.postpone(others, self._clock.now() + self._limits.retry_after)
        if exhausted:
            unknown: dict[Key, Answer] = {_key(asked): _answer_none(asked) for asked in exhausted}
            await self._apply(exhausted, unknown)

    def _is_paused(self, service: Service) -> bool:
        until = self._paused_until.get(service)
        return until is not None and self._clock.now() < until


def _key(asked: QueuedRequest) -> Key:
    return asked.request.kind, asked.request.key


def _answer_none(asked: QueuedRequest) -> Answer:
    return Geocoded(None) if asked.request.kind is RequestKind.PLACE else ModelAnswer("", 0.0)


def _has_value(answer: Answer) -> bool:
    return isinstance(answer, ModelAnswer) and bool(answer.value)


def _sum(*parts: EnrichmentResult) -> EnrichmentResult:
    return EnrichmentResult(
        sum(part.asked for part in parts),
        sum(part.answered for part in parts),
        sum(part.repaired for part in parts),
        sum(part.reread for part in parts),
        sum(part.micro_dollars for part in parts),
        tuple(words for part in parts for words in part.trouble),
    )
