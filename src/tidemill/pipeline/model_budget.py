"""A language model asked with thrift: what a question may cost is put aside before it is asked, and put right after."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.core.budget import Budget
from tidemill.core.degradation import Service
from tidemill.pipeline.outside_services import LanguageModel, ModelReply, NoAnswer, SpendingLimit, Unwell
from tidemill.pipeline.ports import Clock

CHARACTERS_PER_TOKEN = 3
"""Fewer than in fact, so that an estimate errs on the dear side."""
_MILLION = 1_000_000


class TokenPrice(msgspec.Struct, frozen=True):
    """What a million tokens cost, in millionths of a dollar: read, and written."""

    tokens_in: int
    tokens_out: int

    def of(self, tokens_in: int, tokens_out: int) -> int:
        """What so many tokens cost, in millionths of a dollar, rounded up."""
        return -(-(tokens_in * self.tokens_in + tokens_out * self.tokens_out) // _MILLION)


class BudgetedModel:
    """Asks the model within a budget; a question that there is no money for is not asked."""

    def __init__(
        self,
        model: LanguageModel,
        purse: SpendingLimit,
        budget: Budget,
        price: TokenPrice,
        clock: Clock,
        max_tokens: int = 2_048,
    ) -> None:
        """`max_tokens` bounds each reply."""
        self._model = model
        self._purse = purse
        self._budget = budget
        self._price = price
        self._clock = clock
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """Which model it is."""
        return self._model.name

    def estimate(self, prompt: str) -> int:
        """The most that a question may cost, in millionths of a dollar."""
        return self._price.of(len(prompt) // CHARACTERS_PER_TOKEN + 1, self._max_tokens)

    async def ask(self, prompt: str, shape: Mapping[str, Any]) -> tuple[ModelReply | NoAnswer, int]:
        """The reply, and what it cost in millionths of a dollar."""
        now, most = self._clock.now(), self.estimate(prompt)
        refused = await self._purse.reserve(Service.LLM, most, self._budget, now)
        if refused is not None:
            wait = max(refused.until - now, timedelta(0))
            words = f"the budget of the {refused.period} is used up until {refused.until:%Y-%m-%d %H:%M} UTC"
            return NoAnswer(Unwell.LIMITED, words, wait, sent=False), 0
        reply = await self._model.answer(prompt, shape, self._max_tokens)
        paid = self._paid(reply, most)
        await self._purse.settle(Service.LLM, most, paid, now)
        return reply, paid

    def _paid(self, reply: ModelReply | NoAnswer, most: int) -> int:
        """What it cost; of an answer that never came, the most that it may have."""
        if isinstance(reply, NoAnswer):
            return most if reply.sent else 0
        return self._price.of(reply.tokens_in, reply.tokens_out)
