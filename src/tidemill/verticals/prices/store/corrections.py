"""Corrections: what people say about prices, laid over them and never into them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import func, select

from tidemill.core.audit import AuditEntry
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import sources
from tidemill.store.upkeep.audit import take_keys, write_audit
from tidemill.verticals.prices.store.tables import price_corrections, prices, source_products
from tidemill.verticals.prices.store.visibility import may_be_seen
from tidemill.verticals.prices.views import CorrectionView

_INSERT = price_corrections.insert()
_MADE = (
    select(
        price_corrections,
        prices.c.price_cents.label("raw_cents"),
        prices.c.currency.label("raw_currency"),
        source_products.c.title,
        func.coalesce(sources.c.name, "").label("source_name"),
    )
    .join(prices, prices.c.id == price_corrections.c.price_id)
    .join(source_products, source_products.c.id == prices.c.source_product_id)
    .outerjoin(sources, sources.c.id == prices.c.source_id)
    .order_by(price_corrections.c.id.desc())
)


class Correction(msgspec.Struct, frozen=True, kw_only=True):
    """What is said about a price, by whom and why."""

    kind: str
    reason: str
    made_by: str
    price_cents: int | None = None
    currency: str | None = None


class CorrectionRepository:
    """Where corrections are kept; the newest of a price holds."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def known(self, price_ids: Sequence[int]) -> list[int]:
        """Those of the prices that exist."""
        query = select(prices.c.id).where(prices.c.id.in_(list(price_ids))).order_by(prices.c.id)
        return await self._keys(query)

    async def of_run(self, run_id: int) -> list[int]:
        """Every price that a run brought."""
        return await self._keys(select(prices.c.id).where(prices.c.ingestion_run_id == run_id).order_by(prices.c.id))

    async def make(
        self, price_ids: Sequence[int], said: Correction, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Say the same about each of these prices, in one transaction."""
        keys = await take_keys(self._ids, len(price_ids) + len(audit))
        what = {**msgspec.structs.asdict(said), "made_at": now}
        rows = [{"id": key, "price_id": price, **what} for key, price in zip(keys, price_ids, strict=False)]
        async with self._database.write() as connection:
            await write_each(connection, _INSERT, rows)
            await write_audit(connection, zip(keys[len(price_ids) :], audit, strict=True), now)

    async def made(
        self, *, price_id: int | None = None, before: int | None = None, limit: int = 100, visible_only: bool = False
    ) -> list[CorrectionView]:
        """The newest corrections first; `visible_only` leaves out those of prices that no reader may see."""
        query = _MADE.limit(limit)
        if visible_only:
            query = query.where(may_be_seen)
        if price_id is not None:
            query = query.where(price_corrections.c.price_id == price_id)
        if before is not None:
            query = query.where(price_corrections.c.id < before)
        async with self._database.read() as connection:
            return [CorrectionView(**row) for row in (await connection.execute(query)).mappings()]

    async def _keys(self, query: Any) -> list[int]:
        async with self._database.read() as connection:
            return list((await connection.execute(query)).scalars())
