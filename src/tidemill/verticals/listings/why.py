"""Explains a home (whether readers see it, who says what of it) and a market (its schedule, breaker and sources)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from tidemill.core.freshness import ConfidenceDecay
from tidemill.operations.mistakes import NotFound, parse_key, require_found, unknown_name
from tidemill.operations.why.explanation import (
    Explainer,
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
from tidemill.verticals.listings.views import ListingDetail

MAX_VALUE_LENGTH = 200
MOST_CHANGES = 10


def listing_explainer(
    find: Callable[[int, datetime], Awaitable[ListingDetail | None]],
    decay: ConfidenceDecay,
    now: Callable[[], datetime],
) -> Explainer:
    """Return the explainer of `listing:ID` and `listing:ID.FIELD`."""

    async def explain(name: str) -> Explanation:
        key, _, field = name.partition(".")
        detail = require_found(await find(parse_key("listing", key), now()), "listing", key)
        return why_listing(detail, field, decay, now())

    return Explainer("listing", "listing:ID or listing:ID.FIELD", explain, is_record=True)


def why_listing(detail: ListingDetail, field: str, decay: ConfidenceDecay, now: datetime) -> Explanation:
    """Explain whether readers see a home, and for a field whose word it is and how it changed."""
    home = detail.view
    if field and field not in home.listing:
        raise NotFound(unknown_name("field", field, home.listing))
    steps = [
        _kept(detail, now),
        _sure(detail, decay, now),
        *(_shown(each.source_name, each.url, each.last_seen_at, each.gone_at, now) for each in detail.shown_by),
        *_said_by(detail, field),
        *_checked(detail, now),
        *_changes(detail.history, field),
    ]
    if field:
        value = str(home.listing[field])[:MAX_VALUE_LENGTH]
        return Explanation(f"listing {home.id}.{field}", f"{field} is {value}", steps)
    badge = f", as {home.badge.text!r}" if home.badge is not None else ""
    return explanation_of(f"listing {home.id}", steps, f"readers see it{badge}")


def _kept(detail: ListingDetail, now: datetime) -> Step:
    if detail.view.is_active:
        return passing_step("active", f"first seen {format_relative(detail.view.first_seen_at, now)}")
    gone = "" if detail.gone_at is None else f" since {format_relative(detail.gone_at, now)}"
    return blocking_step("active", f"gone{gone}: {detail.gone_reason or 'no reason is kept'}")


def _sure(detail: ListingDetail, decay: ConfidenceDecay, now: datetime) -> Step:
    home = detail.view
    seen = "when is not kept" if home.last_seen_at is None else format_relative(home.last_seen_at, now)
    words = f"{home.freshness_confidence} of 100, last seen {seen}"
    if home.freshness_confidence >= decay.floor:
        return passing_step("confidence", f"{words}; readers see it from {decay.floor} up")
    return blocking_step("confidence", f"{words}; readers do not see it below {decay.floor}")


def _shown(name: str, url: str, seen: datetime, gone: datetime | None, now: datetime) -> Step:
    until = f", gone from there {format_relative(gone, now)}" if gone is not None else ""
    return info_step(
        "shown by", f"{name or 'a source that was removed'}: {url}, seen {format_relative(seen, now)}{until}"
    )


def _said_by(detail: ListingDetail, field: str) -> list[Step]:
    """Return whose word the record is, or one field of it."""
    names = {each.source_id: each.source_name for each in detail.shown_by}
    usual = detail.provenance.get("", 0)
    if field:
        said = detail.provenance.get(field, usual)
        return [info_step("said by", names.get(said, "a source that no longer shows it"))]
    own = {name: said for name, said in detail.provenance.items() if name and said != usual}
    words = names.get(usual, "a source that no longer shows it")
    others = ", ".join(f"{name} by {names.get(said, 'another')}" for name, said in sorted(own.items()))
    return [info_step("said by", f"{words}; {others}" if others else words)]


def _checked(detail: ListingDetail, now: datetime) -> list[Step]:
    if detail.checked_at is None:
        return []
    return [info_step("last check", f"{format_relative(detail.checked_at, now)}: {detail.check_result or 'no result'}")]


def _changes(history: Sequence[Mapping[str, Any]], field: str) -> list[Step]:
    """Return the latest changes, or those of one field."""
    told = [each for each in history if not field or field in (each["changes"] or {})][:MOST_CHANGES]
    return [
        info_step(
            str(each["kind"]),
            f"run {each['run_id']}, {each['created_at']:%Y-%m-%d %H:%M} UTC"
            + (f": {', '.join(each['changes'])}" if each["changes"] else ""),
        )
        for each in told
    ]


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
