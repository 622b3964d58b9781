"""Discover: search the web for new sources per municipality, and rate what is found for a person to decide.

Everything paid for is stored before the next step, so that a discovery that is killed continues where it was and
pays for nothing twice. Without the search service earlier results are used; without the model heuristics decide;
without the database the results go to a file.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.core.discovery.candidates import Candidate, CandidateStatus
from tidemill.core.discovery.places import Place
from tidemill.core.discovery.search import SEARCH_AGAIN_AFTER, SearchResult, places_to_search, queries_for, shortlist
from tidemill.core.services.degradation import Service
from tidemill.pipeline.discovery_ports import Candidates, Places, Searches, Spill
from tidemill.pipeline.happenings import Announce, DiscoverySpilled, PlaceSearched
from tidemill.pipeline.inspection import InspectedSite, SiteInspector, ask_opinions, with_model_opinion
from tidemill.pipeline.model_budget import BudgetedModel
from tidemill.pipeline.outside_services import NoAnswer, NoAnswerReason, SearchService
from tidemill.pipeline.ports import Clock, ServiceRegistry, StoreError

LONGEST_RETRY_WAIT = timedelta(seconds=30)
"""The longest wait for a rate-limited search; after that earlier results are used."""


class DiscoveryLimits(msgspec.Struct, frozen=True):
    """Limits on one discovery."""

    places: int = 25
    sites_per_place: int = 12
    parallel_sites: int = 6
    parallel_places: int = 4
    more_noise: frozenset[str] = frozenset()
    search_again_after: timedelta = SEARCH_AGAIN_AFTER


class Discovered(msgspec.Struct, frozen=True):
    """What a discovery did."""

    places: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    asked: int = 0
    looked_at: int = 0
    pending: int = 0
    skipped: int = 0
    degraded: tuple[str, ...] = ()
    spilled_to: str = ""
    budget_words: tuple[str, ...] = ()


class Discoverer:
    """Searches places, a few at a time, and rates the sites found."""

    def __init__(
        self,
        places: Places,
        searches: Searches,
        candidates: Candidates,
        inspector: SiteInspector,
        services: ServiceRegistry,
        clock: Clock,
        announce: Announce,
        spill: Spill,
        *,
        search: SearchService | None = None,
        model: BudgetedModel | None = None,
        limits: DiscoveryLimits | None = None,
    ) -> None:
        """Without `search` earlier results are used, without `model` heuristics decide."""
        self._places = places
        self._searches = searches
        self._candidates = candidates
        self._inspector = inspector
        self._services = services
        self._clock = clock
        self._announce = announce
        self._spill = spill
        self._search = search
        self._model = model
        self._limits = limits or DiscoveryLimits()

    async def discover(self, limit: int | None = None, only: Collection[str] = ()) -> Discovered:
        """Search the places that are due, or `only` these, whenever they were last searched."""
        progress = _Progress()
        chosen = await self._chosen(limit or self._limits.places, only)
        limit_parallel = asyncio.Semaphore(self._limits.parallel_places)

        async def search(place: Place) -> None:
            async with limit_parallel:
                if not progress.spilled_to:  # nothing more is paid for while nothing can be remembered
                    await self._search_place(place, progress)

        ends = await asyncio.gather(*map(search, chosen), return_exceptions=True)
        for error in filter(None, ends):
            raise error
        return progress.result([place.name for place in chosen])

    async def _chosen(self, limit: int, only: Collection[str]) -> list[Place]:
        every = await self._places.every()
        if only:
            return [place for place in every if place.name in only]
        return places_to_search(
            every, await self._places.searched(), self._clock.now(), limit, self._limits.search_again_after
        )

    async def _search_place(self, place: Place, progress: "_Progress") -> None:
        results, is_complete = await self._search_results(place, progress)
        if results is None:
            progress.waiting.append(place.name)
            return
        shortlisted, _ = shortlist(
            results, self._inspector.profile, await self._candidates.taken(), self._limits.more_noise
        )
        known = await self._candidates.judged(
            [site.canonical_url for site in shortlisted], self._clock.now() - self._limits.search_again_after
        )
        fresh = [site for site in shortlisted if site.canonical_url not in known][: self._limits.sites_per_place]
        limit_parallel = asyncio.Semaphore(self._limits.parallel_sites)

        async def inspect(number: int) -> InspectedSite:
            async with limit_parallel:
                return await self._inspector.inspect(fresh[number], place)

        inspected = await asyncio.gather(*(inspect(number) for number in range(len(fresh))))
        found = await self._judged(inspected, progress)
        await self._keep(place, found, progress, is_complete=is_complete)

    async def _judged(self, inspected: Sequence[InspectedSite], progress: "_Progress") -> list[Candidate]:
        """Return the candidates rated by heuristics, and by the model if there is one."""
        opinions = (
            await ask_opinions(self._model, inspected, self._inspector.profile)
            if self._model is not None and inspected
            else {}
        )
        if isinstance(opinions, NoAnswer):
            await self._services.degraded(Service.LLM, opinions.detail)
            progress.degraded.add(Service.LLM)
            opinions = {}
        elif opinions:
            await self._services.works(Service.LLM)
        return [with_model_opinion(one, opinions.get(number)) for number, one in enumerate(inspected)]

    async def _keep(
        self, place: Place, found: Sequence[Candidate], progress: "_Progress", *, is_complete: bool
    ) -> None:
        now = self._clock.now()
        try:
            await self._candidates.put(found)
            if is_complete:
                await self._places.mark_searched(place.name, now)
        except StoreError as lost:
            lines = [{"candidate": msgspec.to_builtins(each)} for each in found]
            await self._write_spill([*lines, {"searched": place.name}] if is_complete else lines, str(lost), progress)
        pending = sum(each.status is CandidateStatus.PENDING for each in found)
        progress.places.append(place.name)
        progress.looked_at += len(found)
        progress.pending += pending
        self._announce(
            PlaceSearched(now, place.name, len(found), pending, "" if is_complete else "from earlier results")
        )

    async def _search_results(self, place: Place, progress: "_Progress") -> tuple[list[SearchResult] | None, bool]:
        """Return all search results for a place (None if there are none) and whether every query was answered now."""
        queries = queries_for(place, self._inspector.profile)
        known = await self._searches.load(queries)
        results: list[SearchResult] = []
        is_known, is_complete = False, True
        for query in queries:
            before = known.get(query)
            answer: Sequence[SearchResult] | None = before.hits if before is not None else None
            if before is None or self._clock.now() - before.asked_at >= self._limits.search_again_after:
                fresh = await self._search_and_store(query, place, progress)
                is_complete = is_complete and fresh is not None
                answer = fresh if fresh is not None else answer
            is_known = is_known or answer is not None
            results += answer or ()
        return (results if is_known else None), is_complete

    async def _search_and_store(
        self, query: str, place: Place, progress: "_Progress"
    ) -> tuple[SearchResult, ...] | None:
        """Send one paid query; it is stored before, so that a crash in between never pays for it again."""
        if self._search is None or progress.search_is_down or progress.spilled_to:
            progress.degraded |= {Service.SEARCH} if self._search is None else set()
            return None
        asked_at = self._clock.now()
        await self._searches.begin(query, place.name, asked_at)
        answer = await self._search_with_retries(query, place)
        if isinstance(answer, NoAnswer):
            progress.search_is_down = True
            progress.degraded.add(Service.SEARCH)
            progress.budget_words |= {answer.detail} if answer.reason is NoAnswerReason.OVER_BUDGET else set()
            await self._services.degraded(Service.SEARCH, answer.detail)
            if not answer.sent:
                await self._searches.forget(query)
            return None
        progress.asked += 1
        await self._services.works(Service.SEARCH)
        try:
            await self._searches.finish(query, place.name, answer, asked_at, self._clock.now())
        except StoreError as lost:
            line = {"search": query, "place": place.name, "asked_at": asked_at, "hits": msgspec.to_builtins(answer)}
            await self._write_spill([line], str(lost), progress)
        return answer

    async def _search_with_retries(self, query: str, place: Place) -> tuple[SearchResult, ...] | NoAnswer:
        """Search, and retry while the service is rate limited, with a doubling wait up to a bound."""
        wait = timedelta(seconds=1)
        while True:
            answer = (
                await self._search.search(query, country=place.country, language=place.language)
                if self._search is not None
                else NoAnswer(NoAnswerReason.DOWN, "off")
            )
            if not isinstance(answer, NoAnswer) or answer.reason is not NoAnswerReason.LIMITED:
                return answer
            pause = max(wait, answer.retry_after or wait)
            if pause > LONGEST_RETRY_WAIT:
                return answer
            await self._clock.sleep_until(self._clock.now() + pause)
            wait = pause * 2

    async def _write_spill(self, lines: Sequence[Mapping[str, Any]], why: str, progress: "_Progress") -> None:
        now = self._clock.now()
        progress.spilled_to = await self._spill.write(lines, now)
        self._announce(DiscoverySpilled(now, progress.spilled_to, why))


class _Progress:
    """The counts of a discovery under way."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.waiting: list[str] = []
        self.asked = 0
        self.looked_at = 0
        self.pending = 0
        self.degraded: set[str] = set()
        self.spilled_to = ""
        self.budget_words: set[str] = set()
        self.search_is_down = False

    def result(self, order: Sequence[str]) -> Discovered:
        return Discovered(
            places=tuple(sorted(self.places, key=order.index)),
            waiting=tuple(sorted(self.waiting, key=order.index)),
            asked=self.asked,
            looked_at=self.looked_at,
            pending=self.pending,
            skipped=self.looked_at - self.pending,
            degraded=tuple(sorted(self.degraded)),
            spilled_to=self.spilled_to,
            budget_words=tuple(sorted(self.budget_words)),
        )
