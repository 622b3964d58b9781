"""Looking homes up, many at once: by sighting, by door, and by the blocks in which like ones are found."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import LargeBinary, bindparam, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.column_types import Key, Timestamp
from tidemill.verticals.listings.dedupe import KnownListing, blocks_of
from tidemill.verticals.listings.record import Listing
from tidemill.verticals.listings.store.merging import SourceStatement
from tidemill.verticals.listings.store.tables import listing_sightings

MOST_CANDIDATES = 5_000
"""Homes that one batch is compared with at most, whatever its blocks hold."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Listing).decode


class SightingRow(msgspec.Struct, frozen=True):
    """A sighting on the repository, as far as a new one must know it."""

    id: int
    listing_id: int
    checksum: int
    is_gone: bool


_SEEN = "SELECT s.id, s.listing_id, s.checksum, s.gone_at IS NOT NULL AS is_gone, s.source_id, s.identity FROM "
_SAME = " JOIN listing_sightings s ON s.source_id = k.source_id AND s.identity = k.identity"
_PAIRS = (
    "(SELECT json_extract(value, '$[0]') AS source_id, json_extract(value, '$[1]') AS identity FROM json_each(:keys)) k"
)
_SEEN_SQLITE = text(_SEEN + _PAIRS + _SAME)
_SEEN_POSTGRES = text(
    _SEEN + "unnest(CAST(:sources AS bigint[]), CAST(:identities AS text[])) AS k(source_id, identity)" + _SAME
)


async def sightings(connection: AsyncConnection, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], SightingRow]:
    """The sightings there are already, by one index lookup each."""
    if connection.dialect.name == "sqlite":
        found = await connection.execute(_SEEN_SQLITE, {"keys": _encode(keys).decode()})
    else:
        columns = {"sources": [key[0] for key in keys], "identities": [key[1] for key in keys]}
        found = await connection.execute(_SEEN_POSTGRES, columns)
    return {
        (row.source_id, row.identity): SightingRow(row.id, row.listing_id, row.checksum, bool(row.is_gone))
        for row in found
    }


_STORED = select(listing_sightings.c.identity, listing_sightings.c.record).where(
    listing_sightings.c.source_id == bindparam("b_source"),
    listing_sightings.c.identity.in_(bindparam("b_identities", expanding=True)),
)


async def stored_sightings(connection: AsyncConnection, source_id: int, identities: Sequence[str]) -> dict[str, bytes]:
    """What a source said last of these homes, as JSON."""
    found = await connection.execute(_STORED, {"b_source": source_id, "b_identities": list(identities)})
    return {row.identity: bytes(row.record) for row in found}


_MANY = {"sqlite": "IN (SELECT value FROM json_each(:keys))", "postgresql": "= ANY(CAST(:keys AS {type}[]))"}


def _by_keys(statement: str, kind: str, **types: Any) -> dict[str, Any]:
    """A statement with a place `{many}` for any number of keys, for each database."""
    asked = {name: text(statement.replace("{many}", words.format(type=kind))) for name, words in _MANY.items()}
    return {name: one.columns(**types) for name, one in asked.items()} if types else asked


_DOORS = _by_keys("SELECT id FROM listings WHERE address_key {many} ORDER BY id LIMIT :most", "text")
_BLOCKS = _by_keys("SELECT DISTINCT listing_id FROM listing_blocks WHERE block {many} LIMIT :most", "text")
_HOMES = _by_keys("SELECT id, record FROM listings WHERE id {many} ORDER BY id", "bigint")
_SHOWN_BY = _by_keys(
    "SELECT listing_id, source_id FROM listing_sightings"
    " WHERE listing_id {many} AND gone_at IS NULL AND identity LIKE 'ID:%'",
    "bigint",
)
_SIGHTINGS = _by_keys(
    "SELECT listing_id, record, last_seen_at FROM listing_sightings WHERE listing_id {many} AND gone_at IS NULL"
    " ORDER BY listing_id, id",
    "bigint",
    listing_id=Key,
    record=LargeBinary(),
    last_seen_at=Timestamp(),
)


async def candidates(
    connection: AsyncConnection, listings: Sequence[Listing]
) -> tuple[list[KnownListing], dict[int, set[int]]]:
    """Homes that these might be, gone ones included; and which sources show each of those under an id of their own.

    A source that shows a home under one id and now another of its own tells the two apart.
    """
    doors = sorted({one.address_key for one in listings if one.address_key})
    blocks = sorted({block for one in listings for block in blocks_of(one)})
    keys = set(await _keys(connection, _DOORS, doors)) | set(await _keys(connection, _BLOCKS, blocks))
    if not keys:
        return [], {}
    rows = await _rows(connection, _HOMES, sorted(keys))
    shown_by: dict[int, set[int]] = {}
    for listing_id, source_id in await _rows(connection, _SHOWN_BY, sorted(keys)):
        shown_by.setdefault(listing_id, set()).add(source_id)
    return [KnownListing(row.id, _decode(row.record)) for row in rows], shown_by


async def shown_sightings(connection: AsyncConnection, homes: Sequence[int]) -> list[SourceStatement]:
    """What each source that still shows these homes says of them, and when it last did."""
    return [SourceStatement(*row) for row in await _rows(connection, _SIGHTINGS, homes)]


async def _keys(connection: AsyncConnection, statements: dict[str, Any], keys: Sequence[str]) -> list[int]:
    if not keys:
        return []
    rows = await _rows(connection, statements, keys, most=MOST_CANDIDATES)
    return [row[0] for row in rows]


async def _rows(connection: AsyncConnection, statements: dict[str, Any], keys: Sequence[Any], **more: Any) -> Any:
    dialect = connection.dialect.name
    bound = _encode(keys).decode() if dialect == "sqlite" else list(keys)
    return (await connection.execute(statements[dialect], {"keys": bound, **more})).all()
