"""Strategies in order of trust: the first that yields usable records wins; one that raises is skipped."""

from collections.abc import Callable, Sequence

import msgspec

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document

Reader = Callable[[Document], Sequence[RawRecord]]


class Rung(msgspec.Struct, frozen=True):
    """One strategy and the function that reads a page by it."""

    strategy: Strategy
    read: Reader


class LadderResult(msgspec.Struct, frozen=True):
    """The records of the strategy that won, and notes about those before it."""

    records: Sequence[RawRecord]
    notes: Sequence[str] = ()


def first_usable(document: Document, rungs: Sequence[Rung], is_usable: Callable[[RawRecord], bool]) -> LadderResult:
    """Try the strategies in turn; the first with a usable record wins, with all that it found.

    When no record is usable, the first strategy that found anything stands, so that each of its records is
    accounted for with a reason instead of being lost.
    """
    notes: list[str] = []
    leftover: Sequence[RawRecord] = ()
    for rung in rungs:
        found = _tried(rung, document, notes)
        if any(is_usable(record) for record in found):
            return LadderResult(found, tuple(notes))
        if found:
            notes.append(f"{rung.strategy}: {len(found)} records, none usable")
            leftover = leftover or found
    return LadderResult(leftover, tuple(notes))


def _tried(rung: Rung, document: Document, notes: list[str]) -> Sequence[RawRecord]:
    try:
        return rung.read(document)
    except Exception as error:  # noqa: BLE001 - whatever a strategy trips over, the next one gets its turn
        notes.append(f"{rung.strategy}: {type(error).__name__}: {error}"[:300])
        return ()
