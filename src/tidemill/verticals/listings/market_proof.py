"""Compares the schedules of markets with what the ledger shows."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.freshness import ConfidenceDecay, decay_problem
from tidemill.verticals.listings.market import Market

WINDOW = timedelta(hours=48)
"""How far back jobs are counted: two scrapes of the slowest tier."""
TOO_LATE = 2
"""Intervals without a scrape after which a market is overdue."""
TOO_FEW = 0.5
"""The share of the jobs that the schedule implies, under which something is wrong."""


class MarketShortfall(msgspec.Struct, frozen=True):
    """A market that falls behind its schedule, and how."""

    market: str
    rule: str
    words: str


def shortfalls_of(
    markets: Sequence[Market],
    covered: Mapping[str, int],
    jobs: Mapping[str, int],
    sizes: Mapping[str, int],
    now: datetime,
) -> list[MarketShortfall]:
    """Return every market that is overdue, got too few jobs, exceeds its limit, or is scraped too rarely."""
    found: list[MarketShortfall] = []
    for market in markets:
        if not market.enabled or not covered.get(market.id):
            continue
        checks = (
            overdue(market, now),
            too_few_jobs(market, covered[market.id], jobs.get(market.id, 0), now),
            too_low_a_limit(market, sizes.get(market.id)),
            too_slow(market),
        )
        found += [shortfall for shortfall in checks if shortfall is not None]
    return found


def overdue(market: Market, now: datetime) -> MarketShortfall | None:
    """Return a shortfall if no scrape succeeded for more than two of the market's intervals."""
    since = market.last_scrape_at or market.created_at
    if since is None or now - since <= TOO_LATE * market.every:
        return None
    hours = (now - since) / timedelta(hours=1)
    never = "was never scraped, and is there for" if market.last_scrape_at is None else "was not scraped for"
    failed = "; the last try failed" if market.last_scrape_status == "failed" else ""
    should = f"it should be every {market.every / timedelta(hours=1):g} h"
    return MarketShortfall(market.id, "overdue", f"{never} {hours:.0f} h; {should}{failed}")


def too_few_jobs(market: Market, sources: int, jobs: int, now: datetime) -> MarketShortfall | None:
    """Return a shortfall if the market got under half of the jobs that its schedule implies."""
    if market.created_at is None or now - market.created_at < WINDOW:
        return None
    implied = sources * int(WINDOW / market.every)
    if jobs >= implied * TOO_FEW:
        return None
    hours = WINDOW / timedelta(hours=1)
    return MarketShortfall(market.id, "jobs", f"got {jobs} jobs in {hours:g} h where its schedule implies {implied}")


def too_low_a_limit(market: Market, size: int | None) -> MarketShortfall | None:
    """Return a shortfall if the market has more listings than are taken: no run can be complete."""
    if size is None or size <= market.max_listings:
        return None
    return MarketShortfall(
        market.id,
        "cap",
        f"its sites show {size} homes, but only {market.max_listings} are taken: no run can be complete; "
        f"raise max_listings_per_scrape",
    )


def too_slow(market: Market) -> MarketShortfall | None:
    """Return a shortfall if listings would be hidden between two scrapes."""
    problem = decay_problem(ConfidenceDecay(), market.tier, market.every)
    return None if problem is None else MarketShortfall(market.id, "rhythm", problem)
