"""The one place that decides which prices readers may see, and what they see of them.

Every question that a reader can ask is put to `visible_prices`; nothing else that answers readers names the table.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, Subquery, and_, case, func, or_, select, true

from tidemill.core.source import Visibility
from tidemill.store.schema import sources
from tidemill.verticals.prices.store.items import RUN_TYPE
from tidemill.verticals.prices.store.tables import price_corrections, prices

IGNORE, CORRECT, REVOKE = "IGNORE", "CORRECT", "REVOKE"

may_be_seen = or_(prices.c.ingestion_run_type != RUN_TYPE, sources.c.visibility == Visibility.ELIGIBLE)


def _newest_correction(as_of: datetime | None) -> ScalarSelect[Any]:
    """The last word about a price, or the last until a moment."""
    query = select(price_corrections.c.id).where(price_corrections.c.price_id == prices.c.id)
    if as_of is not None:
        query = query.where(price_corrections.c.made_at <= as_of)
    newest = query.order_by(price_corrections.c.made_at.desc(), price_corrections.c.id.desc()).limit(1)
    return newest.correlate(prices).scalar_subquery()


_is_corrected = func.coalesce(price_corrections.c.kind == CORRECT, False)
_cents = case((_is_corrected, price_corrections.c.price_cents), else_=prices.c.price_cents)
_currency = case(
    (and_(_is_corrected, price_corrections.c.currency.is_not(None)), price_corrections.c.currency),
    else_=prices.c.currency,
)
_KEPT = [
    prices.c[name]
    for name in (
        "id", "source_product_id", "source_id", "availability", "shipping_cents", "tax_included", "ingestion_run_type",
        "ingestion_run_id", "observed_at", "change_seq", "was_cents", "was_currency", "was_availability",
    )
]  # fmt: skip


def _until(as_of: datetime | None) -> ColumnElement[bool]:
    return true() if as_of is None else prices.c.observed_at <= as_of


def visible_prices(name: str, *, corrected: bool = True, as_of: datetime | None = None) -> Subquery:
    """The prices that readers may see: scraped ones only of sources that a person has made eligible.

    With `corrected`, what people said about a price is applied: ignored ones are left out, corrected ones show
    their new amount. Without, they are as they were read; who may see them is the same. With `as_of`, prices and
    corrections until that moment; who may see them is decided by what holds now.
    """
    joined: FromClause = prices.join(sources, sources.c.id == prices.c.source_id)
    raw = (*_KEPT, sources.c.name.label("source_name"), prices.c.price_cents.label("raw_cents"))
    if not corrected:
        plain = (prices.c.price_cents, prices.c.currency, prices.c.cost_per_round_cents)
        nothing = select(*raw, *plain, (prices.c.id < 0).label("corrected"))
        return nothing.select_from(joined).where(may_be_seen).subquery(name)
    per_round = prices.c.cost_per_round_cents * _cents / prices.c.price_cents
    shown = (
        _cents.label("price_cents"),
        _currency.label("currency"),
        per_round.label("cost_per_round_cents"),
        _is_corrected.label("corrected"),
    )
    return (
        select(*raw, *shown)
        .select_from(joined.outerjoin(price_corrections, price_corrections.c.id == _newest_correction(as_of)))
        .where(may_be_seen, func.coalesce(price_corrections.c.kind, "") != IGNORE, _until(as_of))
        .subquery(name)
    )
