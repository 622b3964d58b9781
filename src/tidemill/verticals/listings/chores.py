"""The periodic work of markets and their homes: lay out targets, verify what fades, prove that all were scraped."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from tidemill.core.schedules import Cron, Every
from tidemill.engine.periodic import Chore
from tidemill.pipeline.happenings import Announce, Overdue
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.verify import Verifier
from tidemill.verticals.listings.market_proof import MarketDoubt
from tidemill.verticals.listings.store.markets import Markets
from tidemill.verticals.listings.store.verification import Verification

HOURLY = Every(timedelta(hours=1))
NIGHTLY = Cron("0 3 * * *")


class MarketChores:
    """The chores, and what they have told already."""

    def __init__(
        self,
        clock: Clock,
        announce: Announce,
        markets: Markets,
        verification: Verification,
        verifier: Verifier,
        doubts: Callable[[], Awaitable[Sequence[MarketDoubt]]],
    ) -> None:
        """`doubts` tells which markets fall short of their schedule."""
        self._clock = clock
        self._announce = announce
        self._markets = markets
        self._verification = verification
        self._verifier = verifier
        self._doubts = doubts
        self._told: set[tuple[str, str]] = set()

    def ticks(self) -> list[Chore]:
        """Each chore with how often it is due, in UTC."""
        return [
            Chore("markets", HOURLY, self.lay_out),
            Chore("freshness", HOURLY, self.freshen),
            Chore("market_breakers", NIGHTLY, self.reset_breakers),
            Chore("market_proof", HOURLY, self.prove),
        ]

    async def lay_out(self) -> str:
        """Turn markets into targets: a new city is one insert, and this finds it."""
        return f"{await self._markets.lay_out(self._clock.now())} targets changed"

    async def freshen(self) -> str:
        """Look up what fades while there is time, then let go of what nobody could vouch for."""
        verified = await self._verifier.verify()
        ended = await self._verification.end_faded(self._clock.now())
        return f"{verified}; {ended} faded away"

    async def reset_breakers(self) -> str:
        """One fresh try a day for markets that were left alone."""
        return f"{await self._markets.reset_breakers(self._clock.now())} markets"

    async def prove(self) -> str:
        """Say which markets fall short of what their schedule promises, even if nothing was ever written for them.

        Each doubt is announced once, when it comes up, and again only after it was over. `/status` shows all of them
        for as long as they last.
        """
        found = {(doubt.market, doubt.rule): doubt for doubt in await self._doubts()}
        for key in sorted(found.keys() - self._told):
            self._announce(Overdue(self._clock.now(), f"market {found[key].market}", found[key].words))
        self._told.intersection_update(found)
        self._told.update(found)
        return f"{len(found)} doubts"
