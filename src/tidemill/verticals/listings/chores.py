"""The chores of markets: create targets, verify records of low confidence, report markets behind schedule."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from tidemill.core.schedules import Cron, Every
from tidemill.engine.periodic import Chore
from tidemill.pipeline.happenings import Announce, Overdue
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.verify import Verifier
from tidemill.verticals.listings.market_proof import MarketShortfall
from tidemill.verticals.listings.store.markets import Markets
from tidemill.verticals.listings.store.verification import Verification

HOURLY = Every(timedelta(hours=1))
NIGHTLY = Cron("0 3 * * *")


class MarketChores:
    """The chores, and the shortfalls that they have reported."""

    def __init__(
        self,
        clock: Clock,
        announce: Announce,
        markets: Markets,
        verification: Verification,
        verifier: Verifier,
        shortfalls: Callable[[], Awaitable[Sequence[MarketShortfall]]],
    ) -> None:
        """`shortfalls` returns the markets that fall behind their schedule."""
        self._clock = clock
        self._announce = announce
        self._markets = markets
        self._verification = verification
        self._verifier = verifier
        self._shortfalls = shortfalls
        self._reported: set[tuple[str, str]] = set()

    def chores(self) -> list[Chore]:
        """Return the chores with their default schedules in UTC."""
        return [
            Chore("markets", HOURLY, self.create_targets),
            Chore("freshness", HOURLY, self.verify_records),
            Chore("market_breakers", NIGHTLY, self.reset_breakers),
            Chore("market_proof", HOURLY, self.report_shortfalls),
        ]

    async def create_targets(self) -> str:
        """Create the targets of new and changed markets."""
        return f"{await self._markets.create_targets(self._clock.now())} targets changed"

    async def verify_records(self) -> str:
        """Verify records of low confidence, then hide those that could not be verified in time."""
        verified = await self._verifier.verify()
        ended = await self._verification.end_faded(self._clock.now())
        return f"{verified}; {ended} faded away"

    async def reset_breakers(self) -> str:
        """Give broken markets a new try, once a day."""
        return f"{await self._markets.reset_breakers(self._clock.now())} markets"

    async def report_shortfalls(self) -> str:
        """Announce the markets that fall behind their schedule, even if nothing was ever written for them.

        Each shortfall is announced once, and again only after it was over. `/status` shows all of them
        for as long as they last.
        """
        found = {(shortfall.market, shortfall.rule): shortfall for shortfall in await self._shortfalls()}
        for key in sorted(found.keys() - self._reported):
            self._announce(Overdue(self._clock.now(), f"market {found[key].market}", found[key].words))
        self._reported.intersection_update(found)
        self._reported.update(found)
        return f"{len(found)} doubts"
