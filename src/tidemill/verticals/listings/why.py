"""Why a market's homes are as fresh as they are: its schedule, its breaker, its sources, and proof of work."""

from collections.abc import Sequence
from datetime import datetime

from tidemill.operations.why.explanation import Explanation, Step, away, concluded, known, passed, stopped
from tidemill.verticals.listings.market import BROKEN_AFTER, Market
from tidemill.verticals.listings.market_proof import MarketDoubt


def why_market(market: Market, sources: int, doubts: Sequence[MarketDoubt], now: datetime) -> Explanation:
    """Every gate between a market and its next scrape, and where it falls short of its schedule."""
    steps = [
        _switch(market),
        _sources(sources),
        _breaker(market),
        _schedule(market, now),
        known("last scrape", _last(market, now)),
        known("most homes", f"{market.max_listings} are taken at a time"),
        *(stopped(f"proof of work ({doubt.rule})", doubt.words) for doubt in doubts),
    ]
    hours = market.every.total_seconds() / 3600
    return concluded(
        f"market {market.id}", steps, f"{market.display_name} is scraped every {hours:g} h, as it should be"
    )


def _switch(market: Market) -> Step:
    if market.enabled:
        return passed("market on", f"tier {market.tier}")
    return stopped("market on", f"switched off; `tidemill markets enable {market.id}` takes it up again")


def _sources(sources: int) -> Step:
    if sources:
        return passed("sources", f"{sources} of them cover it")
    return stopped("sources", "none covers it; add a source of the listings vertical with a `market_url`")


def _breaker(market: Market) -> Step:
    if not market.is_broken:
        return passed("market breaker", f"{market.consecutive_failures} of {BROKEN_AFTER} failures in a row")
    return stopped(
        "market breaker",
        f"{market.consecutive_failures} failures in a row: one fresh try a day, and all is forgiven at 03:00 UTC",
    )


def _schedule(market: Market, now: datetime) -> Step:
    due = market.due_at()
    return known("next scrape", "as soon as it is dispatched" if due is None else away(due, now))


def _last(market: Market, now: datetime) -> str:
    brought = "none yet" if market.last_scrape_at is None else away(market.last_scrape_at, now)
    if market.last_scrape_status == "failed":
        return f"failed; the last that did not: {brought}"
    return "never" if market.last_scrape_at is None else f"{market.last_scrape_status} {brought}"
