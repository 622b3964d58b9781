"""What readers ask about prices. Every query here is built from `visible_prices`; a test walks them all."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, Table, case, func, or_, select

from tidemill.core.source import Visibility
from tidemill.reading.stock import Availability
from tidemill.store.database.database import Database
from tidemill.store.database.text_search import few_with_text
from tidemill.store.schema import id_blocks, sources
from tidemill.verticals.prices.store.tables import product_links, products, source_products
from tidemill.verticals.prices.store.visibility import visible_prices
from tidemill.verticals.prices.views import (
    ChangeView,
    LowestView,
    OfferFilter,
    OfferView,
    PriceCursor,
    PricePoint,
    ProductDetail,
    ProductFilter,
    ProductView,
)

MOST_OFFERS = 500
"""Offers shown of one product."""

_now = visible_prices("now")
_inner = visible_prices("newest")
_newest = (
    select(_inner.c.id)
    .where(_inner.c.source_product_id == source_products.c.id)
    .order_by(_inner.c.observed_at.desc(), _inner.c.id.desc())
    .limit(1)
    .correlate(source_products)
    .scalar_subquery()
)
_stock = case((source_products.c.out_since.is_not(None), Availability.OUT_OF_STOCK.value), else_=_now.c.availability)
_shown = (
    *(
        source_products.c[name]
        for name in ("id", "source_id", "retailer", "identity_key", "url", "title", "brand", "upc", "last_seen_at")
    ),
    *(
        _now.c[name]
        for name in ("source_name", "price_cents", "currency", "cost_per_round_cents", "shipping_cents",
                     "tax_included", "corrected", "observed_at")
    ),
    _now.c.id.label("price_id"),
    _stock.label("availability"),
    product_links.c.product_id,
)  # fmt: skip
_offered = source_products.join(_now, _now.c.id == _newest).outerjoin(
    product_links, product_links.c.source_product_id == source_products.c.id
)
OFFERS = select(*_shown).select_from(_offered).where(source_products.c.gone_at.is_(None))
"""What shops ask now: of each product the newest price that may be seen and that nobody ignored."""


def offers_now(which: OfferFilter, after: int, limit: int) -> Select[Any]:
    """Offers in order of key."""
    return (
        OFFERS.where(source_products.c.id > after, *_offer_conditions(which))
        .order_by(source_products.c.id)
        .limit(limit)
    )


def _offer_conditions(which: OfferFilter) -> Iterator[Any]:
    if which.product_id is not None:
        yield product_links.c.product_id == which.product_id
    if which.source is not None:
        yield _now.c.source_name == which.source
    if which.text is not None:
        yield source_products.c.title.icontains(which.text, autoescape=True)
    if which.availability is not None:
        yield _stock == which.availability


_offer = OFFERS.subquery("offer")
_in_stock = _offer.c.availability == Availability.IN_STOCK.value
_currency = case((_in_stock, _offer.c.currency))
_is_comparable = func.count(_currency.distinct()) == 1
"""Amounts in several currencies have no lowest."""
PRODUCTS = (
    select(
        products.c.id,
        products.c.title,
        products.c.brand,
        products.c.upc,
        products.c.attributes,
        func.count().label("offers"),
        func.sum(case((_in_stock, 1), else_=0)).label("in_stock"),
        case((_is_comparable, func.min(case((_in_stock, _offer.c.price_cents))))).label("lowest_cents"),
        case((_is_comparable, func.min(_currency))).label("lowest_currency"),
    )
    .select_from(products.join(_offer, _offer.c.product_id == products.c.id))
    .group_by(products.c.id)
)
"""Canonical products that at least one visible offer stands for."""


def products_offered(which: ProductFilter, after: int, limit: int) -> Select[Any]:
    """Products in order of key."""
    query = PRODUCTS.where(products.c.id > after).order_by(products.c.id).limit(limit)
    if which.text is not None:
        query = query.where(products.c.title.icontains(which.text, autoescape=True))
    if which.brand is not None:
        query = query.where(func.lower(products.c.brand) == which.brand.lower())
    if which.upc is not None:
        query = query.where(products.c.upc == which.upc)
    return query


_point = visible_prices("point")
_raw_point = visible_prices("point", corrected=False)


def history(
    source_product_ids: Sequence[int], since: datetime | None, after: PriceCursor | None, limit: int, *, corrected: bool
) -> Select[Any]:
    """The prices that products had, oldest first."""
    point = _point if corrected else _raw_point
    kept = (name for name in PricePoint.__struct_fields__ if name in point.c)
    run = (point.c.ingestion_run_type.label("run_type"), point.c.ingestion_run_id.label("run_id"))
    query = select(*(point.c[name] for name in kept), *run).where(point.c.source_product_id.in_(source_product_ids))
    if since is not None:
        query = query.where(point.c.observed_at >= since)
    if after is not None:
        later = or_(point.c.observed_at > after.observed_at, point.c.id > after.id)
        query = query.where(point.c.observed_at >= after.observed_at, later)
    return query.order_by(point.c.observed_at, point.c.id).limit(limit)


def lowest_ever(product_id: int) -> Select[Any]:
    """The lowest price a product ever had, per currency, with when it was first read."""
    mine = product_links.c.product_id == product_id
    place = func.row_number().over(
        partition_by=_point.c.currency, order_by=(_point.c.price_cents, _point.c.observed_at, _point.c.id)
    )
    ranked = (
        select(_point.c.currency, _point.c.price_cents, _point.c.observed_at, place.label("place"))
        .select_from(_point.join(product_links, product_links.c.source_product_id == _point.c.source_product_id))
        .where(mine)
        .subquery()
    )
    return select(ranked).where(ranked.c.place == 1).order_by(ranked.c.currency)


def changes_since(seq: int, limit: int) -> Select[Any]:
    """What readers learned after `seq`, in the order in which it became visible."""
    of_product = ("title", "url")
    kept = (name for name in ChangeView.__struct_fields__ if name in _point.c)
    return (
        select(
            *(_point.c[name] for name in kept),
            *(source_products.c[name] for name in of_product),
            _point.c.change_seq.label("seq"),
            _point.c.id.label("price_id"),
            product_links.c.product_id,
        )
        .select_from(
            _point.join(source_products, source_products.c.id == _point.c.source_product_id).outerjoin(
                product_links, product_links.c.source_product_id == source_products.c.id
            )
        )
        .where(_point.c.change_seq > seq)
        .order_by(_point.c.change_seq)
        .limit(limit)
    )


class PriceReads:
    """Answers readers."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def offers(self, which: OfferFilter | None = None, *, after: int = 0, limit: int = 100) -> list[OfferView]:
        """What shops ask now, in order of key; `after` is the last key already seen."""
        which = which or OfferFilter()
        query = await self._searched(offers_now(which, after, limit), source_products, which.text)
        return [OfferView(**row) for row in await self._rows(query)]

    async def hidden_sources(self) -> list[str]:
        """Sources that were read and whose offers readers may not see, because nobody has made them eligible."""
        query = select(sources.c.name).where(
            sources.c.vertical == "prices",
            sources.c.visibility != Visibility.ELIGIBLE.value,
            sources.c.historical_count > 0,
        )
        return [str(row["name"]) for row in await self._rows(query.order_by(sources.c.name))]

    async def products(
        self, which: ProductFilter | None = None, *, after: int = 0, limit: int = 100
    ) -> list[ProductView]:
        """Products that somebody offers, in order of key; `after` is the last key already seen."""
        which = which or ProductFilter()
        rows = await self._rows(await self._searched(products_offered(which, after, limit), products, which.text))
        return [ProductView(**row) for row in rows]

    async def product(self, product_id: int) -> ProductDetail | None:
        """A product with its offers, the cheapest in stock first; None when readers may see no offer of it."""
        rows = await self._rows(PRODUCTS.where(products.c.id == product_id))
        if not rows:
            return None
        offers = await self.offers(OfferFilter(product_id=product_id), limit=MOST_OFFERS)
        return ProductDetail(product=ProductView(**rows[0]), offers=sorted(offers, key=_cheapest_first))

    async def product_history(
        self,
        product_id: int,
        *,
        since: datetime | None = None,
        after: PriceCursor | None = None,
        limit: int = 100,
        corrected: bool = True,
    ) -> list[PricePoint]:
        """The prices that a product had in all shops, oldest first."""
        query = select(product_links.c.source_product_id).where(product_links.c.product_id == product_id)
        keys = [row["source_product_id"] for row in await self._rows(query)]
        return await self.history(keys, since=since, after=after, limit=limit, corrected=corrected)

    async def history(
        self,
        source_product_ids: Sequence[int],
        *,
        since: datetime | None = None,
        after: PriceCursor | None = None,
        limit: int = 100,
        corrected: bool = True,
    ) -> list[PricePoint]:
        """The prices that shops' products had, oldest first; `after` is the cursor of the last one already seen."""
        query = history(source_product_ids, since, after, limit, corrected=corrected)
        return [PricePoint(**row) for row in await self._rows(query)]

    async def lowest(self, product_id: int) -> list[LowestView]:
        """The lowest price per currency: now and in stock, and ever."""
        offers = await self.offers(
            OfferFilter(product_id=product_id, availability=Availability.IN_STOCK.value), limit=MOST_OFFERS
        )
        cheapest: dict[str, OfferView] = {}
        for offer in sorted(offers, key=_cheapest_first, reverse=True):
            cheapest[offer.currency] = offer
        return [
            LowestView(
                currency=row["currency"],
                now=cheapest.get(row["currency"]),
                ever_cents=row["price_cents"],
                ever_at=row["observed_at"],
            )
            for row in await self._rows(lowest_ever(product_id))
        ]

    async def changes(self, after: int = 0, *, limit: int = 100) -> list[ChangeView]:
        """What changed after `after`, the `seq` of the last change already seen; none is ever missed."""
        return [ChangeView(**row) for row in await self._rows(changes_since(after, limit))]

    async def newest_change(self) -> int:
        """The number of the newest change, 0 before the first."""
        async with self._database.published() as connection:
            newest = select(id_blocks.c.next_id - 1).where(id_blocks.c.name == "price_changes")
            return int((await connection.execute(newest)).scalar() or 0)

    async def _searched(self, query: Select[Any], table: Table, words: str | None) -> Select[Any]:
        """The query over the few rows whose title has these words; over all of them where they are not few."""
        if words is None:
            return query
        async with self._database.read() as connection:
            few = await few_with_text(connection, table, {"title": words})
        return query if few is None else query.where(table.c.id.in_(few))

    async def _rows(self, query: Select[Any]) -> Sequence[Any]:
        async with self._database.published() as connection:
            return list((await connection.execute(query)).mappings())


def _cheapest_first(offer: OfferView) -> tuple[bool, int, int]:
    return offer.availability != Availability.IN_STOCK, offer.price_cents, offer.id
