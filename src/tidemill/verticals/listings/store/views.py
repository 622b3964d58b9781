"""Listings as readers ask for them: filtered, fresh enough, page by page."""

import math
from datetime import datetime
from string import capwords
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, and_, func, or_, select, tuple_, update

from tidemill.core.freshness import ConfidenceDecay, badge
from tidemill.core.identity import normalized
from tidemill.store.database.database import Database
from tidemill.store.database.text_search import few_with_text
from tidemill.store.schema import record_history, sources
from tidemill.verticals.listings.addresses import street_words
from tidemill.verticals.listings.store.fading import ACTIVE, at_least, confidence
from tidemill.verticals.listings.store.tables import listing_sightings, listings, market_configs
from tidemill.verticals.listings.views import (
    ListingCursor,
    ListingDetail,
    ListingFilter,
    ListingView,
    MarketShare,
    ShownListing,
)

KILOMETRES_A_DEGREE = 111.32
MOST_HISTORY = 200

_decode = msgspec.json.decode
_FROM = listings.join(market_configs, market_configs.c.id == listings.c.market_id)


class ListingViews:
    """Reads the repository of homes for people."""

    def __init__(self, database: Database, fading: ConfidenceDecay) -> None:
        """`fading` says how confidence falls, and from where on readers see a home."""
        self._database = database
        self._fading = fading

    async def search(
        self, which: ListingFilter, now: datetime, *, after: ListingCursor | None = None, limit: int = 50
    ) -> list[ListingView]:
        """The homes that match, active and fresh enough; newest first, or the cheapest of those that name a rent."""
        query = self._select(now).where(ACTIVE, at_least(self._fading, which.least_confidence, now))
        for condition in conditions(which):
            query = query.where(condition)
        async with self._database.published() as connection:
            looked_up = None if which.text is None else _looked_up(which.text)
            if looked_up is not None and (few := await few_with_text(connection, listings, looked_up)) is not None:
                query = query.where(listings.c.id.in_(few))
            rows = (await connection.execute(_page(query, which.order, after, limit))).mappings().all()
        return [self._view(row, now) for row in rows]

    async def one(self, listing_id: int, now: datetime) -> ListingDetail | None:
        """A home, whatever became of it, with all that is known of it."""
        async with self._database.published() as connection:
            row = (await connection.execute(self._select(now).where(listings.c.id == listing_id))).mappings().first()
            if row is None:
                return None
            shown = (await connection.execute(_shown_by(listing_id))).mappings().all()
            history = (await connection.execute(_history(listing_id))).mappings().all()
        return ListingDetail(
            view=self._view(row, now),
            shown_by=[ShownListing(**each) for each in shown],
            provenance=dict(row["provenance"]),
            history=[dict(each) for each in history],
            gone_at=row["gone_at"],
            gone_reason=row["gone_reason"],
            checked_at=row["checked_at"],
            check_result=row["check_result"],
        )

    async def note_interest(self, listing_id: int, *, saved: bool) -> None:
        """Somebody looked at a home, or saved it: it is checked before those that nobody looks at."""
        column = listings.c.saves if saved else listings.c.looks
        async with self._database.write() as connection:
            await connection.execute(update(listings).where(listings.c.id == listing_id).values({column: column + 1}))

    async def by_market(self, now: datetime) -> list[MarketShare]:
        """How many homes each market has, how many readers see, and how many want a check."""
        sure = confidence(self._fading, now)
        query = (
            select(
                listings.c.market_id,
                func.count().label("active"),
                func.count().filter(sure >= self._fading.floor).label("visible"),
                func.count().filter(sure < self._fading.verify_under).label("fading"),
            )
            .select_from(_FROM)
            .where(ACTIVE)
            .group_by(listings.c.market_id)
            .order_by(listings.c.market_id)
        )
        async with self._database.published() as connection:
            return [MarketShare(**row) for row in (await connection.execute(query)).mappings()]

    def _select(self, now: datetime) -> Select[Any]:
        return select(listings, confidence(self._fading, now).label("sure")).select_from(_FROM)

    def _view(self, row: Any, now: datetime) -> ListingView:
        return ListingView(
            id=row["id"],
            market_id=row["market_id"],
            title=row["title"],
            url=row["url"],
            city=capwords(row["city"]),
            state=row["state"].upper(),
            rent_low=row["rent_low"],
            rent_high=row["rent_high"],
            currency=row["currency"],
            previous_rent=row["previous_rent"],
            rent_changed_at=row["rent_changed_at"],
            rent_note=rent_note(row),
            latitude=row["latitude"],
            longitude=row["longitude"],
            freshness_confidence=row["sure"],
            badge=badge(self._fading, row["sure"], row["first_seen_at"], now) if row["is_active"] else None,
            first_seen_at=row["first_seen_at"],
            last_seen_at=row["last_seen_at"],
            verified_at=row["verified_at"],
            times_seen=row["times_seen"],
            is_active=row["is_active"],
            listing=_decode(row["record"]),
        )


def conditions(which: ListingFilter) -> list[ColumnElement[bool]]:
    """What a filter asks of a home; of a range of rents or rooms, one that fits is enough."""
    found: list[ColumnElement[bool]] = []
    if which.market is not None:
        found.append(listings.c.market_id == which.market)
    if which.city is not None:
        found.append(listings.c.city == normalized(which.city))
    if which.text is not None:
        found.append(told(which.text))
    if which.rent_to is not None:
        found.append(listings.c.rent_low <= which.rent_to)
    if which.rent_from is not None:
        found.append(func.coalesce(listings.c.rent_high, listings.c.rent_low) >= which.rent_from)
    if which.beds_to is not None:
        found.append(listings.c.beds_low <= which.beds_to)
    if which.beds_from is not None:
        found.append(func.coalesce(listings.c.beds_high, listings.c.beds_low) >= which.beds_from)
    if which.near is not None:
        found.append(within(*which.near))
    return found


def told(text: str) -> ColumnElement[bool]:
    """Whether a home's name, or its address in whatever spelling, holds these words."""
    in_title = func.lower(listings.c.title).contains(text.lower(), autoescape=True)
    street = street_words(text)
    in_address = func.lower(listings.c.address_key).contains(street, autoescape=True)
    return or_(in_title, in_address) if street else in_title


def _looked_up(text: str) -> dict[str, str]:
    """What the index is asked for, by column."""
    street = street_words(text)
    return {"title": text, "address_key": street} if street else {"title": text}


def within(latitude: float, longitude: float, kilometres: float) -> ColumnElement[bool]:
    """Inside a circle: a box first, which an index answers, then the distance on the plane of that latitude."""
    shrink = max(0.01, math.cos(math.radians(latitude)))
    high, wide = kilometres / KILOMETRES_A_DEGREE, kilometres / KILOMETRES_A_DEGREE / shrink
    north = (listings.c.latitude - latitude) * KILOMETRES_A_DEGREE
    east = (listings.c.longitude - longitude) * (KILOMETRES_A_DEGREE * shrink)
    return and_(
        listings.c.latitude.between(latitude - high, latitude + high),
        listings.c.longitude.between(longitude - wide, longitude + wide),
        north * north + east * east <= kilometres * kilometres,
    )


def _page(query: Select[Any], order: str, after: ListingCursor | None, limit: int) -> Select[Any]:
    if order == "rent":
        query = query.where(listings.c.rent_low.is_not(None))
        if after is not None:
            query = query.where(tuple_(listings.c.rent_low, listings.c.id) > tuple_(after.value, after.id))
        return query.order_by(listings.c.rent_low, listings.c.id).limit(limit)
    if after is not None:
        query = query.where(listings.c.id < after.id)
    return query.order_by(listings.c.id.desc()).limit(limit)


def cursor_of(view: ListingView, order: str) -> ListingCursor:
    """Where a page that ends with this home goes on."""
    return ListingCursor((view.rent_low or 0) if order == "rent" else 0, view.id)


def rent_note(row: Any) -> str:
    """`was $2,400, now $2,250`, once a rent has moved."""
    was, now = row["previous_rent"], row["rent_low"]
    if was is None or now is None or was == now:
        return ""
    return f"was {money(was, row['currency'])}, now {money(now, row['currency'])}"


def money(cents: int, currency: str) -> str:
    """An amount as a reader expects it."""
    sign = {"USD": "$", "EUR": "€", "GBP": "£"}.get(currency, f"{currency} ")
    return f"{sign}{cents // 100:,}" if cents % 100 == 0 else f"{sign}{cents / 100:,.2f}"


def _shown_by(listing_id: int) -> Select[Any]:
    return (
        select(
            listing_sightings.c.source_id,
            func.coalesce(sources.c.name, "").label("source_name"),
            listing_sightings.c.url,
            listing_sightings.c.last_seen_at,
            listing_sightings.c.gone_at,
        )
        .select_from(listing_sightings.outerjoin(sources, sources.c.id == listing_sightings.c.source_id))
        .where(listing_sightings.c.listing_id == listing_id)
        .order_by(listing_sightings.c.id)
    )


def _history(listing_id: int) -> Select[Any]:
    return (
        select(record_history.c.kind, record_history.c.changes, record_history.c.created_at, record_history.c.run_id)
        .where(record_history.c.vertical == "listings", record_history.c.record_id == listing_id)
        .order_by(record_history.c.id.desc())
        .limit(MOST_HISTORY)
    )
