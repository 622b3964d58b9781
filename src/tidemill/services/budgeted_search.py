"""A paid search with a budget: each question is counted before it is sent, across processes and restarts."""

from tidemill.core.discovery.search import SearchResult
from tidemill.core.services.budget import Budget
from tidemill.core.services.degradation import Service
from tidemill.pipeline.outside_services import NoAnswer, NoAnswerReason, SearchService, SpendingLimit
from tidemill.pipeline.ports import Clock


class BudgetedSearch:
    """Sends questions to the search within a budget; a question that would exceed it is not sent."""

    def __init__(self, search: SearchService, spending: SpendingLimit, budget: Budget, clock: Clock) -> None:
        """`budget` counts questions."""
        self._search = search
        self._spending = spending
        self._budget = budget
        self._clock = clock

    async def search(self, query: str, *, country: str, language: str) -> tuple[SearchResult, ...] | NoAnswer:
        """Return the first results; a question that was never sent is not counted."""
        now = self._clock.now()
        refused = await self._spending.reserve(Service.SEARCH, 1, self._budget, now)
        if refused is not None:
            words = (
                f"the {refused.limit} questions of the {refused.period} are used up until "
                f"{refused.until:%Y-%m-%d %H:%M} UTC (see `discovery_questions_per_month`)"
            )
            return NoAnswer(NoAnswerReason.OVER_BUDGET, words, refused.until - now, sent=False)
        answer = await self._search.search(query, country=country, language=language)
        if isinstance(answer, NoAnswer) and not answer.sent:
            await self._spending.settle(Service.SEARCH, 1, 0, now)
        return answer
