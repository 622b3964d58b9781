"""Second step: what a page shows beside prices: its texts, heading and buttons, its stock, labels and tables."""

from collections.abc import Mapping

import msgspec

from tidemill.reading.document import Document
from tidemill.reading.stock import Availability
from tidemill.verticals.prices.reading.attempts import Notes, attempt
from tidemill.verticals.prices.reading.product import QuantityTier
from tidemill.verticals.prices.reading.shown.hints import Hint
from tidemill.verticals.prices.reading.shown.labelled_fields import labelled_fields
from tidemill.verticals.prices.reading.shown.page_layout import EMPTY_LAYOUT, PageLayout, layout_of
from tidemill.verticals.prices.reading.shown.shown_stock import shown_stock
from tidemill.verticals.prices.reading.shown.tables import attributes_of, tiers_of
from tidemill.verticals.prices.reading.shown.worded_tiers import worded_tiers

_NO_LABELS: Mapping[str, tuple[str, str]] = {}
_NO_TIERS: tuple[QuantityTier, ...] = ()
_NO_ATTRIBUTES: Mapping[str, str] = {}


class PageContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a visitor could read on the page.

    `stock` and each of the `labels` (by field) come with the place where they were read; `tiers` are prices by
    quantity, `attributes` the rows of its tables.
    """

    layout: PageLayout
    stock: tuple[Availability, str]
    labels: Mapping[str, tuple[str, str]]
    tiers: tuple[QuantityTier, ...]
    attributes: Mapping[str, str]
    notes: Notes


def content_of(document: Document, title: str) -> PageContent:
    """Read what the page shows; `title` is what its data calls the product, to know its heading by."""
    layout, no_layout = attempt(lambda: layout_of(document, title, whole=False), EMPTY_LAYOUT)
    stock, no_stock = attempt(lambda: shown_stock(layout), (Availability.UNKNOWN, ""))
    labels, no_labels = attempt(lambda: labelled_fields(layout), _NO_LABELS)
    tiers, no_tiers = attempt(lambda: _tiers(document, layout), _NO_TIERS)
    attributes, no_attributes = attempt(lambda: attributes_of(layout), _NO_ATTRIBUTES)
    was_cut = [f"the page was cut: {document.cut}"] if document.cut else []
    return PageContent(
        layout=layout,
        stock=stock,
        labels=labels,
        tiers=tiers,
        attributes=attributes,
        notes=(*was_cut, *no_layout, *no_stock, *no_labels, *no_tiers, *no_attributes),
    )


def _tiers(document: Document, layout: PageLayout) -> tuple[QuantityTier, ...]:
    are_named = any(text_node.hints & Hint.TIER for text_node in layout.texts)
    return tiers_of(layout, document if are_named else None) or worded_tiers(layout)
