"""Discover: from a municipality nobody has searched to candidates that a person can judge at a glance.

Everything paid for is written down before the next step, so that a discovery that is killed goes on where it was and
pays for nothing twice. Without the search service, earlier results are used; without the model, heuristics decide;
without the database, what was found goes to a file.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.core.candidates import Candidate, CandidateStatus
from tidemill.core.degradation import Service
from tidemill.core.discovery import SEARCH_AGAIN_AFTER, SearchResult, places_to_search, queries_for, shortlist
from tidemill.core.places import Place
from tidemill.pipeline.discovery_ports import Candidates, Places, Searches, Spill
from tidemill.pipeline.happenings import Announce, DiscoverySpilled, PlaceSearched
from tidemill.pipeline.inspection import InspectedSite, Look, opinions, settled
from tidemill.pipeline.model_budget import BudgetedModel
from tidemill.pipeline.outside_services import NoAnswer, SearchService, Unwell
from tidemill.pipeline.ports import Clock, ServiceRegistry, StoreError

LONGEST_BREATH = timedelta(seconds=30)
"""How long a search that is limited is waited for, before earlier results have to do."""


class Scope(msgspec.Struct, frozen=True):
    """How much one discovery does."""

    places: int = 25
    sites_per_place: int = 12
    at_once: int = 6
    places_at_once: int = 4
    more_noise: frozenset[str] = frozenset()
    lately: timedelta = SEARCH_AGAIN_AFTER


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


class Discoverer:
    """Searches places, a few at a time, and judges what comes up."""

    def __init__(
        self,
        places: Places,
        searches: Searches,
        candidates: Candidates,
        look: Look,
        services: ServiceRegistry,
        clock: Clock,
        announce: Announce,
        spill: Spill,
        *,
        search: SearchService | None = None,
        model: BudgetedModel | None = None,
        scope: Scope | None = None,
    ) -> None:
        """Without `search` earlier results are used, without `model` heuristics decide."""
        self._places = places
        self._searches = searches
        self._candidates = candidates
        self._look = look
        self._services = services
        self._clock = clock
        self._announce = announce
        self._spill = spill
        self._search = search
        self._model = model
        self._scope = scope or Scope()

    async def discover(self, limit: int | None = None, only: Collection[str] = ()) -> Discovered:
        """Search the places whose turn it is; or `only` these, whenever they were searched last."""
        trip = _Trip()
        chosen = await self._chosen(limit or self._scope.places, only)
        turns = asyncio.Semaphore(self._scope.places_at_once)

        async def search(place: Place) -> None:
            async with turns:
                if not trip.spilled_to:  # nothing more is paid for while nothing can be remembered
                    await self._place(place, trip)

        ends = await asyncio.gather(*map(search, chosen), return_exceptions=True)
        for error in filter(None, ends):
            raise error
        return trip.told([place.name for place in chosen])

    async def _chosen(self, limit: int, only: Collection[str]) -> list[Place]:
        every = await self._places.every()
        if only:
            return [place for place in every if place.name in only]
        return places_to_search(every, await self._places.searched(), self._clock.now(), limit, self._scope.lately)

    async def _place(self, place: Place, trip: "_Trip") -> None:
        hits, is_whole = await self._hits(place, trip)
        if hits is None:
            trip.waiting.append(place.name)
            return
        picks, _ = shortlist(hits, self._look.profile, await self._candidates.taken(), self._scope.more_noise)
        known = await self._candidates.judged(
            [pick.canonical_url for pick in picks], self._clock.now() - self._scope.lately
        )
        fresh = [pick for pick in picks if pick.canonical_url not in known][: self._scope.sites_per_place]
        turns = asyncio.Semaphore(self._scope.at_once)

        async def look(number: int) -> InspectedSite:
            async with turns:
                return await self._look.at(fresh[number], place)

        looked = await asyncio.gather(*(look(number) for number in range(len(fresh))))
        found = await self._judged(looked, trip)
        await self._keep(place, found, trip, is_whole=is_whole)

    async def _judged(self, looked: Sequence[InspectedSite], trip: "_Trip") -> list[Candidate]:
        """The candidates as the model and we judge them; without the model, as we do."""
        said = await opinions(self._model, looked, self._look.profile) if self._model is not None and looked else {}
        if isinstance(said, NoAnswer):
            await self._services.degraded(Service.LLM, said.detail)
            trip.degraded.add(Service.LLM)
            said = {}
        elif said:
            await self._services.works(Service.LLM)
        return [settled(one, said.get(number)) for number, one in enumerate(looked)]

    async def _keep(self, place: Place, found: Sequence[Candidate], trip: "_Trip", *, is_whole: bool) -> None:
        now = self._clock.now()
        try:
            await self._candidates.put(found)
            if is_whole:
                await self._places.mark_searched(place.name, now)
        except StoreError as lost:
            lines = [{"candidate": msgspec.to_builtins(each)} for each in found]
            await self._overflow([*lines, {"searched": place.name}] if is_whole else lines, str(lost), trip)
        pending = sum(each.status is CandidateStatus.PENDING for each in found)
        trip.places.append(place.name)
        trip.looked_at += len(found)
        trip.pending += pending
        self._announce(PlaceSearched(now, place.name, len(found), pending, "" if is_whole else "from earlier results"))

    async def _hits(self, place: Place, trip: "_Trip") -> tuple[list[SearchResult] | None, bool]:
        """Every result for the place's questions, and whether all of them are of today's making; None without any."""
        queries = queries_for(place, self._look.profile)
        known = await self._searches.recall(queries)
        hits: list[SearchResult] = []
        is_known, is_whole = False, True
        for query in queries:
            before = known.get(query)
            answer: Sequence[SearchResult] | None = before.hits if before is not None else None
            if before is None or self._clock.now() - before.asked_at >= self._scope.lately:
                fresh = await self._ask(query, place, trip)
                is_whole = is_whole and fresh is not None
                answer = fresh if fresh is not None else answer
            is_known = is_known or answer is not None
            hits += answer or ()
        return (hits if is_known else None), is_whole

    async def _ask(self, query: str, place: Place, trip: "_Trip") -> tuple[SearchResult, ...] | None:
        """Pay for one question; written down before, so that a crash in between never pays for it again."""
        if self._search is None or trip.search_is_down or trip.spilled_to:
            trip.degraded |= {Service.SEARCH} if self._search is None else set()
            return None
        asked_at = self._clock.now()
        await self._searches.begin(query, place.name, asked_at)
        answer = await self._patiently(query)
        if isinstance(answer, NoAnswer):
            trip.search_is_down = True
            trip.degraded.add(Service.SEARCH)
            await self._services.degraded(Service.SEARCH, answer.detail)
            if not answer.sent:
                await self._searches.forget(query)
            return None
        trip.asked += 1
        await self._services.works(Service.SEARCH)
        try:
            await self._searches.finish(query, place.name, answer, asked_at, self._clock.now())
        except StoreError as lost:
            line = {"search": query, "place": place.name, "asked_at": asked_at, "hits": msgspec.to_builtins(answer)}
            await self._overflow([line], str(lost), trip)
        return answer

    async def _patiently(self, query: str) -> tuple[SearchResult, ...] | NoAnswer:
        """Ask; a service that asks for a moment's patience gets it, each time twice as long, up to a bound."""
        wait = timedelta(seconds=1)
        while True:
            answer = await self._search.search(query) if self._search is not None else NoAnswer(Unwell.DOWN, "off")
            if not isinstance(answer, NoAnswer) or answer.why is not Unwell.LIMITED:
                return answer
            pause = max(wait, answer.retry_after or wait)
            if pause > LONGEST_BREATH:
                return answer
            await self._clock.sleep_until(self._clock.now() + pause)
            wait = pause * 2

    async def _overflow(self, lines: Sequence[Mapping[str, Any]], why: str, trip: "_Trip") -> None:
        now = self._clock.now()
        trip.spilled_to = await self._spill.write(lines, now)
        self._announce(DiscoverySpilled(now, trip.spilled_to, why))


class _Trip:
    """What a discovery has done so far."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.waiting: list[str] = []
        self.asked = 0
        self.looked_at = 0
        self.pending = 0
        self.degraded: set[str] = set()
        self.spilled_to = ""
        self.search_is_down = False

    def told(self, order: Sequence[str]) -> Discovered:
        return Discovered(
            places=tuple(sorted(self.places, key=order.index)),
            waiting=tuple(sorted(self.waiting, key=order.index)),
            asked=self.asked,
            looked_at=self.looked_at,
            pending=self.pending,
            skipped=self.looked_at - self.pending,
            degraded=tuple(sorted(self.degraded)),
            spilled_to=self.spilled_to,
        )
