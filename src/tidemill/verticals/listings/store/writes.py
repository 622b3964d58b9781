"""Writing homes and sightings, one statement per kind of change."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, case, exists, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views.past import field_changes
from tidemill.store.database.batches import write_each
from tidemill.store.schema import runs
from tidemill.verticals.listings.dedupe import blocks_of
from tidemill.verticals.listings.store.merging import MergedListing, Sighting
from tidemill.verticals.listings.store.tables import listing_blocks, listing_sightings, listings

MOST_MISSED = 4_000
"""Sightings that one run's end counts against at most; the others have the next run's end."""
NOT_SHOWN = "not shown any more"


class Before(msgspec.Struct, frozen=True):
    """A home as it was before this batch."""

    record: bytes
    rent_low: int | None
    was_active: bool


_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)


_INSERT_HOME = listings.insert()
_INSERT_SIGHTING = listing_sightings.insert()
_INSERT_BLOCK = {
    "sqlite": sqlite.insert(listing_blocks).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(listing_blocks).on_conflict_do_nothing(),
}


async def insert_homes(connection: AsyncConnection, homes: Sequence[MergedListing], now: datetime) -> None:
    """Insert new homes, and the blocks under which they will be found."""
    seen = {"first_seen_at": now, "last_seen_at": now, "times_seen": 0, "updated_at": now}
    await write_each(connection, _INSERT_HOME, [{**columns_of(home), **seen} for home in homes])
    await insert_blocks(connection, homes)


async def insert_blocks(connection: AsyncConnection, homes: Sequence[MergedListing]) -> None:
    """Make homes findable under what is known of them now."""
    pairs = sorted({(block, home.id) for home in homes for block in blocks_of(home.listing)})
    rows = [{"block": block, "listing_id": key} for block, key in pairs]
    await write_each(connection, _INSERT_BLOCK[connection.dialect.name], rows)


def columns_of(home: MergedListing) -> dict[str, Any]:
    """What readers filter and sort by, beside the record itself."""
    one = home.listing
    return {
        "id": home.id,
        "market_id": one.market_id,
        "title": one.title,
        "url": one.url,
        "address_key": one.address_key,
        "city": one.city,
        "state": one.state,
        "postal_code": one.postal_code,
        "rent_low": one.rent_low,
        "rent_high": one.rent_high,
        "currency": one.currency,
        "beds_low": one.beds_low,
        "beds_high": one.beds_high,
        "baths_low": one.baths_low,
        "latitude": one.latitude,
        "longitude": one.longitude,
        "quality": one.quality,
        "record": home.record,
        "provenance": home.provenance,
    }


async def insert_sightings(connection: AsyncConnection, sightings: Sequence[Sighting], now: datetime) -> None:
    """A source shows a home for the first time."""
    rows = [{**msgspec.structs.asdict(each), "first_seen_at": now, "last_seen_at": now} for each in sightings]
    await write_each(connection, _INSERT_SIGHTING, rows)


_UPDATE_SIGHTING = (
    update(listing_sightings)
    .where(listing_sightings.c.id == bindparam("b_id"))
    .values(
        url=bindparam("b_url"), checksum=bindparam("b_checksum"), record=bindparam("b_record"),
        page_id=bindparam("b_page"), market_id=bindparam("b_market"), last_seen_at=bindparam("b_now"), missed_runs=0,
        gone_at=None,
    )
)  # fmt: skip
_SEE = update(listing_sightings).values(last_seen_at=bindparam("b_now"), missed_runs=0, gone_at=None)
_SEE_BY_KEY = _SEE.where(listing_sightings.c.id.in_(_KEYS))
_SEE_BY_NAME = _SEE.where(
    listing_sightings.c.source_id == bindparam("b_source"), listing_sightings.c.identity.in_(_KEYS)
).returning(listing_sightings.c.listing_id)


async def update_sightings(connection: AsyncConnection, sightings: Sequence[Sighting], now: datetime) -> None:
    """A source says something else than last time."""
    rows = [
        {"b_id": each.id, "b_url": each.url, "b_checksum": each.checksum, "b_record": each.record,
         "b_page": each.page_id, "b_market": each.market_id, "b_now": now}
        for each in sightings
    ]  # fmt: skip
    await write_each(connection, _UPDATE_SIGHTING, rows)


async def see_sightings(connection: AsyncConnection, keys: Sequence[int], now: datetime) -> None:
    """A source says the same as last time."""
    if keys:
        await connection.execute(_SEE_BY_KEY, {"b_keys": keys, "b_now": now})


async def touch_sightings(
    connection: AsyncConnection, source_id: int, identities: Sequence[str], now: datetime
) -> list[int]:
    """A page that did not change still shows these; answers their homes."""
    said = {"b_source": source_id, "b_keys": list(identities), "b_now": now}
    return sorted(set((await connection.execute(_SEE_BY_NAME, said)).scalars()))


_BEFORE = select(listings.c.id, listings.c.record, listings.c.rent_low, listings.c.is_active).where(
    listings.c.id.in_(_KEYS)
)
_SEEN = (
    update(listings)
    .where(listings.c.id.in_(_KEYS))
    .values(
        last_seen_at=bindparam("b_now"), times_seen=listings.c.times_seen + 1, is_active=True, gone_at=None,
        gone_reason=None,
    )
)  # fmt: skip


async def mark_seen(connection: AsyncConnection, homes: Sequence[int], now: datetime) -> dict[int, Before]:
    """Homes are there: seen now, alive again if they were gone. Answers them as they were before."""
    if not homes:
        return {}
    rows = await connection.execute(_BEFORE.order_by(listings.c.id).with_for_update(), {"b_keys": homes})
    before = {row.id: Before(row.record, row.rent_low, row.is_active) for row in rows}
    await connection.execute(_SEEN, {"b_keys": homes, "b_now": now})
    return before


_RENEWED = (
    "market_id", "title", "url", "address_key", "city", "state", "postal_code", "rent_low", "rent_high", "currency",
    "beds_low", "beds_high", "baths_low", "latitude", "longitude", "quality", "record", "provenance",
)  # fmt: skip
_RENEW = (
    update(listings)
    .where(listings.c.id == bindparam("b_id"))
    .values(
        **{name: bindparam(f"b_{name}") for name in _RENEWED},
        previous_rent=case((bindparam("b_moved"), bindparam("b_was")), else_=listings.c.previous_rent),
        rent_changed_at=case((bindparam("b_moved"), bindparam("b_now")), else_=listings.c.rent_changed_at),
        updated_at=bindparam("b_now"),
    )
)


async def update_homes(
    connection: AsyncConnection, homes: Sequence[MergedListing], before: Mapping[int, Before], now: datetime
) -> None:
    """Bring homes up to what their sources say now; a rent that moved keeps what it was ('was X, now Y')."""
    rows = []
    for home in homes:
        was = before[home.id].rent_low
        moved = was is not None and home.listing.rent_low is not None and was != home.listing.rent_low
        columns = {f"b_{name}": value for name, value in columns_of(home).items()}
        rows.append({**columns, "b_moved": moved, "b_was": was, "b_now": now})
    await write_each(connection, _RENEW, rows)
    await insert_blocks(connection, homes)


def difference(before: Before, home: MergedListing) -> tuple[str, dict[str, Any]]:
    """What happened to a home: '' for nothing that history should tell, else the kind and the fields that changed."""
    if before.record == home.record and before.was_active:
        return "", {}
    old, new = msgspec.json.decode(before.record), msgspec.json.decode(home.record)
    changes = field_changes(old, new)
    return ("changed" if before.was_active else "returned"), changes


_SCOPE = select(runs.c.scope).where(runs.c.id == bindparam("b_run")).scalar_subquery()
_UNSEEN = (
    select(listing_sightings.c.id, listing_sightings.c.listing_id, listing_sightings.c.missed_runs)
    .where(listing_sightings.c.source_id == bindparam("b_source"), listing_sightings.c.gone_at.is_(None))
    .where(listing_sightings.c.market_id == _SCOPE, listing_sightings.c.last_seen_at < bindparam("b_since"))
    .order_by(listing_sightings.c.id)
    .limit(MOST_MISSED)
)
_MISSED = (
    update(listing_sightings)
    .where(listing_sightings.c.id.in_(_KEYS))
    .values(missed_runs=listing_sightings.c.missed_runs + 1)
)
_UNSHOWN = update(listing_sightings).where(listing_sightings.c.id.in_(_KEYS)).values(gone_at=bindparam("b_now"))


async def miss_sightings(
    connection: AsyncConnection, source_id: int, run_id: int, since: datetime, now: datetime, patience: int
) -> list[int]:
    """Count a complete run against the sightings it did not renew; answers the homes that a source stopped showing."""
    rows = (await connection.execute(_UNSEEN, {"b_source": source_id, "b_run": run_id, "b_since": since})).all()
    if not rows:
        return []
    await connection.execute(_MISSED, {"b_keys": [row.id for row in rows]})
    over = [row for row in rows if row.missed_runs + 1 >= patience]
    if over:
        await connection.execute(_UNSHOWN, {"b_keys": [row.id for row in over], "b_now": now})
    return sorted({row.listing_id for row in over})


SHOWN = (
    select(func.count())
    .select_from(listing_sightings)
    .where(listing_sightings.c.listing_id == listings.c.id, listing_sightings.c.gone_at.is_(None))
    .scalar_subquery()
)
"""How many sources still show a home."""
_CAN_BE_ASKED = exists().where(listing_sightings.c.listing_id == listings.c.id, listing_sightings.c.url != "")
_UNSHOWN_HOMES = (
    update(listings)
    .where(listings.c.id.in_(_KEYS), listings.c.is_active, SHOWN == 0)
    .where(or_(listings.c.verified_at.is_(None), listings.c.verified_at < listings.c.last_seen_at))
)
_SUSPECT = _UNSHOWN_HOMES.where(_CAN_BE_ASKED).values(gone_reason=NOT_SHOWN)
_END = (
    _UNSHOWN_HOMES.where(~_CAN_BE_ASKED)
    .values(is_active=False, gone_at=bindparam("b_now"), gone_reason=NOT_SHOWN, updated_at=bindparam("b_now"))
    .returning(listings.c.id)
)


async def end_unshown(connection: AsyncConnection, homes: Sequence[int], now: datetime) -> list[int]:
    """Take homes off that no source shows any more, unless somebody looked since and found them still there.

    One that has a page of its own is only suspected, and looked up next: of a short list nobody can tell whether it
    lost a home or was cut.
    """
    if not homes:
        return []
    said = {"b_keys": list(homes), "b_now": now}
    await connection.execute(_SUSPECT, said)
    return sorted((await connection.execute(_END, said)).scalars())
