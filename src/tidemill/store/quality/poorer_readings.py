"""Targets that are read worse than their last good page: what is said of them, and how a person accepts it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.quality.readings import MOST_NAMED, poorer_words
from tidemill.core.target import POORER_READING
from tidemill.store.schema import jobs, target_pages, targets

_POORER = text(f"scrape_targets.last_status = '{POORER_READING}'")
"""Spelled out: a planner only uses a partial index when it can read its condition."""
_POORER_TARGETS = (
    select(targets.c.source_id, func.count().label("pages"))
    .where(_POORER, targets.c.enabled, targets.c.source_id.in_(bindparam("b_sources", expanding=True)))
    .group_by(targets.c.source_id)
)
_EXAMPLES = (
    select(jobs.c.url, jobs.c.last_error)
    .where(jobs.c.run_id == bindparam("b_run"), jobs.c.last_error.startswith(f"{POORER_READING}: "))
    .order_by(jobs.c.id + 0)  # the run leads to its jobs, not the order of all that ever were
    .limit(MOST_NAMED)
)
_FORGET = {"good_shape": None, "good_digest": None, "etag": "", "last_modified": ""}


class EndedRun(Protocol):
    """A run that has ended, as far as this asks."""

    @property
    def run(self) -> Mapping[Any, Any]:
        """Its row."""
        ...

    @property
    def poorer_pages(self) -> int:
        """How many of its pages were read worse."""
        ...


async def poorer_readings(connection: AsyncConnection, ended: Sequence[EndedRun]) -> dict[int, str]:
    """Return by source what is read worse than it was, by these runs or before them; others are not among them."""
    sources = sorted({each.run["source_id"] for each in ended})
    known = {row.source_id: row.pages for row in await connection.execute(_POORER_TARGETS, {"b_sources": sources})}
    words: dict[int, str] = {}
    for each in ended:
        source = each.run["source_id"]
        if pages := max(known.get(source, 0), each.poorer_pages):
            words[source] = poorer_words(pages, await _examples(connection, each))
    return words


async def _examples(connection: AsyncConnection, ended: EndedRun) -> list[str]:
    if not ended.poorer_pages:
        return []
    found = await connection.execute(_EXAMPLES, {"b_run": ended.run["id"]})
    return [f"{row.url}: {row.last_error.removeprefix(f'{POORER_READING}: ')}" for row in found]


async def accept_readings(connection: AsyncConnection, source_ids: Collection[int]) -> None:
    """Take what these sources' pages are read as from now on as how they are: the next reading is compared with none.

    Pages that are read worse are read anew, even if they have not changed.
    """
    keys = sorted(source_ids)
    mine = targets.c.source_id.in_(keys)
    await connection.execute(update(targets).where(mine, _POORER).values(_FORGET))
    await connection.execute(update(targets).where(mine, targets.c.good_shape.is_not(None)).values(good_shape=None))
    further = target_pages.c.target_id.in_(select(targets.c.id).where(mine))
    await connection.execute(update(target_pages).where(further).values(_FORGET))
