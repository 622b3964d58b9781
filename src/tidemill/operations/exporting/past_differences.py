"""What appeared, changed and vanished in a dataset between two moments, in constant memory."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.views.past import Cause, field_changes
from tidemill.operations.exporting.dataset import ExportDataset, ExportRow
from tidemill.operations.exporting.exporter import PAGE_SIZE, as_it_was
from tidemill.operations.mistakes import Mistake

UNCOMPARED = frozenset({
    "record", "state", "first_seen_at", "seq", "changed_at", "observed_at", "price_id", "updated_at", "last_seen_at",
    "verified_at", "times_seen", "freshness_confidence", "badge",
})  # fmt: skip
"""Columns that move by themselves; `record` and `state` are compared field by field instead."""
AT_ONCE = 200
"""Differences whose causes are looked up together."""


class DifferenceKind(StrEnum):
    """What happened to a row."""

    APPEARED = "appeared"
    CHANGED = "changed"
    VANISHED = "vanished"


class RowDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A row that is another one than before: its key, a title for people, what changed, and what made it so."""

    kind: DifferenceKind
    key: str
    title: str
    changes: Mapping[str, Any] = msgspec.field(default_factory=dict)
    causes: Sequence[Cause] = ()


async def differences(
    dataset: ExportDataset, given: Mapping[str, str], begin: datetime, end: datetime, now: datetime
) -> AsyncIterator[RowDifference]:
    """Yield what happened between two moments, in order of the rows' keys, each with the runs that did it."""
    held: list[tuple[RowDifference, ExportRow]] = []
    async for found in _differing(dataset, given, begin, end, now):
        held.append(found)
        if len(held) >= AT_ONCE:
            for each in await _with_causes(dataset, held, begin, end):
                yield each
            held = []
    for each in await _with_causes(dataset, held, begin, end):
        yield each


async def _with_causes(
    dataset: ExportDataset, held: Sequence[tuple[RowDifference, ExportRow]], begin: datetime, end: datetime
) -> list[RowDifference]:
    if dataset.load_causes is None or not held:
        return [each for each, _ in held]
    known = await dataset.load_causes([row for _, row in held], begin, end)
    return [msgspec.structs.replace(each, causes=known.get(each.key, ())) for each, _ in held]


async def _differing(
    dataset: ExportDataset, given: Mapping[str, str], begin: datetime, end: datetime, now: datetime
) -> AsyncIterator[tuple[RowDifference, ExportRow]]:
    if begin >= end:
        msg = f"the first moment ({begin.isoformat()}) must lie before the second ({end.isoformat()})"
        raise Mistake(msg)
    filters = dataset.parse_filters(given)
    before, after = (_rows(as_it_was(dataset, moment, now), filters) for moment in (begin, end))
    old, new = await anext(before, None), await anext(after, None)
    while old is not None or new is not None:
        if new is None or (old is not None and _comes_first(dataset, old, new)):
            assert old is not None  # noqa: S101 - the loop ends when both are
            yield _difference(dataset, DifferenceKind.VANISHED, old)
            old = await anext(before, None)
        elif old is None or _comes_first(dataset, new, old):
            yield _difference(dataset, DifferenceKind.APPEARED, new)
            new = await anext(after, None)
        else:
            changes = field_changes(_compared(old), _compared(new))
            if changes:
                yield _difference(dataset, DifferenceKind.CHANGED, new, changes)
            old, new = await anext(before, None), await anext(after, None)


async def _rows(dataset: ExportDataset, filters: object) -> AsyncIterator[ExportRow]:
    cursor: str | None = None
    while True:
        page = await dataset.load(filters, cursor, PAGE_SIZE)
        for row in page:
            yield row
        if len(page) < PAGE_SIZE:
            return
        cursor = page[-1].cursor


def _place(dataset: ExportDataset, row: ExportRow) -> Any:
    return row.values[dataset.key]


def _comes_first(dataset: ExportDataset, one: ExportRow, other: ExportRow) -> bool:
    """Return whether a row stands before another one in the order of the dataset's past."""
    first, second = _place(dataset, one), _place(dataset, other)
    return bool(first > second if dataset.newest_first else first < second)


def _compared(row: ExportRow) -> dict[str, Any]:
    whole = row.values.get("record") or row.values.get("state") or {}
    return {**whole, **{name: value for name, value in row.values.items() if name not in UNCOMPARED}}


def _difference(
    dataset: ExportDataset, kind: DifferenceKind, row: ExportRow, changes: Mapping[str, Any] | None = None
) -> tuple[RowDifference, ExportRow]:
    title = str(row.values.get("title") or "")
    return RowDifference(kind=kind, key=str(_place(dataset, row)), title=title, changes=changes or {}), row
