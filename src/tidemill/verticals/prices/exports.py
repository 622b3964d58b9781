"""What of prices can be exported: products, what shops ask now, and every change of a price."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.views.past import Cause
from tidemill.core.views.records import key_place
from tidemill.operations.exporting.dataset import ColumnKind, ExportDataset, ExportRow, columns
from tidemill.verticals.prices.store.past import PastOffers
from tidemill.verticals.prices.store.views import PriceReads
from tidemill.verticals.prices.views import OfferFilter, ProductFilter

_TEXT, _MOMENT, _WHOLE, _NUMBER = ColumnKind.TEXT, ColumnKind.MOMENT, ColumnKind.WHOLE, ColumnKind.NUMBER
_YES_NO = ColumnKind.YES_NO


class NoExportFilter(msgspec.Struct, frozen=True):
    """A list that is had whole."""


def price_datasets(views: PriceReads, past: PastOffers) -> Sequence[ExportDataset]:
    """Return the datasets of prices."""
    return [_products(views), _offers(views, past), _changes(views)]


def _products(views: PriceReads) -> ExportDataset:
    async def load(which: ProductFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        return [_row(one, one.id) for one in await views.products(which, after=key_place(after), limit=limit)]

    return ExportDataset(
        name="products",
        about="Products that somebody offers, with the lowest price in stock, in cents.",
        columns=columns(
            id=_WHOLE, title=_TEXT, brand=_TEXT, upc=_TEXT, offers=_WHOLE, in_stock=_WHOLE, lowest_cents=_WHOLE,
            lowest_currency=_TEXT,
            attributes=ColumnKind.JSON,
        ),
        filters=ProductFilter,
        load=load,
    )  # fmt: skip


def _offers(views: PriceReads, past: PastOffers) -> ExportDataset:
    async def load(which: OfferFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        return [_row(one, one.id) for one in await views.offers(which, after=key_place(after), limit=limit)]

    async def load_past(which: OfferFilter, after: str | None, limit: int, moment: datetime) -> Sequence[ExportRow]:
        found = await past.offers(which, moment, after=key_place(after), limit=limit)
        return [_row(one, one.id) for one in found]

    async def load_causes(rows: Sequence[ExportRow], begin: datetime, end: datetime) -> Mapping[str, Sequence[Cause]]:
        known = await past.causes([int(row.values["id"]) for row in rows], begin, end)
        return {str(key): causes for key, causes in known.items()}

    return ExportDataset(
        name="offers",
        about="What shops ask now, corrections applied; prices are cents.",
        columns=columns(
            id=_WHOLE, product_id=_WHOLE, source_name=_TEXT, retailer=_TEXT, identity_key=_TEXT, url=_TEXT, title=_TEXT,
            brand=_TEXT, upc=_TEXT, price_cents=_WHOLE, currency=_TEXT, availability=_TEXT,
            cost_per_round_cents=_NUMBER, shipping_cents=_WHOLE, tax_included=_YES_NO, corrected=_YES_NO,
            observed_at=_MOMENT, last_seen_at=_MOMENT, price_id=_WHOLE, source_id=_WHOLE,
        ),
        filters=OfferFilter,
        load=load,
        load_past=load_past,
        load_causes=load_causes,
        listed=("id", "source_name", "title", "price_cents", "currency", "availability", "corrected", "observed_at"),
    )  # fmt: skip


def _changes(views: PriceReads) -> ExportDataset:
    async def load(which: NoExportFilter, after: str | None, limit: int) -> Sequence[ExportRow]:
        del which
        return [_row(one, one.seq) for one in await views.changes(key_place(after), limit=limit)]

    return ExportDataset(
        name="price-changes",
        about="Every change of a price that readers could see, in the order in which it became visible.",
        columns=columns(
            seq=_WHOLE, price_id=_WHOLE, source_product_id=_WHOLE, product_id=_WHOLE, source_name=_TEXT, title=_TEXT,
            url=_TEXT, price_cents=_WHOLE, currency=_TEXT, availability=_TEXT, was_cents=_WHOLE, was_currency=_TEXT,
            was_availability=_TEXT, observed_at=_MOMENT,
        ),
        filters=NoExportFilter,
        load=load,
    )  # fmt: skip


def _row(thing: Any, place: int) -> ExportRow:
    return ExportRow(str(place), msgspec.structs.asdict(thing), thing)
