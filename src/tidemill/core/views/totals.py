"""Everything in numbers."""

from collections.abc import Mapping

import msgspec


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What there is, counted.

    `records` holds what became of records over all runs: `read` is `accepted`, `dropped` and `quarantined` together,
    and `accepted` is `inserted`, `updated`, `unchanged` and `repeated`, once they are all through; `seen_again` are
    those on pages that had not changed. The mappings by state list only states that occur.
    """

    sources: int
    sources_on: int
    targets: int
    pages: int
    pages_unchanged: int
    records: Mapping[str, int]
    events_listed: int
    events_gone: int
    jobs: Mapping[str, int]
    runs: Mapping[str, int]
    dead_letters: Mapping[str, int]
    breakers: Mapping[str, int]
    homes_listed: int = 0
    homes_gone: int = 0
    products_sold: int = 0
    products_gone: int = 0
