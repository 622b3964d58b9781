"""Cards as rows are read: what of them is a column, what stands in the card, and how a replaced one is kept."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tidemill.store.records.shown import ShownRecord
from tidemill.verticals.events.views import CardView

CARD_COLUMNS = ("id", "source_id", "title", "event_date", "ends_at", "category", "latitude", "longitude", "status",
                "updated_at")  # fmt: skip


class _Stored(msgspec.Struct, frozen=True):
    """A stored card, its event left as it is."""

    event: msgspec.Raw
    provenance: dict[str, Any]
    members: list[int]
    sources: list[str]


class _Told(msgspec.Struct, frozen=True):
    """What of the event is not a column."""

    event_time: str
    venue_name: str


class _Columns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a card that was replaced."""

    id: int
    source_id: int
    title: str
    event_date: datetime
    ends_at: datetime | None
    category: str
    latitude: float | None
    longitude: float | None
    status: str
    updated_at: datetime


class _Replaced(msgspec.Struct, frozen=True):
    """A card that was replaced, whole."""

    columns: _Columns
    card: msgspec.Raw


_stored = msgspec.json.Decoder(_Stored).decode
_told = msgspec.json.Decoder(_Told).decode
_replaced = msgspec.json.Decoder(_Replaced).decode
_encode = msgspec.json.Encoder().encode


def card_view(row: Mapping[Any, Any]) -> CardView:
    """Return a card as readers see it."""
    kept = _stored(row["card"])
    told = _told(kept.event)
    return CardView(
        **{name: row[name] for name in CARD_COLUMNS},
        event_time=told.event_time,
        venue_name=told.venue_name,
        source_name=kept.sources[0],
        sources=kept.sources,
        members=kept.members,
        provenance=kept.provenance,
        record=kept.event,
    )


def shown_card(row: Mapping[Any, Any]) -> ShownRecord:
    """Return a card that is about to be replaced as it is kept: readers saw it since it was written."""
    columns = _Columns(**{name: row[name] for name in CARD_COLUMNS})
    shown = _encode(_Replaced(columns, msgspec.Raw(row["card"])))
    return ShownRecord(record_id=row["id"], place=row["event_date"], since=row["updated_at"], shown=shown)


def replaced_view(shown: bytes) -> CardView:
    """Return a card that was replaced as readers saw it."""
    kept = _replaced(shown)
    return card_view({**msgspec.structs.asdict(kept.columns), "card": bytes(kept.card)})
