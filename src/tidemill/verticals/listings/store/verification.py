"""Fading homes: which are to be looked up, what was found, and which are over."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    ScalarSelect,
    Select,
    TextClause,
    and_,
    bindparam,
    case,
    exists,
    func,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.freshness import ConfidenceDecay
from tidemill.core.quality.verification import Presence, VerificationCheck, VerificationResult
from tidemill.store.database.batches import write_each
from tidemill.store.database.column_types import Timestamp
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.database.locks import lock_exclusively
from tidemill.store.records.history import HistoryLine, write_history
from tidemill.store.records.seen import Seen, note_seen
from tidemill.store.schema import breakers, sources
from tidemill.store.schema.rows import source_of
from tidemill.verticals.listings.store.fading import ACTIVE, below, confidence
from tidemill.verticals.listings.store.home_changes import write_endings
from tidemill.verticals.listings.store.tables import LISTINGS_LOCK, listing_sightings, listings, market_configs
from tidemill.verticals.listings.store.writes import SHOWN

VERTICAL = "listings"
FADED = "not seen and not verified for too long"
AT_ONCE = 5_000
SECOND_CHANCE = timedelta(hours=1)
"""How long a home rests after a check that could not tell."""


_DROPPED = exists().where(
    listing_sightings.c.listing_id == listings.c.id, listing_sightings.c.gone_at >= listings.c.last_seen_at
)
SUSPECTED = text("listings.is_active AND listings.gone_reason IS NOT NULL")
"""Homes that no list shows any more and that nobody looked up since; as their index says it."""
_IN_MARKETS = listings.join(market_configs, market_configs.c.id == listings.c.market_id)


class Verification:
    """The repository's side of verification."""

    def __init__(self, database: Database, ids: Ids, fading: ConfidenceDecay) -> None:
        """`fading` says how confidence falls, and under what it is asked about."""
        self._database = database
        self._ids = ids
        self._fading = fading

    async def due(self, now: datetime, limit: int) -> list[VerificationCheck]:
        """Homes that fade, then those that no list shows any more; each source's own address.

        Of either kind those come first that readers look at or saved, then the faintest.
        """
        fading, suspected = below(self._fading, self._fading.verify_under, now), SUSPECTED
        async with self._database.read() as connection:
            found: dict[int, Any] = {}
            for which in (fading, suspected):
                rows = (await connection.execute(self._homes(which, now, limit - len(found)))).mappings()
                found |= {row["listing_id"]: row for row in rows}
            return await self._checks(connection, list(found.values()))

    async def of_record(self, record_id: int, now: datetime) -> list[VerificationCheck]:
        """One home, at the source that would be asked about it next."""
        query = (
            select(
                listings.c.id.label("listing_id"),
                listing_sightings.c.id.label("sighting_id"),
                listing_sightings.c.url,
                listing_sightings.c.source_id,
                confidence(self._fading, now).label("sure"),
            )
            .select_from(_IN_MARKETS.join(listing_sightings, listing_sightings.c.id == _askable(now)))
            .where(ACTIVE, listings.c.id == record_id)
        )
        async with self._database.read() as connection:
            return await self._checks(connection, (await connection.execute(query)).mappings().all())

    async def _checks(self, connection: AsyncConnection, rows: Sequence[Any]) -> list[VerificationCheck]:
        """The checks of these rows, with their sources."""
        keys = sorted({row["source_id"] for row in rows})
        known = (await connection.execute(select(sources).where(sources.c.id.in_(keys)))).mappings().all()
        by_key = {row["id"]: source_of(row) for row in known}
        return [
            VerificationCheck(row["listing_id"], row["sighting_id"], row["url"], by_key[row["source_id"]], row["sure"])
            for row in rows
            if row["source_id"] in by_key
        ]

    def _homes(self, which: ColumnElement[bool] | TextClause, now: datetime, limit: int) -> Select[Any]:
        sure = confidence(self._fading, now)
        askable = _askable(now)
        return (
            select(
                listings.c.id.label("listing_id"),
                listing_sightings.c.id.label("sighting_id"),
                listing_sightings.c.url,
                listing_sightings.c.source_id,
                sure.label("sure"),
            )
            .select_from(_IN_MARKETS.join(listing_sightings, listing_sightings.c.id == askable))
            .where(ACTIVE, which)
            .where(or_(listings.c.checked_at.is_(None), listings.c.checked_at <= now - SECOND_CHANCE))
            .order_by((listings.c.saves * 5 + listings.c.looks).desc(), sure, listings.c.id)
            .limit(limit)
        )

    async def record(self, looked: Sequence[VerificationResult], now: datetime) -> int:
        """Write what was found; answers how many are gone.

        There counts as verified, and not knowing changes only the time of the check. Gone ends what that source
        shows; the home is over when no other source shows it, and else the next one is asked without delay.
        """
        await self._ids.reserve(len(looked) + 1)
        there = [one.listing_id for one in looked if one.presence is Presence.THERE]
        unshown = [one for one in looked if one.presence is Presence.GONE]
        rows = [
            {"b_id": one.listing_id, "b_now": now, "b_result": f"{one.presence}: {one.detail}"[:300],
             "b_there": one.presence is Presence.THERE, "b_settled": one.presence is not Presence.GONE}
            for one in sorted(looked, key=lambda one: one.listing_id)
        ]  # fmt: skip
        async with self._database.write() as connection:
            await lock_exclusively(connection, LISTINGS_LOCK)
            await write_each(connection, _CHECKED, rows)
            await note_seen(connection, self._ids.take(), VERTICAL, Seen.LOOKED_UP, there, now)
            if not unshown:
                return 0
            said = {"b_keys": [one.sighting_id for one in unshown], "b_now": now}
            await connection.execute(_NOT_THERE, said)
            homes = sorted({one.listing_id for one in unshown})
            gone = sorted((await connection.execute(_SHOWN_BY_NOBODY, {"b_keys": homes})).scalars())
            await self._end(connection, gone, "gone", "gone when looked up", now)
        return len(gone)

    async def end_faded(self, now: datetime) -> int:
        """Take homes off whose confidence is nothing, so many at a time in constant memory; answers how many.

        What one source dropped since anybody saw it, while the others could not tell, goes when readers lose it: that
        is no proof, but nobody vouches for it either.
        """
        ended = 0
        for over in (below(self._fading, 1, now), and_(below(self._fading, self._fading.floor, now), _DROPPED)):
            while some := await self._end_some(over, now):
                ended += some
        return ended

    async def _end_some(self, over: ColumnElement[bool], now: datetime) -> int:
        await self._ids.reserve(AT_ONCE)
        keys = select(listings.c.id).select_from(_IN_MARKETS).where(ACTIVE, over).limit(AT_ONCE)
        async with self._database.write() as connection:
            await lock_exclusively(connection, LISTINGS_LOCK)
            ended = sorted((await connection.execute(keys)).scalars())
            await self._end(connection, ended, "faded", FADED, now)
        return len(ended)

    async def _end(
        self, connection: AsyncConnection, homes: Sequence[int], kind: str, reason: str, now: datetime
    ) -> None:
        """Take homes off: `gone` on evidence, `faded` when nobody can tell any more, which is no proof of anything."""
        if not homes:
            return
        gone_at = now if kind == "gone" else None
        values = {"is_active": False, "gone_at": gone_at, "gone_reason": reason, "updated_at": now}
        await connection.execute(update(listings).where(listings.c.id.in_(homes)).values(**values))
        lines = [HistoryLine(record_id=key, kind=kind, changes={"reason": [None, reason]}) for key in homes]
        await write_history(connection, self._ids, VERTICAL, lines, now)
        await write_endings(connection, [(key, kind) for key in homes], now, reason)


def _askable(now: datetime) -> ScalarSelect[int]:
    """The sighting of a home to ask about: with an address, of a source that may be asked, rather one still shown."""
    barred = _barred(now)
    shown = case((listing_sightings.c.gone_at.is_(None), listing_sightings.c.id))
    return (
        select(func.coalesce(func.max(shown), func.max(listing_sightings.c.id)))
        .where(listing_sightings.c.listing_id == listings.c.id, listing_sightings.c.url != "")
        .where(listing_sightings.c.source_id.not_in(barred))
        .correlate(listings)
        .scalar_subquery()
    )


def _barred(now: datetime) -> Select[Any]:
    """Sources that may not be asked now: switched off, or their breaker open."""
    off = select(sources.c.id).where(or_(~sources.c.enabled, sources.c.auto_disabled))
    tripped = select(breakers.c.source_id).where(breakers.c.state == "OPEN", breakers.c.cooldown_until > now)
    return off.union(tripped).subquery().select()


_at = bindparam("b_now", type_=Timestamp())
_CHECKED = (
    update(listings)
    .where(listings.c.id == bindparam("b_id"))
    .values(
        checked_at=case((bindparam("b_settled"), _at), else_=listings.c.checked_at),
        check_result=bindparam("b_result"),
        verified_at=case((bindparam("b_there"), _at), else_=listings.c.verified_at),
        gone_reason=case((bindparam("b_there"), null()), else_=listings.c.gone_reason),
    )
)
_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_NOT_THERE = update(listing_sightings).where(listing_sightings.c.id.in_(_KEYS)).values(gone_at=bindparam("b_now"))
_SHOWN_BY_NOBODY = select(listings.c.id).where(listings.c.id.in_(_KEYS), ACTIVE, SHOWN == 0)
