"""Listings as readers get them."""

from datetime import datetime
from typing import Any, Self

import msgspec

from tidemill.core.freshness import Badge
from tidemill.core.views.records import BadCursor, is_key


class ListingFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader looks for; `near` is latitude, longitude and a radius in kilometres."""

    market: str | None = None
    city: str | None = None
    text: str | None = None
    rent_from: int | None = None
    rent_to: int | None = None
    beds_from: float | None = None
    beds_to: float | None = None
    near: tuple[float, float, float] | None = None
    least_confidence: int = 40
    order: str = "newest"


class ListingCursor(msgspec.Struct, frozen=True):
    """Where a page of listings ended: the value it was ordered by, and the key."""

    value: int
    id: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The cursor that `text` writes."""
        value, _, key = text.partition(".")
        if not (is_key(value) and is_key(key)):
            msg = f"{text!r} is not a place in the list of listings; leave it out to start at the beginning"
            raise BadCursor(msg)
        return cls(int(value), int(key))

    @property
    def text(self) -> str:
        """The cursor as a reader passes it on."""
        return f"{self.value}.{self.id}"


class ListingView(msgspec.Struct, frozen=True, kw_only=True):
    """A home with what we know of its freshness.

    As of a moment in the past `times_seen` is None, and so is `last_seen_at` or `verified_at` where that was so long
    before the moment that it no longer counted.
    """

    id: int
    market_id: str
    title: str
    url: str
    city: str
    state: str
    rent_low: int | None
    rent_high: int | None
    currency: str
    previous_rent: int | None
    rent_changed_at: datetime | None
    rent_note: str
    latitude: float | None
    longitude: float | None
    freshness_confidence: int
    badge: Badge | None
    first_seen_at: datetime
    last_seen_at: datetime | None
    verified_at: datetime | None
    times_seen: int | None
    is_active: bool
    listing: dict[str, Any]


class ShownListing(msgspec.Struct, frozen=True, kw_only=True):
    """A source's word on a home."""

    source_id: int
    source_name: str
    url: str
    last_seen_at: datetime
    gone_at: datetime | None


class ListingDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A home with who shows it, who said what, and what became of it."""

    view: ListingView
    shown_by: list[ShownListing]
    provenance: dict[str, int]
    history: list[dict[str, Any]]
    gone_at: datetime | None
    gone_reason: str | None
    checked_at: datetime | None
    check_result: str | None


class MarketShare(msgspec.Struct, frozen=True, kw_only=True):
    """How a market stands with its readers."""

    market_id: str
    active: int
    visible: int
    fading: int
