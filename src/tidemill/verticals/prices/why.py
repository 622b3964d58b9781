"""Explains a price (where it was read, who may see it, what people said of it) and a product (which offers it has)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tidemill.core.source import Visibility
from tidemill.operations.mistakes import parse_key, require_found
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
from tidemill.pipeline.ports import Clock
from tidemill.reading.currency_codes import in_units
from tidemill.verticals.prices.store.items import RUN_TYPE
from tidemill.verticals.prices.store.stories import PriceStories
from tidemill.verticals.prices.store.visibility import CORRECT, IGNORE
from tidemill.verticals.prices.views import OfferFacts, PriceFacts, ProductFacts


def price_explainers(stories: PriceStories, clock: Clock) -> list[Explainer]:
    """Return the explainers of `price:ID` and `product:ID`."""

    async def price(name: str) -> Explanation:
        found = require_found(await stories.price(parse_key("price", name)), "price", name)
        return why_price(found, clock.now())

    async def product(name: str) -> Explanation:
        found = require_found(await stories.product(parse_key("product", name)), "product", name)
        return why_product(found, clock.now())

    return [
        Explainer("price", "price:ID", price, is_record=True),
        Explainer("product", "product:ID", product, is_record=True),
    ]


def why_price(facts: PriceFacts, now: datetime) -> Explanation:
    """Explain a price, from the page it was read on to what readers see of it."""
    row, offer = facts.row, facts.offer
    steps = [
        info_step("read", _read(row, now)),
        *([info_step("offer", f"{offer.title} ({offer.url})")] if offer is not None else []),
        *_seen_by_readers(row, offer),
        *_newest(row, offer),
        *(_said(each, now) for each in facts.said),
    ]
    last = facts.said[0] if facts.said else None
    if last is not None and last["kind"] == IGNORE:
        return Explanation(f"price {row['id']}", f"no reader sees it: {last['made_by']} said {last['reason']!r}", steps)
    shown = money(row["price_cents"], row["currency"])
    if last is not None and last["kind"] == CORRECT:
        shown = f"{money(last['price_cents'], last['currency'] or row['currency'])} in place of {shown}, as corrected"
    return explanation_of(f"price {row['id']}", steps, f"readers see {shown}")


def why_product(facts: ProductFacts, now: datetime) -> Explanation:
    """Explain a product: who made it, which offers stand for it and why, and which of them readers see."""
    row = facts.row
    steps = [
        info_step("made", f"by {row['made_by']}, {format_relative(row['created_at'], now)}"),
        *([info_step("UPC", str(row["upc"]))] if row["upc"] else []),
        *(_offer(each, now) for each in facts.offers),
    ]
    seen = sum(_is_seen(each) for each in facts.offers)
    if not seen:
        steps.append(blocking_step("offers", "none that readers may see stands for it"))
    return explanation_of(f"product {row['id']}", steps, f"readers see it with {seen} of {len(facts.offers)} offers")


def _read(row: Mapping[str, Any], now: datetime) -> str:
    page = f"on page {row['page_id']}" if row["page_id"] else "on a page that is no longer kept"
    by = f" by {row['adapter_version']}" if row["adapter_version"] else ""
    amount = money(row["price_cents"], row["currency"])
    stock = str(row["availability"]).lower().replace("_", " ")
    return f"{amount}, {stock}, {page}{by} in run {row['ingestion_run_id']}, {format_relative(row['observed_at'], now)}"


def _seen_by_readers(row: Mapping[str, Any], offer: OfferFacts | None) -> list[Step]:
    if row["ingestion_run_type"] != RUN_TYPE:
        return [passing_step("visible", f"it came by {str(row['ingestion_run_type']).lower()}, not by scraping")]
    if offer is None or not offer.source_name:
        return [blocking_step("visible", "its source was removed")]
    if offer.visibility == Visibility.ELIGIBLE:
        return [passing_step("visible", f"{offer.source_name} is eligible")]
    words = f"{offer.source_name} is {offer.visibility.lower()}; a person has to make it eligible first"
    return [blocking_step("visible", words)]


def _newest(row: Mapping[str, Any], offer: OfferFacts | None) -> list[Step]:
    if offer is None:
        return []
    steps = []
    if offer.price_id == row["id"]:
        steps.append(info_step("newest", "it is what the shop asks now"))
    elif offer.price_id is not None:
        steps.append(info_step("newest", f"price {offer.price_id} came after it"))
    if offer.held_cents is not None and offer.held_at is not None:
        held = money(offer.held_cents, offer.held_currency or "")
        steps.append(info_step("held back", f"{held}, read in run {offer.held_run_id}, waits for a second reading"))
    return steps


def _said(said: Mapping[str, Any], now: datetime) -> Step:
    amount = "" if said["price_cents"] is None else f" as {money(said['price_cents'], said['currency'] or '')}"
    kind = str(said["kind"]).lower()
    return info_step(kind, f"{said['made_by']}{amount}: {said['reason']}, {format_relative(said['made_at'], now)}")


def _offer(offer: OfferFacts, now: datetime) -> Step:
    by = f"linked by {offer.linked_by}: {str(offer.link_reason).lower().replace('_', ' ')}"
    detail = f" ({offer.link_detail})" if offer.link_detail else ""
    name = f"{offer.source_name or 'a removed source'}: {offer.title}"
    if offer.gone_at is not None:
        return info_step(f"offer {offer.id}", f"{name}; gone {format_relative(offer.gone_at, now)}; {by}{detail}")
    if offer.visibility != Visibility.ELIGIBLE:
        return info_step(
            f"offer {offer.id}", f"{name}; hidden, because its source is {offer.visibility.lower() or 'gone'}; {by}"
        )
    return passing_step(f"offer {offer.id}", f"{name}; {by}{detail}")


def _is_seen(offer: OfferFacts) -> bool:
    return offer.gone_at is None and offer.price_id is not None and offer.visibility == Visibility.ELIGIBLE


def money(cents: int, currency: str) -> str:
    """Return an amount with its currency."""
    return f"{in_units(cents, currency):,} {currency}".strip()
