"""What a replay corrects among homes: what a source said of one, where it has said nothing else since."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.identity import signed_checksum
from tidemill.core.views.past import field_changes, swapped
from tidemill.store.database.keys import Ids
from tidemill.store.database.locks import lock_exclusively
from tidemill.store.records.corrections import (
    REPLAYED,
    REVERTED,
    RecordCorrection,
    changes_of,
    corrected_by,
    still_holds,
)
from tidemill.store.records.history import HistoryLine, write_history
from tidemill.verticals.listings.record import Listing
from tidemill.verticals.listings.store import lookups, writes
from tidemill.verticals.listings.store.merging import merge_sightings
from tidemill.verticals.listings.store.repository import VERTICAL
from tidemill.verticals.listings.store.tables import LISTINGS_LOCK, listing_sightings, listings

SOURCE, IDENTITY, SAID = "_source", "_identity", "_said"
"""Under which a line of history names the sighting that was corrected, and what it said and says."""
_encode = msgspec.json.Encoder().encode


class ListingCorrections:
    """Corrects what sources say of homes, and brings the homes up to it.

    Neither a home that an old list shows nor one that it does not show is news of today: the next run brings the one,
    and looking it up tells of the other.
    """

    def __init__(self, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._ids = ids

    async def correct(
        self,
        connection: AsyncConnection,
        replay_id: int,
        corrections: Sequence[RecordCorrection],
        by: str,  # noqa: ARG002 - the replay's row says who applied it
        now: datetime,
    ) -> Mapping[str, int]:
        """Correct sightings, and the homes that they stand for."""
        await lock_exclusively(connection, LISTINGS_LOCK)
        done: Counter[str] = Counter()
        lines: list[HistoryLine] = []
        homes: set[int] = set()
        for one in corrections:
            row = await _sighting(connection, one.source_id, one.identity)
            after: Mapping[str, Any] = one.after or {}
            may = row is not None and one.before is not None and one.after is not None
            if row is None or not may or not still_holds(msgspec.json.decode(row["record"]), one):
                done["left alone"] += 1
                continue
            await _say(connection, row, {name: after.get(name) for name in one.names})
            told = {SAID: changes_of(one), SOURCE: one.source_id, IDENTITY: one.identity}
            line = HistoryLine(record_id=row["listing_id"], kind=REPLAYED, page_id=one.page_id, changes=told)
            lines.append(msgspec.structs.replace(line, replay_id=replay_id))
            homes.add(row["listing_id"])
            done["corrected"] += 1
        lines += await _renew(connection, sorted(homes), REPLAYED, replay_id, now)
        await write_history(connection, self._ids, VERTICAL, lines, now)
        return done

    async def revert(self, connection: AsyncConnection, replay_id: int, by: str, now: datetime) -> int:  # noqa: ARG002
        """Put back what a replay corrected, where the source still says what the replay said."""
        await lock_exclusively(connection, LISTINGS_LOCK)
        lines: list[HistoryLine] = []
        for told in await corrected_by(connection, VERTICAL, replay_id):
            if SAID not in told["changes"]:
                continue
            fields = told["changes"][SAID]
            row = await _sighting(connection, told["changes"][SOURCE], told["changes"][IDENTITY])
            if row is None:
                continue
            current = msgspec.json.decode(row["record"])
            if any(current.get(name) != pair[1] for name, pair in fields.items()):
                continue
            await _say(connection, row, {name: pair[0] for name, pair in fields.items()})
            back = {**told["changes"], SAID: swapped(fields)}
            line = HistoryLine(record_id=row["listing_id"], kind=REVERTED, page_id=told["page_id"], changes=back)
            lines.append(msgspec.structs.replace(line, replay_id=replay_id))
        of_homes = await _renew(connection, sorted({line.record_id for line in lines}), REVERTED, replay_id, now)
        await write_history(connection, self._ids, VERTICAL, [*lines, *of_homes], now)
        return len(lines)


async def _sighting(connection: AsyncConnection, source_id: int, identity: str) -> Any:
    mine = (listing_sightings.c.source_id == source_id, listing_sightings.c.identity == identity)
    query = select(listing_sightings).where(*mine, listing_sightings.c.gone_at.is_(None))
    return (await connection.execute(query)).mappings().first()


async def _say(connection: AsyncConnection, row: Any, fields: Mapping[str, Any]) -> None:
    """Let a source have said this; when it was seen stays as it is."""
    said = {**msgspec.json.decode(row["record"]), **fields}
    encoded = _encode(msgspec.json.decode(_encode(said), type=Listing))
    values = {"record": encoded, "checksum": signed_checksum(encoded)}
    await connection.execute(update(listing_sightings).where(listing_sightings.c.id == row["id"]).values(**values))


async def _renew(
    connection: AsyncConnection, homes: Sequence[int], kind: str, replay_id: int, now: datetime
) -> list[HistoryLine]:
    """Bring homes up to what their sources say; a rent that was read wrongly has not moved today.

    Answers the lines of history of those that are others now: what one source said need not be what readers see.
    """
    if not homes:
        return []
    made = merge_sightings(await lookups.shown_sightings(connection, homes))
    rows = (await connection.execute(select(listings).where(listings.c.id.in_(homes)))).all()
    before = {row.id: writes.Before(row.record, None, row.is_active) for row in rows}
    await writes.update_homes(connection, made, before, now)
    old = {row.id: msgspec.json.decode(row.record) for row in rows}
    changes = {home.id: field_changes(old[home.id], msgspec.json.decode(home.record)) for home in made}
    return [
        HistoryLine(record_id=key, kind=kind, changes=differing, replay_id=replay_id)
        for key, differing in changes.items()
        if differing
    ]
