"""Everything in numbers."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec


class RecordTotal(msgspec.Struct, frozen=True):
    """How a vertical's records are counted: what people call them, and the names of the two figures.

    `how` is said of those that are there: `12 listed`, `3 for rent`. Runs count which records are new; what is watched
    live is not `is_counted_by_runs`: its runs count changes.
    """

    noun: str
    there: str
    gone: str
    how: str
    is_counted_by_runs: bool = True


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What there is, counted.

    `records` holds what became of records over all runs: `read` is `accepted`, `dropped` and `quarantined` together,
    and `accepted` is `inserted`, `updated`, `unchanged` and `repeated`, once they are all through; `seen_again` are
    those on pages that had not changed. The mappings by state list only states that occur. The figures of each vertical
    are added by `totals_type`.
    """

    sources: int
    sources_on: int
    targets: int
    pages: int
    pages_unchanged: int
    records: Mapping[str, int]
    jobs: Mapping[str, int]
    runs: Mapping[str, int]
    dead_letters: Mapping[str, int]
    breakers: Mapping[str, int]

    def of(self, total: RecordTotal) -> tuple[int, int]:
        """How many of a vertical's records are there, and how many are gone."""
        return getattr(self, total.there), getattr(self, total.gone)


def totals_type(records: Sequence[RecordTotal]) -> type[Totals]:
    """The totals of an installation with these verticals: each adds its two figures."""
    fields = [(name, int) for total in records for name in (total.there, total.gone)]
    return cast("type[Totals]", msgspec.defstruct("Totals", fields, bases=(Totals,), frozen=True, kw_only=True))
