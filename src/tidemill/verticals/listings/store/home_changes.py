"""What became of homes, line by line, for programs that follow along."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.records.changes import ChangeLine, write_changes
from tidemill.verticals.listings.store.merging import MergedListing
from tidemill.verticals.listings.store.tables import listings
from tidemill.verticals.listings.store.writes import Before, difference

VERTICAL = "listings"
CHANGE_KINDS = {
    "new": "A home is shown for the first time.",
    "rent_changed": "A home asks another rent.",
    "changed": "Something else about a home is told differently now.",
    "returned": "A home that was gone or had faded is shown again.",
    "gone": "A home is off the market: nobody shows it any more, or its page says so.",
    "faded": "A home has not been seen for so long that nobody can tell; that is no proof of anything.",
}


def home_lines(homes: Sequence[MergedListing], new: Collection[int], before: Mapping[int, Before]) -> list[ChangeLine]:
    """Return what becomes of the homes of a batch."""
    lines = []
    for home in homes:
        kind, changes = ("new", {}) if home.id in new else difference(before[home.id], home)
        if kind == "changed" and "rent_low" in changes:
            kind = "rent_changed"
        if kind:
            one = home.listing
            lines.append(
                ChangeLine(record_id=home.id, kind=kind, title=one.title, group=one.market_id, changes=changes)
            )
    return lines


async def write_endings(
    connection: AsyncConnection, ended: Sequence[tuple[int, str]], now: datetime, reason: str = ""
) -> None:
    """Tell that homes are off, each by its key and kind; `reason` in words."""
    if not ended:
        return
    query = select(listings.c.id, listings.c.title, listings.c.market_id)
    rows = (await connection.execute(query.where(listings.c.id.in_([key for key, _ in ended])))).all()
    told = {row.id: row for row in rows}
    lines = [
        ChangeLine(
            record_id=key, kind=kind, title=told[key].title, group=told[key].market_id,
            changes={"reason": [None, reason]} if reason else {},
        )
        for key, kind in ended
        if key in told
    ]  # fmt: skip
    await write_changes(connection, VERTICAL, lines, now)
