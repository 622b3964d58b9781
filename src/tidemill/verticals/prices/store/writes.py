"""What the repository of prices reads and writes, each set by one statement."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.views.past import field_changes
from tidemill.pipeline.checkpoints import AcceptedRecords
from tidemill.store.database.batches import write_each
from tidemill.store.database.column_types import Timestamp
from tidemill.store.records.repository import MOST_MISSED
from tidemill.store.schema import rejected_records, targets
from tidemill.verticals.prices.glitch import APART, PriceSeen
from tidemill.verticals.prices.reasons import DropReason
from tidemill.verticals.prices.store.items import (
    UNSTEADY,
    OfferItem,
    Row,
    held_columns,
    identifiers_of,
    is_confirmed,
    product_columns,
)
from tidemill.verticals.prices.store.tables import prices, source_product_identifiers, source_products

SECOND_READING = APART
"""How soon a page is read again whose price was held: a glitch should not hide the truth for hours."""

_encode = msgspec.json.Encoder().encode

# Only names of ours are put together here; what pages say is always bound.
_ROW = (
    "p.id, p.source_id, p.identity_key, p.price_id, p.price_cents, p.currency, p.availability, p.out_since, p.checksum,"
    " p.held_cents, p.held_currency, p.held_at, p.held_rejection_id, p.gone_at, p.upc, p.attributes_key"
)
_SAME = "p.source_id = k.source_id AND p.identity_key = k.identity"
_KNOWN_SQLITE = text(
    "SELECT " + _ROW + " FROM (SELECT json_extract(value, '$[0]') AS source_id, json_extract(value, '$[1]') AS identity"
    " FROM json_each(:keys)) k JOIN source_products p ON " + _SAME
).columns(held_at=Timestamp())
_KNOWN_POSTGRES = text(
    "SELECT " + _ROW + " FROM unnest(CAST(:sources AS bigint[]), CAST(:identities AS text[])) AS k(source_id, identity)"
    " JOIN source_products p ON " + _SAME + " ORDER BY p.id FOR UPDATE OF p"
).columns(held_at=Timestamp())


async def known_products(connection: AsyncConnection, wanted: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Row]:
    """The rows there are already, by one index lookup per identity; nobody changes them before we are done."""
    keys = sorted(set(wanted))
    if not keys:
        return {}
    if connection.dialect.name == "sqlite":
        found = await connection.execute(_KNOWN_SQLITE, {"keys": _encode(keys).decode()})
    else:
        names = {"sources": [key[0] for key in keys], "identities": [key[1] for key in keys]}
        found = await connection.execute(_KNOWN_POSTGRES, names)
    return {(row["source_id"], row["identity_key"]): row for row in found.mappings()}


_OF_RUNS = prices.c.ingestion_run_id.in_(bindparam("b_runs", expanding=True))
_READ = select(prices.c.ingestion_run_id, prices.c.source_product_id, prices.c.price_cents, prices.c.currency).where(
    _OF_RUNS
)


async def priced_by(connection: AsyncConnection, run_ids: Collection[int]) -> dict[int, list[tuple[int, PriceSeen]]]:
    """By run, the products that it has priced already and their prices."""
    found: dict[int, list[tuple[int, PriceSeen]]] = {}
    for row in await connection.execute(_READ, {"b_runs": sorted(run_ids)}) if run_ids else ():
        found.setdefault(row[0], []).append((row[1], PriceSeen(row[2], row[3])))
    return found


_SEEN_COLUMNS = {
    "last_seen_at": bindparam("b_now"), "times_seen": source_products.c.times_seen + 1, "missed_runs": 0,
}  # fmt: skip
_OF_SOURCE = (
    source_products.c.identity_key.in_(bindparam("b_identities", expanding=True)),
    source_products.c.source_id == bindparam("b_source"),
)
_STORED = select(source_products.c.identity_key, source_products.c.record).where(*_OF_SOURCE)
_SEEN = update(source_products).where(*_OF_SOURCE).values(**_SEEN_COLUMNS)
_HELD = (
    select(source_products)
    .where(*_OF_SOURCE, source_products.c.held.is_not(None), source_products.c.held_at <= bindparam("b_before"))
    .order_by(source_products.c.id)
    .limit(bindparam("b_limit"))
    .with_for_update()
)


async def stored_offers(connection: AsyncConnection, source_id: int, identities: Sequence[str]) -> dict[str, bytes]:
    """The last offers of a source's products, as JSON."""
    names = {"b_source": source_id, "b_identities": list(identities)}
    return {row.identity_key: bytes(row.record) for row in await connection.execute(_STORED, names)}


async def seen_again(connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime) -> int:
    """Mark products as seen; answers how many."""
    names = {"b_now": now, "b_source": source_id, "b_identities": list(identities)}
    return int((await connection.execute(_SEEN, names)).rowcount)


async def held_products(
    connection: AsyncConnection, source_id: int, identities: Sequence[str], limit: int, now: datetime
) -> Sequence[Row]:
    """The products among these whose last price was held back, long enough ago for this to be another reading."""
    before = now - APART
    names = {"b_source": source_id, "b_identities": list(identities), "b_limit": limit, "b_before": before}
    return (await connection.execute(_HELD, names)).mappings().all()


_UNSEEN = (
    select(source_products.c.id, source_products.c.missed_runs)
    .where(source_products.c.source_id == bindparam("b_source"), source_products.c.last_seen_at < bindparam("b_since"))
    .where(source_products.c.gone_at.is_(None), source_products.c.out_since.is_(None))
    .order_by(source_products.c.id)
    .limit(MOST_MISSED)
)
_BY_KEY = source_products.c.id.in_(bindparam("b_ids", expanding=True))
_MISSED = update(source_products).where(_BY_KEY).values(missed_runs=source_products.c.missed_runs + 1)
_GONE = update(source_products).where(_BY_KEY).values(gone_at=bindparam("b_now"), updated_at=bindparam("b_now"))


async def missed(
    connection: AsyncConnection, source_id: int, since: datetime, patience: int, now: datetime
) -> list[int]:
    """Count a run against the products that it did not see; answers those that are gone now."""
    rows = (await connection.execute(_UNSEEN, {"b_source": source_id, "b_since": since})).all()
    gone = [row.id for row in rows if row.missed_runs + 1 >= patience]
    if rows:
        await connection.execute(_MISSED, {"b_ids": [row.id for row in rows]})
    if gone:
        await connection.execute(_GONE, {"b_ids": gone, "b_now": now})
    return gone


_INSERT = source_products.insert()
_COLUMNS = (
    "target_id", "retailer", "url", "title", "brand", "upc", "attributes_key", "price_id", "price_cents", "currency",
    "availability", "out_since", "checksum", "record", "held", "held_cents", "held_currency", "held_run_id", "held_at",
    "held_rejection_id", "page_id", "last_seen_at", "updated_at", "missed_runs", "gone_at",
)  # fmt: skip
_UPDATE = (
    update(source_products)
    .where(source_products.c.id == bindparam("b_id"))
    .values(times_seen=source_products.c.times_seen + 1, **{name: bindparam(f"b_{name}") for name in _COLUMNS})
)
_HOLDING = ("held", "held_cents", "held_currency", "held_run_id", "held_at", "held_rejection_id", "last_seen_at",
            "missed_runs")  # fmt: skip
_HOLD = (
    update(source_products)
    .where(source_products.c.id == bindparam("b_id"))
    .values(times_seen=source_products.c.times_seen + 1, **{name: bindparam(f"b_{name}") for name in _HOLDING})
)


async def upsert_products(
    connection: AsyncConnection, priced: Sequence[tuple[int, int, OfferItem, Row | None]], now: datetime
) -> None:
    """Insert the new ones, and write what the others look like now."""
    new = [_new_row(product, item, key, now) for key, product, item, row in priced if row is None]
    known = [
        {"b_id": product, **_bound(product_columns(item, key, now))}
        for key, product, item, row in priced
        if row is not None
    ]
    await write_each(connection, _INSERT, new)
    await write_each(connection, _UPDATE, known)


def _new_row(product: int, item: OfferItem, price_id: int, now: datetime) -> dict[str, Any]:
    who = {"id": product, "source_id": item.job.source_id, "identity_key": item.offer.identity_key}
    return {**who, "first_seen_at": now, **product_columns(item, price_id, now)}


def _bound(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {f"b_{name}": value for name, value in columns.items()}


_IDENTIFIERS = {
    kind.dialect.name: (statement := kind.insert(source_product_identifiers)).on_conflict_do_update(
        index_elements=["source_product_id", "id_type", "id_value"],
        set_={"last_seen_at": statement.excluded.last_seen_at},
    )
    for kind in (sqlite, postgresql)
}


async def name_products(
    connection: AsyncConnection, priced: Sequence[tuple[int, int, OfferItem, Row | None]], now: datetime
) -> None:
    """Keep every name under which a product was ever known: what the resolver and people look it up by."""
    rows = [
        {"source_product_id": product, "id_type": kind, "id_value": value, "first_seen_at": now, "last_seen_at": now}
        for _, product, item, row in priced
        if row is None or row["checksum"] != item.checksum
        for kind, value in identifiers_of(item.offer).items()
    ]
    await write_each(connection, _IDENTIFIERS[connection.dialect.name], rows)


_APPEND = prices.insert()


async def append_prices(connection: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append prices; nothing ever changes them."""
    await write_each(connection, _APPEND, rows)


_RECORDS = select(source_products.c.id, source_products.c.record).where(_BY_KEY)


async def records_of(connection: AsyncConnection, keys: Sequence[int]) -> dict[int, bytes]:
    """The records of products as they were."""
    if not keys:
        return {}
    return {row.id: row.record for row in await connection.execute(_RECORDS, {"b_ids": list(keys)})}


def differences(before: bytes, item: OfferItem) -> dict[str, Any]:
    """Field by field, what the product was and what it is; its price has a history of its own."""
    old, new = msgspec.json.decode(before), msgspec.json.decode(item.encoded)
    return {name: pair for name, pair in field_changes(old, new).items() if name not in UNSTEADY}


async def reject(connection: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keep what was not published, with its reason."""
    if rows:
        await connection.execute(rejected_records.insert(), list(rows))


_SETTLE = (
    update(rejected_records)
    .where(rejected_records.c.id == bindparam("b_id"), rejected_records.c.review.is_(None))
    .values(review=bindparam("b_review"), reviewed_by="second reading", reviewed_at=bindparam("b_now"))
)


async def settle_held(connection: AsyncConnection, known: Sequence[tuple[OfferItem, Row]], now: datetime) -> None:
    """Close what waited for a second reading: it said the same, or something else."""
    rows = [
        {
            "b_id": row["held_rejection_id"],
            "b_review": "confirmed" if is_confirmed(item, row) else "refuted",
            "b_now": now,
        }
        for item, row in known
        if row["held_rejection_id"] is not None
    ]
    if rows:
        await connection.execute(_SETTLE, rows)


_LOOK_AGAIN = (
    update(targets)
    .where(targets.c.id.in_(bindparam("b_ids", expanding=True)), targets.c.next_due_at > bindparam("b_soon"))
    .values(next_due_at=bindparam("b_soon"))
)


async def hold(connection: AsyncConnection, held: Sequence[tuple[int, OfferItem, Row]], now: datetime) -> None:
    """Keep doubtful offers on their products until their pages were read again, which is to be soon."""
    if not held:
        return
    rows = [{"b_id": row["id"], **_bound(held_columns(key, item, row, now))} for key, item, row in held]
    await write_each(connection, _HOLD, rows)
    again = {"b_ids": sorted({item.job.target_id for _, item, _ in held}), "b_soon": now + SECOND_READING}
    await connection.execute(_LOOK_AGAIN, again)


_SOLD_OUT = (
    update(source_products)
    .where(source_products.c.target_id.in_(bindparam("b_targets", expanding=True)))
    .values(
        out_since=func.coalesce(
            source_products.c.out_since, bindparam("b_now", type_=source_products.c.out_since.type)
        ),
        last_seen_at=bindparam("b_now"),
        missed_runs=0,
    )
)


_STILL_SOLD = select(source_products.c.id, source_products.c.target_id).where(
    source_products.c.target_id.in_(bindparam("b_targets", expanding=True)), source_products.c.out_since.is_(None)
)


async def sell_out(
    connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
) -> list[tuple[int, Job]]:
    """A page that says 'sold out' and no price leaves no price behind, yet readers must not see it in stock.

    Answers the products that were not sold out before, each with the job that found out.
    """
    empty = {job.target_id: job for job, harvest in harvests if not harvest.records and _is_sold_out(harvest)}
    if not empty:
        return []
    asked = {"b_targets": sorted(empty)}
    fresh = (await connection.execute(_STILL_SOLD.order_by(source_products.c.id), asked)).all()
    await connection.execute(_SOLD_OUT, {**asked, "b_now": now})
    return [(row.id, empty[row.target_id]) for row in fresh]


def _is_sold_out(harvest: AcceptedRecords) -> bool:
    return any(each.verdict.reason == DropReason.OOS_NO_PRICE for each in harvest.judged.rejected)
