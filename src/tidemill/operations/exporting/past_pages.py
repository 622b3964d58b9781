"""Pages of the past: rows are undone first and chosen afterwards, so that a page may need several looks."""

from collections.abc import Awaitable, Callable, Sequence

from tidemill.core.views.records import key_place
from tidemill.operations.exporting.dataset import ExportRow

LoadCandidates = Callable[[int, int], Awaitable[tuple[Sequence[ExportRow], int | None]]]
"""Takes the last key and how many; returns the rows that are wanted, and the last key looked at or None at the end."""


async def filled_page(load: LoadCandidates, after: str | None, limit: int) -> list[ExportRow]:
    """Return as many rows as asked for, or all that are left."""
    found: list[ExportRow] = []
    place: int | None = key_place(after)
    while place is not None and len(found) < limit:
        rows, place = await load(place, limit - len(found))
        found += rows
    return found
