"""The resolver: links what shops offer to canonical products, says why, and leaves the rest for a person."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.batches import write_each
from tidemill.store.database.keys import Ids
from tidemill.store.schema import sources
from tidemill.verticals.prices.matching import (
    KnownProduct,
    LinkReason,
    Match,
    ProductCandidate,
    attributes_key,
    attributes_of,
    match,
)
from tidemill.verticals.prices.record import Offer
from tidemill.verticals.prices.store.items import Row
from tidemill.verticals.prices.store.sequence import next_changes
from tidemill.verticals.prices.store.tables import product_links, products

RESOLVER = "resolver"

_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_BY_HAND = select(product_links.c.source_product_id).where(
    product_links.c.source_product_id.in_(_KEYS), product_links.c.reason == LinkReason.BY_HAND
)
_TRUST = select(sources.c.id, sources.c.trust).where(sources.c.id.in_(_KEYS))
_KNOWN = select(products.c.id, products.c.upc, products.c.attributes_key)
_BY_UPC = _KNOWN.where(products.c.upc.in_(_KEYS))
_BY_ATTRIBUTES = _KNOWN.where(products.c.attributes_key.in_(_KEYS)).order_by(products.c.id)
_PRODUCTS = products.insert()
_LINKS = {
    kind.dialect.name: (statement := kind.insert(product_links)).on_conflict_do_update(
        index_elements=["source_product_id"],
        set_={
            name: statement.excluded[name]
            for name in ("product_id", "status", "reason", "detail", "linked_by", "linked_at")
        },
    )
    for kind in (sqlite, postgresql)
}


def link_statement(dialect: str) -> Any:
    """The INSERT that puts a link in the place of the one there was."""
    return _LINKS[dialect]


class Catalogue(msgspec.Struct, frozen=True):
    """The canonical products that a batch may turn out to be; those that it makes are added."""

    by_upc: dict[str, KnownProduct]
    by_attributes: dict[str, list[KnownProduct]]

    def add(self, product: KnownProduct) -> None:
        """One more."""
        if product.upc is not None:
            self.by_upc[product.upc] = product
        if product.attributes_key is not None:
            self.by_attributes.setdefault(product.attributes_key, []).append(product)

    def match(self, offer: ProductCandidate) -> Match:
        """The product that the offer stands for."""
        return match(offer, self.by_upc.get(offer.upc or ""), self.by_attributes.get(offer.attributes_key or "", ()))


async def resolve(
    connection: AsyncConnection, ids: Ids, offers: Sequence[tuple[int, Offer, Row | None]], now: datetime
) -> None:
    """Link the offers that are new, or by which something changed that products are told by."""
    fresh = [(key, offer) for key, offer, row in offers if row is None or _is_other(offer, row)]
    await resolve_offers(connection, ids, fresh, now)


def _is_other(offer: Offer, row: Row) -> bool:
    return (offer.upc, attributes_key(offer)) != (row["upc"], row["attributes_key"])


async def resolve_offers(
    connection: AsyncConnection, ids: Ids, fresh: Sequence[tuple[int, Offer]], now: datetime
) -> None:
    """Link offers, unless a person has: their word stands. Resolvers take turns, so that each product is made once."""
    if not fresh:
        return
    await next_changes(connection, 0)
    keys = [key for key, _ in fresh]
    theirs = set((await connection.execute(_BY_HAND, {"b_keys": keys})).scalars())
    trusted = await _trusted(connection, sorted({offer.source_id for _, offer in fresh}))
    candidates = [_candidate(key, offer, trusted) for key, offer in fresh if key not in theirs]
    catalogue = await _catalogue(connection, candidates)
    made, links = [], []
    for candidate in candidates:
        found = catalogue.match(candidate)
        if found.makes_product:
            product = _product_row(ids.take(), candidate, now)
            made.append(product)
            catalogue.add(KnownProduct(product["id"], product["upc"], product["attributes_key"]))
            found = msgspec.structs.replace(found, product_id=product["id"])
        links.append(_link_row(candidate.source_product_id, found, now))
    await write_each(connection, _PRODUCTS, made)
    await write_each(connection, _LINKS[connection.dialect.name], links)


async def _trusted(connection: AsyncConnection, source_ids: Sequence[int]) -> set[int]:
    """The sources whose UPCs a person has declared trustworthy; nobody's are by default."""
    rows = await connection.execute(_TRUST, {"b_keys": list(source_ids)})
    return {row.id for row in rows if row.trust.get("upc_trusted") is True}


async def _catalogue(connection: AsyncConnection, candidates: Sequence[ProductCandidate]) -> Catalogue:
    catalogue = Catalogue({}, {})
    upcs = sorted({each.upc for each in candidates if each.upc is not None})
    lines = sorted({each.attributes_key for each in candidates if each.attributes_key is not None})
    if upcs:
        for row in await connection.execute(_BY_UPC, {"b_keys": upcs}):
            catalogue.by_upc[row.upc] = KnownProduct(row.id, row.upc, row.attributes_key)
    if lines:
        for row in await connection.execute(_BY_ATTRIBUTES, {"b_keys": lines}):
            known = KnownProduct(row.id, row.upc, row.attributes_key)
            catalogue.by_attributes.setdefault(row.attributes_key, []).append(known)
    return catalogue


def _candidate(key: int, offer: Offer, trusted: set[int]) -> ProductCandidate:
    upc = offer.upc if offer.source_id in trusted else None
    return ProductCandidate(key, upc, attributes_key(offer), offer.title, offer.brand, attributes_of(offer))


def _product_row(key: int, candidate: ProductCandidate, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        "title": candidate.title,
        "brand": candidate.brand,
        "upc": candidate.upc,
        "attributes_key": candidate.attributes_key,
        "attributes": dict(candidate.attributes),
        "made_by": RESOLVER,
        "created_at": now,
    }


def _link_row(key: int, found: Match, now: datetime) -> Mapping[str, Any]:
    return {
        "source_product_id": key,
        "product_id": found.product_id,
        "status": found.status,
        "reason": found.reason,
        "detail": found.detail,
        "linked_by": RESOLVER,
        "linked_at": now,
    }
