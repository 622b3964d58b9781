"""What of listings can be exported: the homes that readers see."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidemill.core.views.past import Cause
from tidemill.operations.exporting.dataset import ColumnKind, ExportDataset, ExportRow, columns
from tidemill.pipeline.ports import Clock
from tidemill.verticals.listings.store.past import PastListings
from tidemill.verticals.listings.store.views import ListingViews, cursor_of
from tidemill.verticals.listings.views import ListingCursor, ListingFilter, ListingView

_TEXT, _MOMENT, _WHOLE, _NUMBER = ColumnKind.TEXT, ColumnKind.MOMENT, ColumnKind.WHOLE, ColumnKind.NUMBER
_OF_VIEW = (
    "id", "market_id", "title", "url", "city", "state", "rent_low", "rent_high", "currency", "previous_rent",
    "rent_changed_at", "latitude", "longitude", "freshness_confidence", "first_seen_at", "last_seen_at", "verified_at",
    "times_seen",
)  # fmt: skip
_OF_LISTING = (
    "address", "postal_code", "neighborhood", "beds_low", "beds_high", "baths_low", "baths_high", "size_low",
    "size_high", "available_on", "kind", "amenities", "description", "source_name",
)  # fmt: skip


class ListingExportFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which homes; rents are cents a month."""

    market: str | None = None
    city: str | None = None
    text: str | None = None
    rent_from: int | None = None
    rent_to: int | None = None
    beds_from: float | None = None
    beds_to: float | None = None
    confidence: int = 40


def listing_dataset(views: ListingViews, past: PastListings, clock: Clock) -> ExportDataset:
    """Return the dataset of homes."""

    async def load(which: ListingExportFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        place = None if after is None else ListingCursor.parse(after)
        return [_row(home) for home in await views.search(_wanted(which), clock.now(), after=place, limit=limit)]

    async def load_past(
        which: ListingExportFilter, after: str | None, limit: int, moment: datetime
    ) -> Sequence[ExportRow]:
        place = None if after is None else ListingCursor.parse(after)
        return [_row(home) for home in await past.search(_wanted(which), moment, after=place, limit=limit)]

    async def load_causes(rows: Sequence[ExportRow], begin: datetime, end: datetime) -> Mapping[str, Sequence[Cause]]:
        known = await past.causes([int(row.values["id"]) for row in rows], begin, end)
        return {str(key): causes for key, causes in known.items()}

    return ExportDataset(
        name="listings",
        about="Homes for rent that are active and fresh enough, the newest first; rents are cents a month.",
        columns=columns(
            id=_WHOLE, market_id=_TEXT, title=_TEXT, url=_TEXT, address=_TEXT, postal_code=_TEXT, neighborhood=_TEXT,
            city=_TEXT, state=_TEXT, rent_low=_WHOLE, rent_high=_WHOLE, currency=_TEXT, previous_rent=_WHOLE,
            rent_changed_at=_MOMENT, beds_low=_NUMBER, beds_high=_NUMBER, baths_low=_NUMBER, baths_high=_NUMBER,
            size_low=_WHOLE, size_high=_WHOLE, available_on=_TEXT, kind=_TEXT, amenities=_TEXT, latitude=_NUMBER,
            longitude=_NUMBER, freshness_confidence=_WHOLE, badge=_TEXT, first_seen_at=_MOMENT, last_seen_at=_MOMENT,
            verified_at=_MOMENT, times_seen=_WHOLE, source_name=_TEXT, description=_TEXT, record=ColumnKind.JSON,
        ),
        filters=ListingExportFilter,
        load=load,
        load_past=load_past,
        load_causes=load_causes,
        newest_first=True,
        listed=("id", "market_id", "title", "rent_low", "currency", "beds_low", "freshness_confidence", "last_seen_at"),
    )  # fmt: skip


def _row(home: ListingView) -> ExportRow:
    values = {name: getattr(home, name) for name in _OF_VIEW}
    told = {name: home.listing.get(name) for name in _OF_LISTING}
    badge = None if home.badge is None else home.badge.text
    return ExportRow(cursor_of(home, "newest").text, {**values, **told, "badge": badge, "record": home.listing}, home)


def _wanted(which: ListingExportFilter) -> ListingFilter:
    return ListingFilter(
        market=which.market, city=which.city, text=which.text, rent_from=which.rent_from, rent_to=which.rent_to,
        beds_from=which.beds_from, beds_to=which.beds_to, least_confidence=which.confidence,
    )  # fmt: skip
