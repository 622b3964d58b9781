"""The lists that an operator works through first, in the order of the menu, and that of breakers."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.web.deps import WebDeps
from tidemill.web.portal.filters import source_link
from tidemill.web.portal.list_pages.letters import dead_letters
from tidemill.web.portal.list_pages.quarantined import quarantine
from tidemill.web.portal.list_pages.target_list import targets
from tidemill.web.portal.lists import (
    SOURCE_FILTER,
    BulkAction,
    Column,
    Filters,
    ListPage,
    RowAction,
)
from tidemill.web.portal.replays import replays
from tidemill.web.portal.upkeep_lists import adapters, audit, candidates, proposals, ticks
from tidemill.web.portal.watching.incidents import incidents


def work_pages(deps: WebDeps) -> list[ListPage]:
    """Return every list, in the order of the navigation."""
    return [
        dead_letters(deps), quarantine(deps), targets(deps), breakers(deps), adapters(deps), proposals(deps),
        replays(deps), candidates(deps), incidents(deps), ticks(deps), audit(deps),
    ]  # fmt: skip


def breakers(deps: WebDeps) -> ListPage:
    """Return the page of circuit breakers."""

    async def load(chosen: Filters, _: str | None, __: int) -> Sequence[Any]:
        return [row for row in await deps.views.breakers() if chosen["source"] in {None, row.source_name}]

    async def reset(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.breakers.reset(key, by)
        return f"The breaker of {done.source} was {done.was.lower()} and is closed."

    async def reset_all(_: Filters, by: str) -> str:
        return f"{len(await deps.breakers.reset_all(by))} breakers are closed."

    return ListPage(
        path="/breakers",
        title="Circuit breakers",
        about="A source that keeps failing is left alone for a while; then one request tries it.",
        empty="No breaker was ever asked.",
        columns=[
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("state", lambda row: row.state, state=True),
            Column("failures in a row", lambda row: row.failure_count),
            Column("last failure", lambda row: row.last_failure_at),
            Column("left alone until", lambda row: row.cooldown_until),
        ],
        load=load,
        key=lambda row: row.source_name,
        api="/api/v1/breakers",
        filters=[SOURCE_FILTER],
        actions=[
            RowAction(name="reset", label="Close it", do=reset, applies=lambda row: row.state != "CLOSED", many=True)
        ],
        bulk=[
            BulkAction(
                name="reset-all",
                label="Close all of them",
                do=reset_all,
                warning="Every site that is left alone is asked again at once, whatever the filter shows.",
            )
        ],
        is_paged=False,
    )
