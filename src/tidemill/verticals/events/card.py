"""An event as readers see it: what all its sources say, made one, with whose word each field is."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.reconcile import Chosen, SourceClaim, is_missing, reconcile
from tidemill.verticals.events.record import Event, EventStatus, Precision

_TOGETHER = {
    "event_date": ("event_date", "event_time", "structured_date"),
    "venue_name": ("venue_name", "structured_location"),
    "coordinates": ("latitude", "longitude", "location_precision"),
}
"""Fields that are only true together: they come from one source."""
_OF_ONE_SOURCE = ("source_id", "source_name", "confidence", "normalization_method", "fingerprint")
"""Fields that tell of one source's record: the weightiest source's stay."""
_NOT_ALONE = frozenset(_OF_ONE_SOURCE).union(*_TOGETHER.values())
_ALONE = tuple(name for name in Event.__struct_fields__ if name not in _NOT_ALONE)
_PRECISION = {Precision.VENUE: 3, Precision.CITY: 2, Precision.SOURCE: 1, Precision.UNKNOWN: 0}


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One source's record of the event, and how much its word weighs."""

    event_id: int
    event: Event
    precedence: int
    reliability: float
    updated_at: datetime


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Whose word a field is, since when; `against` names the sources that say otherwise."""

    source: str
    at: datetime
    against: tuple[str, ...] = ()


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """An event made one from its sources; `provenance` by field, `members` the records behind it."""

    event: Event
    provenance: Mapping[str, Origin]
    members: Sequence[int]
    sources: Sequence[str]
    reliability: float


def card_of(members: Sequence[Member]) -> Card:
    """The event that these records tell of. A record alone is its own card."""
    if len(members) == 1:
        return _card_of_one(members[0])
    weighed = sorted(members, key=lambda one: (-one.precedence, -one.updated_at.timestamp(), one.event_id))
    first = weighed[0]
    chosen = reconcile([_claim(member) for member in weighed], least=0.0)
    chosen["coordinates"] = _best_place(weighed) or chosen["coordinates"]
    chosen["status"] = _status(weighed, chosen["status"])
    return Card(
        event=msgspec.structs.replace(first.event, **_values(chosen)),
        provenance={
            name: Origin(source=each.source, at=each.at, against=each.against) for name, each in chosen.items()
        },
        members=[member.event_id for member in weighed],
        sources=[member.event.source_name for member in weighed],
        reliability=max(member.reliability for member in weighed),
    )


def _card_of_one(member: Member) -> Card:
    """Nearly every card: every field is the one source's word."""
    origin = Origin(source=member.event.source_name, at=member.updated_at)
    return Card(
        event=member.event,
        provenance={name: origin for name, value in _claim(member).fields.items() if not is_missing(value)},
        members=[member.event_id],
        sources=[member.event.source_name],
        reliability=member.reliability,
    )


def _claim(member: Member) -> SourceClaim:
    event = member.event
    fields: dict[str, Any] = {name: getattr(event, name) for name in _ALONE}
    fields |= {name: tuple(getattr(event, part) for part in parts) for name, parts in _TOGETHER.items()}
    return SourceClaim(
        source=event.source_name,
        precedence=member.precedence,
        at=member.updated_at,
        fields=fields,
        confidence=event.confidence,
    )


def _values(chosen: Mapping[str, Chosen]) -> dict[str, Any]:
    values = {name: chosen[name].value for name in _ALONE if name in chosen}
    for name, parts in _TOGETHER.items():
        values |= dict(zip(parts, chosen[name].value, strict=True))
    return values


def _best_place(members: Sequence[Member]) -> Chosen | None:
    """The most precise coordinates count before the weightiest source's: a town's centre is no venue."""
    best = max(members, key=lambda one: _PRECISION[one.event.location_precision])
    if _PRECISION[best.event.location_precision] == _PRECISION[members[0].event.location_precision]:
        return None
    event = best.event
    value = (event.latitude, event.longitude, event.location_precision)
    return Chosen(value, event.source_name, best.updated_at)


def _status(members: Sequence[Member], chosen: Chosen) -> Chosen:
    """Cancelled only when nobody shows it as going ahead any more; who says so stands in the provenance."""
    if chosen.value is not EventStatus.CANCELLED:
        return chosen
    going = next((one for one in members if one.event.status is not EventStatus.CANCELLED), None)
    if going is None:
        return chosen
    cancelling = tuple(one.event.source_name for one in members if one.event.status is EventStatus.CANCELLED)
    return Chosen(going.event.status, going.event.source_name, going.updated_at, cancelling)
