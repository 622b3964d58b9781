"""Enrich: ask, after a record is safe, what rules could not say about it, and put the answer in.

It runs beside the pages, never in their way. What a service does not answer stays asked; the record stands as rules
made it, its run is marked as degraded, and the first pass after the service is back repairs it.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from tidemill.core.degradation import Service
from tidemill.core.enrichment import Answer, Enriching, EnrichmentRequest, Geocoded, ModelAnswer, RequestKind
from tidemill.pipeline.model_budget import BudgetedModel
from tidemill.pipeline.outside_services import Geocoder, NoAnswer, Unwell
from tidemill.pipeline.ports import Clock, ServiceRegistry

Key = tuple[RequestKind, str]
MODEL_KINDS = (RequestKind.CATEGORY, RequestKind.DATE)


class AskedLike(Protocol):
    """A question that waits."""

    @property
    def want(self) -> EnrichmentRequest:
        """The question."""
        ...

    @property
    def vertical(self) -> str:
        """Whose record it is about."""
        ...

    @property
    def tries(self) -> int:
        """How often it was asked in vain."""
        ...


class RequestQueue(Protocol):
    """The questions that wait."""

    async def due(self, kinds: Sequence[RequestKind], now: datetime, limit: int) -> Sequence[AskedLike]:
        """Those whose time has come, each once."""
        ...

    async def postpone(self, keys: Collection[Key], until: datetime) -> None:
        """Ask these again later."""
        ...

    async def blame(self, service: Service, kinds: Sequence[RequestKind]) -> int:
        """Mark the runs whose records wait for a service that failed us."""
        ...

    async def answered_targets(self, keys: Collection[str], now: datetime) -> list[int]:
        """The targets whose lost records an answer can save."""
        ...

    async def give_up(self, keys: Collection[str]) -> None:
        """No answer will save these lost records."""
        ...


class Answers(Protocol):
    """Every answer ever given."""

    async def recall(self, wanted: Collection[Key]) -> Mapping[Key, Answer]:
        """What is known of these."""
        ...

    async def keep_place(self, key: str, query: str, pinned: Geocoded, now: datetime) -> None:
        """Keep a geocoder's answer."""
        ...

    async def keep_told(self, told: Mapping[Key, ModelAnswer], model: str, now: datetime) -> None:
        """Keep a model's answers."""
        ...


class Repairs(Protocol):
    """Puts answers into the records that waited for them."""

    async def seek(self, now: datetime) -> int:
        """Note what earlier records lack that those who are asked now could tell."""
        ...

    async def repair(self, kind: RequestKind, keys: Sequence[str], now: datetime) -> int:
        """Answers how many records changed."""
        ...


class Bounds(msgspec.Struct, frozen=True):
    """How much one pass may do and spend."""

    places: int = 50
    questions: int = 200
    batch: int = 20
    micro_dollars: int = 20_000
    patience: int = 3
    again_after: timedelta = timedelta(hours=1)


class Enriched(msgspec.Struct, frozen=True):
    """What a pass did."""

    asked: int = 0
    answered: int = 0
    repaired: int = 0
    reread: int = 0
    micro_dollars: int = 0
    trouble: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In a few words."""
        told = (
            f"{self.asked} asked, {self.answered} answered, {self.repaired} records repaired, {self.reread} pages again"
        )
        return "; ".join([told, *self.trouble])


class Enricher:
    """Works off the questions that wait, within its bounds."""

    def __init__(
        self,
        wants: RequestQueue,
        answers: Answers,
        repairs: Mapping[str, Repairs],
        enriching: Mapping[str, Enriching],
        services: ServiceRegistry,
        clock: Clock,
        *,
        geocoder: Geocoder | None = None,
        model: BudgetedModel | None = None,
        reread: Callable[[Sequence[int]], Awaitable[int]],
        bounds: Bounds | None = None,
    ) -> None:
        """`repairs` and `enriching` by vertical; `reread` takes up targets whose lost records can be saved."""
        self._wants = wants
        self._answers = answers
        self._repairs = repairs
        self._enriching = enriching
        self._services = services
        self._clock = clock
        self._geocoder = geocoder
        self._model = model
        self._reread = reread
        self._bounds = bounds or Bounds()
        self._rests: dict[Service, datetime] = {}

    async def enrich(self) -> Enriched:
        """One pass: places first, then whatever a model is asked; records from before it was set up included."""
        for repairs in self._repairs.values():
            await repairs.seek(self._clock.now())
        return _sum(await self._pin_places(), await self._ask_model())

    async def _pin_places(self) -> Enriched:
        due = await self._wants.due([RequestKind.PLACE], self._clock.now(), self._bounds.places)
        done, due = await self._use_known(due)
        if self._geocoder is None or self._is_resting(Service.GEOCODER):
            return done
        for asked in due:
            answer = await self._geocoder.locate(asked.want.question)
            if isinstance(answer, NoAnswer):
                return _sum(done, await self._failed(Service.GEOCODER, answer, [asked]))
            await self._services.works(Service.GEOCODER)
            query = str(asked.want.question["query"])
            await self._answers.keep_place(asked.want.key, query, answer, self._clock.now())
            done = _sum(done, Enriched(asked=1), await self._put_in([asked], {_key(asked): answer}))
        return done

    async def _ask_model(self) -> Enriched:
        due = await self._wants.due(MODEL_KINDS, self._clock.now(), self._bounds.questions)
        done, due = await self._use_known(due)
        if self._model is None or self._is_resting(Service.LLM):
            return done
        for vertical in sorted({asked.vertical for asked in due}):
            mine = [asked for asked in due if asked.vertical == vertical]
            for start in range(0, len(mine), self._bounds.batch):
                done = _sum(done, await self._ask_batch(mine[start : start + self._bounds.batch], done.micro_dollars))
                if done.trouble:
                    return done
        return done

    async def _ask_batch(self, batch: Sequence[AskedLike], spent: int) -> Enriched:
        """One prompt for many questions, if this pass may spend so much more."""
        enriching, model = self._enriching[batch[0].vertical], self._model
        wants = [asked.want for asked in batch]
        prompt = enriching.prompt(wants)
        if model is None or spent + model.estimate(prompt) > self._bounds.micro_dollars:
            return Enriched(trouble=("this pass has spent its share; the next goes on",))
        reply, paid = await model.ask(prompt, enriching.shape())
        if isinstance(reply, NoAnswer):
            return _sum(Enriched(micro_dollars=paid), await self._failed(Service.LLM, reply, batch))
        told = enriching.told(reply.text, wants)
        if not told:
            garbage = NoAnswer(Unwell.GARBAGE, "the model talks garbage")
            return _sum(Enriched(micro_dollars=paid), await self._failed(Service.LLM, garbage, batch))
        await self._services.works(Service.LLM)
        await self._answers.keep_told(told, model.name, self._clock.now())
        await self._deferred([asked for asked in batch if _key(asked) not in told])
        return _sum(Enriched(asked=len(batch), micro_dollars=paid), await self._put_in(batch, told))

    async def _use_known(self, due: Sequence[AskedLike]) -> tuple[Enriched, list[AskedLike]]:
        """Put in what was answered before, and say what is still open: nothing is paid for twice.

        What a vertical asked that is not installed any more stays as it is.
        """
        due = [asked for asked in due if asked.vertical in self._repairs]
        known = await self._answers.recall([_key(asked) for asked in due]) if due else {}
        done = await self._put_in(due, known)
        return done, [asked for asked in due if _key(asked) not in known]

    async def _put_in(self, batch: Sequence[AskedLike], answers: Mapping[Key, Answer]) -> Enriched:
        """Give answers to the records that waited, and take up the pages of records that were lost for want of one."""
        now, repaired = self._clock.now(), 0
        for asked in batch:
            if asked.want.kind is not RequestKind.DATE and _key(asked) in answers:
                repaired += await self._repairs[asked.vertical].repair(asked.want.kind, [asked.want.key], now)
        dates = {key: answer for (kind, key), answer in answers.items() if kind is RequestKind.DATE}
        await self._wants.give_up([key for key, answer in dates.items() if not _tells(answer)])
        targets = await self._wants.answered_targets([key for key, answer in dates.items() if _tells(answer)], now)
        reread = await self._reread(targets) if targets else 0
        return Enriched(answered=len(answers), repaired=repaired, reread=reread)

    async def _failed(self, service: Service, no: NoAnswer, batch: Sequence[AskedLike]) -> Enriched:
        """Say that the service failed us, mark the runs that wait for it, and leave it in peace while it asks so."""
        await self._services.degraded(service, no.detail)
        await self._wants.blame(service, [RequestKind.PLACE] if service is Service.GEOCODER else MODEL_KINDS)
        if no.retry_after is not None:
            self._rests[service] = self._clock.now() + no.retry_after
        if no.why is Unwell.GARBAGE:
            await self._deferred(batch)
        return Enriched(asked=len(batch), trouble=(f"{service}: {no.detail}",))

    async def _deferred(self, batch: Sequence[AskedLike]) -> None:
        """Ask again later what got no answer; after enough tries the rules' word stands for good."""
        hopeless = [asked for asked in batch if asked.tries + 1 >= self._bounds.patience]
        others = [_key(asked) for asked in batch if asked not in hopeless]
        await self._wants.postpone(others, self._clock.now() + self._bounds.again_after)
        if hopeless:
            unknown: dict[Key, Answer] = {_key(asked): _answer_none(asked) for asked in hopeless}
            await self._put_in(hopeless, unknown)

    def _is_resting(self, service: Service) -> bool:
        until = self._rests.get(service)
        return until is not None and self._clock.now() < until


def _key(asked: AskedLike) -> Key:
    return asked.want.kind, asked.want.key


def _answer_none(asked: AskedLike) -> Answer:
    return Geocoded(None) if asked.want.kind is RequestKind.PLACE else ModelAnswer("", 0.0)


def _tells(answer: Answer) -> bool:
    return isinstance(answer, ModelAnswer) and bool(answer.value)


def _sum(*parts: Enriched) -> Enriched:
    return Enriched(
        sum(part.asked for part in parts),
        sum(part.answered for part in parts),
        sum(part.repaired for part in parts),
        sum(part.reread for part in parts),
        sum(part.micro_dollars for part in parts),
        tuple(words for part in parts for words in part.trouble),
    )
