"""Offers as they were at a moment: the newest price until then that readers may see, with what was said about it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views.past import Cause, record_before, was_ended
from tidemill.reading.stock import Availability
from tidemill.store.database.database import Database
from tidemill.store.records.causes import causes_between
from tidemill.store.records.past import lines_after
from tidemill.store.schema import record_history
from tidemill.verticals.prices.store.items import SOLD_OUT
from tidemill.verticals.prices.store.tables import prices, product_links, source_products
from tidemill.verticals.prices.store.visibility import visible_prices
from tidemill.verticals.prices.views import OfferFilter, OfferView

_OF_PRODUCT = ("id", "source_id", "retailer", "identity_key", "record", "gone_at")
_OF_PRICE = (
    "source_name", "price_cents", "currency", "availability", "cost_per_round_cents", "shipping_cents", "tax_included",
    "corrected", "observed_at",
)  # fmt: skip
PRICED = "priced"
"""The cause of an offer that asks another price."""
_FROM_RECORD = ("url", "title", "brand", "upc")


class PastOffers:
    """Reads offers as of a moment; which product an offer stands for is what holds now."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def offers(
        self, which: OfferFilter, moment: datetime, *, after: int = 0, limit: int = 100
    ) -> list[OfferView]:
        """Return offers that were there at a moment, in order of key; `after` is the last key already seen."""
        found: list[OfferView] = []
        place: int | None = after
        while place is not None and len(found) < limit:
            page, place = await self._page(moment, place, limit)
            found += [offer for offer in page if _was_wanted(offer, which)]
        return found[:limit]

    async def causes(self, keys: Sequence[int], begin: datetime, end: datetime) -> Mapping[int, Sequence[Cause]]:
        """Return what made offers what they became between two moments: what was read of them, and every price."""
        price = prices.c
        read = (
            select(price.source_product_id, price.ingestion_run_id, price.observed_at)
            .where(price.source_product_id.in_(keys), price.change_seq.is_not(None))
            .where(price.observed_at > begin, price.observed_at <= end)
            .order_by(price.id)
        )
        async with self._database.published() as connection:
            found = await causes_between(connection, "prices", source_products, keys, begin, end)
            known = {key: list(causes) for key, causes in found.items()}
            for row in await connection.execute(read):
                cause = Cause(kind=PRICED, run_id=row.ingestion_run_id or 0, at=row.observed_at)
                known.setdefault(row.source_product_id, []).append(cause)
        return known

    async def _page(self, moment: datetime, after: int, limit: int) -> tuple[list[OfferView], int | None]:
        """Return the next offers, whatever is asked of them, and the last key or None at the end."""
        async with self._database.published() as connection:
            rows = (await connection.execute(offers_at(moment, after, limit))).mappings().all()
            keys = [row["id"] for row in rows]
            lines = await lines_after(connection, "prices", keys, moment)
            sold_out = await _sold_out_at(connection, keys, moment)
        there = [row for row in rows if not was_ended(row["gone_at"] is not None, lines.get(row["id"], ()))]
        last = rows[-1]["id"] if len(rows) == limit else None
        return [
            _as_it_was(row, record_before(_record(row), lines.get(row["id"], ())), is_out=row["id"] in sold_out)
            for row in there
        ], last


async def _sold_out_at(connection: AsyncConnection, keys: Sequence[int], moment: datetime) -> set[int]:
    """Return the products whose page said 'sold out' without a price later than it said any price."""
    line = record_history.c
    said = (
        select(line.record_id, func.max(line.created_at).label("at"))
        .where(line.vertical == "prices", line.record_id.in_(keys), line.kind == SOLD_OUT, line.created_at <= moment)
        .group_by(line.record_id)
        .subquery()
    )
    priced = (
        select(prices.c.id)
        .where(prices.c.source_product_id == said.c.record_id, prices.c.observed_at <= moment)
        .where(prices.c.observed_at > said.c.at)
        .correlate(said)
        .exists()
    )
    return set((await connection.execute(select(said.c.record_id).where(~priced))).scalars())


def offers_at(moment: datetime, after: int, limit: int) -> Select[Any]:
    """The products that had a price which may be seen, in order of key."""
    price, inner = visible_prices("price", as_of=moment), visible_prices("newest", as_of=moment)
    newest = (
        select(inner.c.id)
        .where(inner.c.source_product_id == source_products.c.id)
        .order_by(inner.c.observed_at.desc(), inner.c.id.desc())
        .limit(1)
        .correlate(source_products)
        .scalar_subquery()
    )
    there = source_products.join(price, price.c.id == newest).outerjoin(
        product_links, product_links.c.source_product_id == source_products.c.id
    )
    columns = (
        *(source_products.c[name] for name in _OF_PRODUCT),
        *(price.c[name] for name in _OF_PRICE),
        price.c.id.label("price_id"),
    )
    return (
        select(*columns, product_links.c.product_id)
        .select_from(there)
        .where(source_products.c.id > after, source_products.c.first_seen_at <= moment)
        .order_by(source_products.c.id)
        .limit(limit)
    )


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = msgspec.json.decode(row["record"])
    return record


def _as_it_was(row: Mapping[Any, Any], record: Mapping[str, Any], *, is_out: bool) -> OfferView:
    kept = {name: value for name, value in row.items() if name not in {"record", "gone_at", "availability"}}
    told: dict[str, Any] = {name: record.get(name) for name in _FROM_RECORD}
    availability = Availability.OUT_OF_STOCK.value if is_out else row["availability"]
    return OfferView(**kept, **told, availability=availability, last_seen_at=None)


def _was_wanted(offer: OfferView, which: OfferFilter) -> bool:
    """Return whether an offer as it was is one that is asked for."""
    return (
        which.product_id in {None, offer.product_id}
        and which.source in {None, offer.source_name}
        and which.availability in {None, offer.availability}
        and (which.text or "").casefold() in offer.title.casefold()
    )
