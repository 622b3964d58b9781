"""All that is kept about one price, one shop's product or one product, for whoever asks why; readers see less."""

from typing import Any

from sqlalchemy import Select, func, select

from tidemill.store.database.database import Database
from tidemill.store.schema import sources
from tidemill.verticals.prices.store.tables import price_corrections, prices, product_links, products, source_products
from tidemill.verticals.prices.views import OfferFacts, PriceFacts, ProductFacts

MOST_OFFERS_TOLD, MOST_CORRECTIONS_TOLD = 50, 20
_VISIBILITY = (
    func.coalesce(sources.c.name, "").label("source_name"),
    func.coalesce(sources.c.visibility, "").label("visibility"),
)
_OFFER = (
    *(source_products.c[name] for name in ("id", "title", "url", "price_id", "last_seen_at", "gone_at", "out_since")),
    *(source_products.c[name] for name in ("held_cents", "held_currency", "held_at", "held_run_id")),
    product_links.c.product_id, product_links.c.linked_by, *_VISIBILITY,
    *(product_links.c[name].label(f"link_{name}") for name in ("status", "reason", "detail")),
)  # fmt: skip
_OFFERS = source_products.outerjoin(product_links, product_links.c.source_product_id == source_products.c.id).outerjoin(
    sources, sources.c.id == source_products.c.source_id
)


class PriceStories:
    """Reads what an explanation is made of."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def price(self, price_id: int) -> PriceFacts | None:
        """A price as it was read, with its offer and what people said about it; None if there is none."""
        rows = await self._rows(select(prices).where(prices.c.id == price_id))
        if not rows:
            return None
        row = rows[0]
        offers = await self._offers(source_products.c.id == row["source_product_id"])
        said = await self._rows(
            select(price_corrections)
            .where(price_corrections.c.price_id == price_id)
            .order_by(price_corrections.c.made_at.desc(), price_corrections.c.id.desc())
            .limit(MOST_CORRECTIONS_TOLD)
        )
        return PriceFacts(row=dict(row), offer=offers[0] if offers else None, said=[dict(each) for each in said])

    async def product(self, product_id: int) -> ProductFacts | None:
        """A product with every offer that stands for it, also those that readers do not see."""
        rows = await self._rows(select(products).where(products.c.id == product_id))
        if not rows:
            return None
        return ProductFacts(row=dict(rows[0]), offers=await self._offers(product_links.c.product_id == product_id))

    async def _offers(self, condition: Any) -> list[OfferFacts]:
        query = select(*_OFFER).select_from(_OFFERS).where(condition).order_by(source_products.c.id)
        return [OfferFacts(**row) for row in await self._rows(query.limit(MOST_OFFERS_TOLD))]

    async def _rows(self, query: Select[Any]) -> list[Any]:
        async with self._database.read() as connection:
            return list((await connection.execute(query)).mappings())
