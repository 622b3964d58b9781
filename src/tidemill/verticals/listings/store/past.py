"""Homes as readers saw them at a moment: from their history, and from what was seen of them until then."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from string import capwords
from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.freshness import SEEN, ConfidenceDecay, badge, confidence, time_until_below
from tidemill.core.identity import normalized
from tidemill.core.views.past import Cause, record_before, was_ended
from tidemill.store.database.batches import portions
from tidemill.store.database.database import Database
from tidemill.store.records.causes import causes_between
from tidemill.store.records.past import lines_after
from tidemill.store.records.seen import Seen, seen_between
from tidemill.store.schema import record_history
from tidemill.verticals.listings.addresses import street_words
from tidemill.verticals.listings.record import Listing
from tidemill.verticals.listings.store.tables import listing_sightings, listings, market_configs
from tidemill.verticals.listings.store.views import KILOMETRES_A_DEGREE, rent_note
from tidemill.verticals.listings.views import ListingCursor, ListingFilter, ListingView

_RENT = "rent_low"
_ROWS = select(
    *(listings.c[name] for name in ("id", "record", "first_seen_at", "is_active")), market_configs.c.tier
).select_from(listings.join(market_configs, market_configs.c.id == listings.c.market_id))
_COLUMNS = ("market_id", "title", "url", "rent_low", "rent_high", "currency", "latitude", "longitude")


class PastListings:
    """Reads homes as of a moment; how fast a market's homes fade is what holds now."""

    def __init__(self, database: Database, fading: ConfidenceDecay) -> None:
        """`fading` says how confidence falls."""
        self._database = database
        self._fading = fading

    async def search(
        self, which: ListingFilter, moment: datetime, *, after: ListingCursor | None = None, limit: int = 50
    ) -> list[ListingView]:
        """Return the homes that matched and were active and fresh enough at a moment, in the order that is asked for.

        A home that nobody had seen for so long that its confidence was spent is not looked at.
        """
        longest = time_until_below(SEEN, min(self._fading.rates.values()), which.least_confidence)
        found: list[ListingView] = []
        async with self._database.published() as connection:
            seen = await seen_between(connection, "listings", moment - longest, moment)
            keys = sorted({*seen[Seen.SHOWN], *seen[Seen.LOOKED_UP]}, reverse=True)
            by_rent = which.order == "rent"
            if after is not None and not by_rent:
                keys = [key for key in keys if key < after.id]
            for some in portions(keys):
                homes = await self._homes(connection, some, seen, moment)
                found += [home for home in homes if _was_wanted(home, which)]
                if len(found) >= limit and not by_rent:
                    break
        return _cheapest(found, after, limit) if by_rent else found[:limit]

    async def causes(self, keys: Sequence[int], begin: datetime, end: datetime) -> Mapping[int, Sequence[Cause]]:
        """Return what made homes what they became between two moments."""
        sighting = listing_sightings.c
        in_order = (sighting.first_seen_at, sighting.id)
        ranked = func.row_number().over(partition_by=sighting.listing_id, order_by=in_order)
        first = select(sighting.listing_id, sighting.source_id, sighting.first_seen_at, ranked.label("number"))
        earliest = first.where(sighting.listing_id.in_(keys)).subquery()
        seen = select(earliest.c.listing_id.label("id"), earliest.c.source_id, earliest.c.first_seen_at).where(
            earliest.c.number == 1
        )
        async with self._database.published() as connection:
            return await causes_between(connection, "listings", seen.subquery(), keys, begin, end)

    async def _homes(
        self,
        connection: AsyncConnection,
        keys: Sequence[int],
        seen: Mapping[Seen, Mapping[int, datetime]],
        moment: datetime,
    ) -> list[ListingView]:
        """Return those of these homes that were active, the newest first."""
        query = _ROWS.where(listings.c.id.in_(keys), listings.c.first_seen_at <= moment)
        rows = (await connection.execute(query.order_by(listings.c.id.desc()))).all()
        lines = await lines_after(connection, "listings", [row.id for row in rows], moment)
        rents = await _rents_before(connection, [row.id for row in rows], moment)
        found = []
        for row in rows:
            later = lines.get(row.id, ())
            if was_ended(not row.is_active, later):
                continue
            record = record_before(msgspec.json.decode(row.record), later)
            shown, checked = seen[Seen.SHOWN].get(row.id), seen[Seen.LOOKED_UP].get(row.id)
            sure = confidence(
                self._fading.rate(row.tier), moment, shown or datetime.min.replace(tzinfo=moment.tzinfo), checked
            )
            was, moved_at = rents.get(row.id, (None, None))
            told: dict[str, Any] = {name: record.get(name) for name in _COLUMNS}
            note = {"previous_rent": was, "rent_low": record.get(_RENT), "currency": record.get("currency")}
            found.append(
                ListingView(
                    **told, id=row.id, city=capwords(record["city"]), state=record["state"].upper(),
                    previous_rent=was, rent_changed_at=moved_at, rent_note=rent_note(note), freshness_confidence=sure,
                    badge=badge(self._fading, sure, row.first_seen_at, moment), first_seen_at=row.first_seen_at,
                    last_seen_at=shown, verified_at=checked, times_seen=None, is_active=True, listing=record,
                )
            )  # fmt: skip
        return found


async def _rents_before(
    connection: AsyncConnection, keys: Sequence[int], moment: datetime
) -> dict[int, tuple[int, datetime]]:
    """Return what each home's rent was before it moved last until a moment, and when that was."""
    line = record_history.c
    query = (
        select(line.record_id, line.changes, line.created_at)
        .where(line.vertical == "listings", line.record_id.in_(keys), line.created_at <= moment)
        .where(line.kind.in_(("changed", "returned")))
        .order_by(line.id)
    )
    found: dict[int, tuple[int, datetime]] = {}
    for row in await connection.execute(query):
        pair = row.changes.get(_RENT)
        if isinstance(pair, list) and None not in pair:
            found[row.record_id] = (pair[0], row.created_at)
    return found


def _cheapest(found: Sequence[ListingView], after: ListingCursor | None, limit: int) -> list[ListingView]:
    """Return those that name a rent, the cheapest first, after a cursor."""
    priced = sorted((home.rent_low, home.id, home) for home in found if home.rent_low is not None)
    place = (-1, -1) if after is None else (after.value, after.id)
    return [home for rent, key, home in priced if (rent, key) > place][:limit]


def _was_wanted(home: ListingView, which: ListingFilter) -> bool:
    """Return whether a home as it was is one that is asked for; of a range, one that fits is enough."""
    record = home.listing
    return (
        home.freshness_confidence >= which.least_confidence
        and which.market in {None, home.market_id}
        and (which.city is None or record["city"] == normalized(which.city))
        and (which.text is None or _says(home, which.text))
        and _is_between(record, _RENT, "rent_high", which.rent_from, which.rent_to)
        and _is_between(record, "beds_low", "beds_high", which.beds_from, which.beds_to)
        and (which.near is None or _is_within(home, *which.near))
    )


def _is_between(record: Mapping[str, Any], low: str, high: str, begin: float | None, end: float | None) -> bool:
    least, most = record.get(low), record.get(high)
    most = least if most is None else most
    return (end is None or (least is not None and least <= end)) and (
        begin is None or (most is not None and most >= begin)
    )


def _says(home: ListingView, text: str) -> bool:
    if text.lower() in home.title.lower():
        return True
    street = street_words(text)
    return bool(street) and street in msgspec.convert(home.listing, Listing).address_key


def _is_within(home: ListingView, latitude: float, longitude: float, kilometres: float) -> bool:
    if home.latitude is None or home.longitude is None:
        return False
    shrink = max(0.01, math.cos(math.radians(latitude)))
    north = (home.latitude - latitude) * KILOMETRES_A_DEGREE
    east = (home.longitude - longitude) * KILOMETRES_A_DEGREE * shrink
    return north * north + east * east <= kilometres * kilometres
