"""Explains a market: its schedule, its breaker, its sources, and whether it is behind schedule."""

from collections.abc import Sequence
from datetime import datetime

from tidemill.operations.why.explanation import (
    Explanation,
    Step,
    blocking_step,
    explanation_of,
    format_relative,
    info_step,
    passing_step,
)
from tidemill.verticals.listings.market import BROKEN_AFTER, Market
from tidemill.verticals.listings.market_proof import MarketShortfall


def why_market(market: Market, sources: int, shortfalls: Sequence[MarketShortfall], now: datetime) -> Explanation:
    """Explain every gate before a market's next scrape, and where it is behind schedule."""
    steps = [
        _switch(market),
        _sources(sources),
        _breaker(market),
        _schedule(market, now),
        info_step("last scrape", _last(market, now)),
        info_step("most homes", f"{market.max_listings} are taken at a time"),
        *(blocking_step(f"proof of work ({shortfall.rule})", shortfall.words) for shortfall in shortfalls),
    ]
    hours = market.every.total_seconds() / 3600
    return explanation_of(
        f"market {market.id}", steps, f"{market.display_name} is scraped every {hours:g} h, as it should be"
    )


def _switch(market: Market) -> Step:
    if market.enabled:
        return passing_step("market on", f"tier {market.tier}")
    return blocking_step("market on", f"switched off; `tidemill markets enable {market.id}` takes it up again")


def _sources(sources: int) -> Step:
    if sources:
        return passing_step("sources", f"{sources} of them cover it")
    return blocking_step("sources", "none covers it; add a source of the listings vertical with a `market_url`")


def _breaker(market: Market) -> Step:
    if not market.is_broken:
        return passing_step("market breaker", f"{market.consecutive_failures} of {BROKEN_AFTER} failures in a row")
    return blocking_step(
        "market breaker",
        f"{market.consecutive_failures} failures in a row: one fresh try a day, and all is forgiven at 03:00 UTC",
    )


def _schedule(market: Market, now: datetime) -> Step:
    due = market.due_at()
    return info_step("next scrape", "as soon as it is dispatched" if due is None else format_relative(due, now))


def _last(market: Market, now: datetime) -> str:
    brought = "none yet" if market.last_scrape_at is None else format_relative(market.last_scrape_at, now)
    if market.last_scrape_status == "failed":
        return f"failed; the last that did not: {brought}"
    return "never" if market.last_scrape_at is None else f"{market.last_scrape_status} {brought}"
