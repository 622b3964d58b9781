"""The periodic work of markets and their homes: lay out, verify, let go, prove."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tidemill.core.rhythm import Cron, Every
from tidemill.engine.ticks import Tick
from tidemill.pipeline.happenings import Announce, Overdue
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.verify import Verifier
from tidemill.verticals.listings.market_proof import MarketDoubt
from tidemill.verticals.listings.store.markets import Markets
from tidemill.verticals.listings.store.verification import Verification

MARKET_RHYTHMS: dict[str, Every | Cron] = {
    "markets": Every(timedelta(hours=1)),
    "freshness": Every(timedelta(hours=1)),
    "market_breakers": Cron("0 3 * * *"),
    "market_proof": Every(timedelta(hours=1)),
}
"""How often each piece of work is due, in UTC."""


@dataclass(frozen=True, slots=True)
class MarketHands:
    """What the chores of markets work with."""

    clock: Clock
    announce: Announce
    markets: Markets
    fading: Verification
    verifier: Verifier
    doubts: Callable[[], Awaitable[Sequence[MarketDoubt]]]


def market_work(hands: MarketHands, rhythms: Mapping[str, Every | Cron] = MARKET_RHYTHMS) -> list[Tick]:
    """The list."""
    told: set[tuple[str, str]] = set()
    chores = {
        "markets": lambda: lay_out(hands),
        "freshness": lambda: freshen(hands),
        "market_breakers": lambda: reset_breakers(hands),
        "market_proof": lambda: prove_markets(hands, told),
    }
    return [Tick(name, rhythms[name], chore) for name, chore in chores.items()]


async def lay_out(hands: MarketHands) -> str:
    """Turn markets into targets: a new city is one insert, and this finds it."""
    return f"{await hands.markets.lay_out(hands.clock.now())} targets changed"


async def freshen(hands: MarketHands) -> str:
    """Look up what fades while there is time, then let go of what nobody could vouch for."""
    verified = await hands.verifier.verify()
    ended = await hands.fading.end_faded(hands.clock.now())
    return f"{verified}; {ended} faded away"


async def reset_breakers(hands: MarketHands) -> str:
    """One fresh try a day for markets that were left alone."""
    return f"{await hands.markets.reset_breakers(hands.clock.now())} markets"


async def prove_markets(hands: MarketHands, told: set[tuple[str, str]]) -> str:
    """Say which markets fall short of what their schedule promises, even if nothing was ever written for them.

    Each doubt is announced once, when it comes up; `told` keeps what was, until it is over. `/status` shows all of
    them for as long as they last.
    """
    found = {(doubt.market, doubt.rule): doubt for doubt in await hands.doubts()}
    for key in sorted(found.keys() - told):
        hands.announce(Overdue(hands.clock.now(), f"market {found[key].market}", found[key].words))
    told.intersection_update(found)
    told.update(found)
    return f"{len(found)} doubts"
