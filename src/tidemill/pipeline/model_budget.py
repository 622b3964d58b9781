"""A language model with a budget: the most that a request may cost is reserved first, and corrected after."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.core.services.budget import Budget
from tidemill.core.services.degradation import Service
from tidemill.pipeline.outside_services import LanguageModel, ModelReply, NoAnswer, NoAnswerReason, SpendingLimit
from tidemill.pipeline.ports import Clock

CHARACTERS_PER_TOKEN = 3
"""Fewer than in fact, so that estimates are high."""
_MILLION = 1_000_000


class TokenPrice(msgspec.Struct, frozen=True):
    """The price of a million tokens in millionths of a dollar: input and output."""

    tokens_in: int
    tokens_out: int

    def of(self, tokens_in: int, tokens_out: int) -> int:
        """Return the cost of so many tokens in millionths of a dollar, rounded up."""
        return -(-(tokens_in * self.tokens_in + tokens_out * self.tokens_out) // _MILLION)


class BudgetedModel:
    """Sends requests to the model within a budget; a request that would exceed it is not sent."""

    def __init__(
        self,
        model: LanguageModel,
        spending: SpendingLimit,
        budget: Budget,
        price: TokenPrice,
        clock: Clock,
        max_tokens: int = 2_048,
    ) -> None:
        """`max_tokens` bounds each reply."""
        self._model = model
        self._spending = spending
        self._budget = budget
        self._price = price
        self._clock = clock
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """Which model it is."""
        return self._model.name

    def estimate(self, prompt: str) -> int:
        """Return the most that a request may cost, in millionths of a dollar."""
        return self._price.of(len(prompt) // CHARACTERS_PER_TOKEN + 1, self._max_tokens)

    async def ask(self, prompt: str, schema: Mapping[str, Any]) -> tuple[ModelReply | NoAnswer, int]:
        """Return the reply, and what it cost in millionths of a dollar."""
        now, most = self._clock.now(), self.estimate(prompt)
        refused = await self._spending.reserve(Service.LLM, most, self._budget, now)
        if refused is not None:
            wait = max(refused.until - now, timedelta(0))
            words = f"the budget of the {refused.period} is used up until {refused.until:%Y-%m-%d %H:%M} UTC"
            return NoAnswer(NoAnswerReason.LIMITED, words, wait, sent=False), 0
        reply = await self._model.answer(prompt, schema, self._max_tokens)
        paid = self._paid(reply, most)
        await self._spending.settle(Service.LLM, most, paid, now)
        return reply, paid

    def _paid(self, reply: ModelReply | NoAnswer, most: int) -> int:
        """Return the cost; for a reply that never came, the most that it may have cost."""
        if isinstance(reply, NoAnswer):
            return most if reply.sent else 0
        return self._price.of(reply.tokens_in, reply.tokens_out)
