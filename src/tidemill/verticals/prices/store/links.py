"""Links between shops' products and the canonical ones, as people look at them and change them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from tidemill.core.audit import AuditEntry
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import sources
from tidemill.store.upkeep.audit import take_keys, write_audit
from tidemill.verticals.prices.matching import LinkReason, LinkStatus, attributes_key, attributes_of
from tidemill.verticals.prices.store.items import decode_offer
from tidemill.verticals.prices.store.resolver import link_statement
from tidemill.verticals.prices.store.tables import product_links, products, source_products
from tidemill.verticals.prices.views import LinkView

_LINKED = (
    select(
        product_links,
        *(source_products.c[name] for name in ("title", "url", "brand", "upc")),
        products.c.title.label("product_title"),
        func.coalesce(sources.c.name, "").label("source_name"),
    )
    .join(source_products, source_products.c.id == product_links.c.source_product_id)
    .outerjoin(products, products.c.id == product_links.c.product_id)
    .outerjoin(sources, sources.c.id == source_products.c.source_id)
)


class ProductLinkRepository:
    """Where it is kept which product an offer stands for; a person's word outlasts the resolver's."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def links(
        self,
        *,
        status: str | None = None,
        product_id: int | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> list[LinkView]:
        """Links in order of key: of one status, such as those that wait for a person, or of one product."""
        key = product_links.c.source_product_id
        query = _LINKED.where(key > after).order_by(key).limit(limit)
        if status is not None:
            query = query.where(product_links.c.status == status)
        if product_id is not None:
            query = query.where(product_links.c.product_id == product_id)
        async with self._database.read() as connection:
            return [LinkView(**row) for row in (await connection.execute(query)).mappings()]

    async def find(self, source_product_id: int) -> LinkView | None:
        """The link of one shop's product."""
        query = _LINKED.where(product_links.c.source_product_id == source_product_id)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().one_or_none()
        return None if row is None else LinkView(**row)

    async def has_product(self, product_id: int) -> bool:
        """Whether there is such a canonical product."""
        query = select(products.c.id).where(products.c.id == product_id)
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar() is not None

    async def link(
        self,
        source_product_id: int,
        product_id: int | None,
        actor: str,
        now: datetime,
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        """Link by hand, or keep apart from every product when `product_id` is None."""
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            row = _by_hand(source_product_id, product_id, actor, now)
            await connection.execute(link_statement(connection.dialect.name), [row])
            await write_audit(connection, zip(keys, audit, strict=True), now)

    async def make_product(
        self, source_product_id: int, actor: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> int:
        """Make a canonical product of what a shop offers, and link the offer to it; answers its key."""
        key, *noted = await take_keys(self._ids, 1 + len(audit))
        query = select(source_products.c.record).where(source_products.c.id == source_product_id)
        async with self._database.write() as connection:
            offer = decode_offer((await connection.execute(query)).scalar_one())
            product = {
                "id": key,
                "title": offer.title,
                "brand": offer.brand,
                "upc": None,
                "attributes_key": attributes_key(offer),
                "attributes": attributes_of(offer),
                "made_by": actor,
                "created_at": now,
            }
            await connection.execute(products.insert(), [product])
            row = _by_hand(source_product_id, key, actor, now)
            await connection.execute(link_statement(connection.dialect.name), [row])
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return key


def _by_hand(source_product_id: int, product_id: int | None, actor: str, now: datetime) -> dict[str, Any]:
    return {
        "source_product_id": source_product_id,
        "product_id": product_id,
        "status": LinkStatus.APART if product_id is None else LinkStatus.LINKED,
        "reason": LinkReason.BY_HAND,
        "detail": "",
        "linked_by": actor,
        "linked_at": now,
    }
