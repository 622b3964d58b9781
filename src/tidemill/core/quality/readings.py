"""Whether a page was read as well as its last good one: by as good a strategy, and with the fields that it had."""

from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from typing import Any

import msgspec

from tidemill.core.record import Strategy

MOST_LOST = 0.30
"""How much of its share a field may lose between two readings of a page."""
FEWEST_RECORDS = 5
"""Records of a page below which shares say nothing: one of four is 25 points."""
LEAST_CERTAINTY = 1.64
"""Standard deviations that a loss must lie beyond: 95 in 100 such losses are none of chance."""
MOST_NAMED = 3
_ROUNDING = 1e-9
_RANKS: Mapping[str, int] = {strategy: rank for rank, strategy in enumerate(Strategy)}


class ReadingShape(msgspec.Struct, frozen=True, array_like=True):
    """How a page was read: by which strategy, how many records it gave, and how many of them had each field.

    Of too few records the fields are left out: nothing is compared with them.
    """

    strategy: str
    records: int = 0
    fields: Mapping[str, int] = msgspec.field(default_factory=dict)


class PoorerReading(msgspec.Struct, frozen=True, array_like=True):
    """A page that was read worse than its last good one; `is_weaker` when by a weaker strategy."""

    detail: str
    is_weaker: bool


def shape_of(strategy: str, records: int, fields: Mapping[str, int]) -> ReadingShape | None:
    """Return the shape of a reading; None for one without records, with which nothing can be compared."""
    if not records:
        return None
    return ReadingShape(strategy, records, dict(fields) if records >= FEWEST_RECORDS else {})


def poorer_reading(now: ReadingShape | None, good: ReadingShape | None) -> PoorerReading | None:
    """Return what a reading is worse in than the last good one of the same page; None if it is not."""
    if now is None or good is None:
        return None
    if _RANKS.get(now.strategy, 0) > _RANKS.get(good.strategy, 0):
        return PoorerReading(f"read by {now.strategy}, before by {good.strategy}", is_weaker=True)
    lost = [field for field in sorted(good.fields) if now.fields and _is_lost(field, now, good)]
    if not lost:
        return None
    named = ", ".join(_loss(field, now, good) for field in lost[:MOST_NAMED])
    more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
    return PoorerReading(f"records lost fields: {named}{more}", is_weaker=False)


def _is_lost(field: str, now: ReadingShape, good: ReadingShape) -> bool:
    """Whether a field lost more than it may, and more than chance takes from so few records."""
    before, after = _share(field, good), _share(field, now)
    if before - after < MOST_LOST - _ROUNDING:
        return False
    pooled = (good.fields.get(field, 0) + now.fields.get(field, 0)) / (good.records + now.records)
    deviation = sqrt(pooled * (1 - pooled) * (1 / good.records + 1 / now.records))
    return before - after >= LEAST_CERTAINTY * deviation


def _share(field: str, shape: ReadingShape) -> float:
    return shape.fields.get(field, 0) / shape.records


def _loss(field: str, now: ReadingShape, good: ReadingShape) -> str:
    return f"{field} ({_share(field, good):.0%} before, {_share(field, now):.0%} now)"


class FieldRules(msgspec.Struct, frozen=True):
    """What a vertical says of its fields to those who keep the richer of two readings.

    Fields in `moving`, such as a price, are always as they were read. A field of `stands_in` says something even
    when the page does not: its value counts as told only while the field at that path is told.
    """

    moving: Collection[str] = ()
    stands_in: Mapping[str, Sequence[str]] = msgspec.field(default_factory=dict)


AS_READ = FieldRules()
"""The rules of a vertical that says nothing of its fields."""


def keep_richer(
    stored: Mapping[str, Any], read: Mapping[str, Any], rules: FieldRules, *, is_weaker: bool
) -> dict[str, Any]:
    """Return a record as it may be stored while its page is read worse than it was.

    What a weaker strategy reads never replaces what is there; the same strategy may replace, but not take away.
    """
    kept = {name: _richer(stored.get(name), value, is_weaker=is_weaker) for name, value in read.items()}
    kept |= {name: read[name] for name in rules.moving if name in read}
    for name, path in rules.stands_in.items():
        if not _is_empty(_at(stored, path)) and _is_empty(_at(read, path)):
            kept[name] = stored.get(name, read.get(name))
    return kept


def _richer(before: Any, now: Any, *, is_weaker: bool) -> Any:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return {name: _richer(before.get(name), value, is_weaker=is_weaker) for name, value in now.items()}
    if _is_empty(before):
        return now
    return before if is_weaker or _is_empty(now) else now


def _at(record: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = record
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, Sequence | Mapping) and not value)


def poorer_words(pages: int, details: Sequence[str]) -> str:
    """Return how many pages were read worse, and what of one of them."""
    counted = "1 page was" if pages == 1 else f"{pages} pages were"
    example = f"; {details[0]}" if details else ""
    return f"{counted} read worse than the last good one{example}"
