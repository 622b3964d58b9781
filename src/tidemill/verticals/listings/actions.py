"""What a person can do with markets: list, add, change and scrape now."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.freshness import ConfidenceDecay
from tidemill.core.run import Trigger
from tidemill.operations.mistakes import Conflict, Mistake, NotFound
from tidemill.operations.plans import CreateTargets, TargetTemplate
from tidemill.operations.runs import Started
from tidemill.operations.why.explanation import Explainer, Explanation
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.ports import Clock
from tidemill.store.ledger.scheduling import DispatchRepository
from tidemill.store.upkeep.audit import AuditLog
from tidemill.verticals.listings.market import MARKETS, TEMPLATE, Market, market_problems, template_problem
from tidemill.verticals.listings.market_proof import WINDOW, MarketShortfall, shortfalls_of
from tidemill.verticals.listings.store.markets import Markets
from tidemill.verticals.listings.why import why_market


class MarketActions:
    """Manages markets by hand; every action is audited."""

    def __init__(
        self,
        repository: Markets,
        queue: DispatchRepository,
        dispatcher: Dispatcher,
        audit: AuditLog,
        clock: Clock,
        decay: ConfidenceDecay,
        wake: Callable[[int], None],
    ) -> None:
        """`wake` tells workers that there is work."""
        self._repository = repository
        self._queue = queue
        self._dispatcher = dispatcher
        self._audit = audit
        self._clock = clock
        self._decay = decay
        self._wake = wake

    async def every(self) -> list[Market]:
        """Return all markets, the hot ones first."""
        return await self._repository.every()

    async def find(self, market_id: str) -> Market:
        """Return a market; raise `NotFound` if there is none."""
        market = await self._repository.find(market_id)
        if market is None:
            known = ", ".join(one.id for one in await self._repository.every())
            msg = f"there is no market {market_id!r}; there are {known}"
            raise NotFound(msg)
        return market

    async def add(self, market: Market, actor: str) -> Market:
        """Add a market, which every source with a market template then covers."""
        self._require_valid(market)
        now = self._clock.now()
        entry = AuditEntry(actor, "market.add", f"market {market.id}")
        if not await self._repository.add(market, now, [entry]):
            msg = f"there is a market {market.id!r} already; change it instead, or choose another id"
            raise Conflict(msg)
        await self._repository.create_targets(now)
        return await self.find(market.id)

    async def change(self, market_id: str, changes: dict[str, Any], actor: str) -> Market:
        """Change a market; fields that are not named stay."""
        before = await self.find(market_id)
        after = msgspec.structs.replace(before, **changes)
        self._require_valid(after)
        now = self._clock.now()
        detail = {
            name: {"was": getattr(before, name), "is": value}
            for name, value in sorted(changes.items())
            if getattr(before, name) != value
        }
        await self._repository.change(after, now, [AuditEntry(actor, "market.change", f"market {market_id}", detail)])
        await self._repository.create_targets(now)
        return after

    async def scrape(self, market_id: str, actor: str) -> Started:
        """Scrape a market now, from every source that covers it, under the same limits as any work."""
        market = await self.find(market_id)
        if not market.enabled:
            msg = f"market {market_id!r} is switched off; enable it first"
            raise Conflict(msg)
        await self._repository.create_targets(self._clock.now())
        keys = await self._repository.targets_of(market_id)
        if not keys:
            msg = f"no source covers market {market_id!r}; add one with a `market_url`, see docs/listings.md"
            raise Mistake(msg)
        note = AuditEntry(actor, "market.scrape", f"market {market_id}")
        await self._audit.note([note], self._clock.now())
        done, answer = await self._dispatcher.enqueue(await self._queue.of_targets(keys), Trigger.MANUAL)
        self._wake(done.workers)
        wait = answer.retry_after.total_seconds() if answer.retry_after else None
        notes = [] if done.jobs or answer.rejected else ["every target of this market is at work already"]
        return Started(
            run_ids=done.run_ids,
            jobs=done.jobs,
            rejected=answer.rejected,
            reason=answer.reason,
            retry_after_seconds=wait,
            notes=notes,
        )

    async def homes_of(self, market_id: str) -> int:
        """Return how many homes are kept of a market, whatever became of them."""
        return await self._repository.homes_of(market_id)

    async def remove(self, market_id: str, actor: str) -> Market:
        """Remove a market that no home belongs to, and switch its targets off; refuse one with homes."""
        market = await self.find(market_id)
        if homes := await self._repository.homes_of(market_id):
            msg = f"{homes} homes belong to market {market_id!r} and would lose their city; switch it off instead"
            raise Conflict(msg)
        now = self._clock.now()
        entry = AuditEntry(actor, "market.remove", f"market {market_id}", msgspec.to_builtins(market))
        if not await self._repository.remove(market_id, now, [entry]):
            msg = f"homes were found in market {market_id!r} meanwhile; switch it off instead"
            raise Conflict(msg)
        await self._repository.create_targets(now)
        return market

    async def create_targets(self) -> int:
        """Create the targets of every source that covers markets, and return how many changed."""
        return await self._repository.create_targets(self._clock.now())

    async def shortfalls(self) -> list[MarketShortfall]:
        """Return the markets that fall behind their schedule."""
        return await market_shortfalls(self._repository, self._clock.now())

    async def explain(self, market_id: str) -> Explanation:
        """Explain when a market is scraped, and where that falls behind its schedule."""
        market = await self.find(market_id)
        sources = (await self._repository.covered()).get(market_id, 0)
        shortfalls = [shortfall for shortfall in await self.shortfalls() if shortfall.market == market_id]
        return why_market(market, sources, shortfalls, self._clock.now())

    @property
    def explainer(self) -> Explainer:
        """Explains `market:ID`."""
        return Explainer("market", "market:ID", self.explain)

    def _require_valid(self, market: Market) -> None:
        if problems := market_problems(market, self._decay):
            raise Mistake("; ".join(problems))


def market_template(create_targets: CreateTargets) -> TargetTemplate:
    """Return the template of the setting that gives a source a target for each market."""
    return TargetTemplate(TEMPLATE, template_problem, create_targets, beside=MARKETS)


async def market_shortfalls(repository: Markets, now: datetime) -> list[MarketShortfall]:
    """Compare every market's schedule with the ledger."""
    since = now - WINDOW
    jobs, sizes = await repository.jobs_since(since), await repository.sizes(since)
    return shortfalls_of(await repository.every(), await repository.covered(), jobs, sizes, now)
