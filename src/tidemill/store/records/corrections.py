"""The port through which an accepted replay reaches a vertical's records, and how it is taken back."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.schema import record_history

REPLAYED, REVERTED = "replayed", "replay_reverted"
"""Kinds of history: what a replay corrected, and that this was taken back."""
PERSISTED_WITHIN = timedelta(hours=1)
"""A record that was last seen so long after its page was fetched was shown by a later page."""


class RecordCorrection(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay found out about one record on one page: without `before` it was overlooked then.

    Without `after` it should not have been taken; with both, the fields in `names` were read wrongly.
    """

    source_id: int
    page_id: int
    fetched_at: datetime
    identity: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    names: Sequence[str]


class RecordCorrections(Protocol):
    """A vertical's side of `replay --apply`: corrections that are never as if something had been seen today."""

    async def correct(
        self,
        connection: AsyncConnection,
        replay_id: int,
        corrections: Sequence[RecordCorrection],
        by: str,
        now: datetime,
    ) -> Mapping[str, int]:
        """Correct what no later reading disagrees with; answers how many were corrected, added, removed, left alone.

        Corrections come in the order in which their pages were fetched.
        """
        ...

    async def revert(self, connection: AsyncConnection, replay_id: int, by: str, now: datetime) -> int:
        """Take back what a replay corrected, where nothing has changed it since; answers how many."""
        ...


def still_holds(current: Mapping[str, Any], correction: RecordCorrection) -> bool:
    """Return whether a record still says what was read wrongly: no later reading said anything else."""
    before: Mapping[str, Any] = correction.before or {}
    return all(current.get(name) == before.get(name) for name in correction.names)


def changes_of(correction: RecordCorrection) -> dict[str, Any]:
    """Return field by field what it was and what it is, as history keeps it."""
    before: Mapping[str, Any] = correction.before or {}
    after: Mapping[str, Any] = correction.after or {}
    names = correction.names or tuple(dict.fromkeys([*before, *after]))
    return {name: [before.get(name), after.get(name)] for name in names}


async def corrected_by(connection: AsyncConnection, vertical: str, replay_id: int) -> list[Any]:
    """Return the lines of history that a replay wrote, the newest first."""
    query = (
        select(record_history)
        .where(
            record_history.c.vertical == vertical,
            record_history.c.replay_id == replay_id,
            record_history.c.kind == REPLAYED,
        )
        .order_by(record_history.c.id.desc())
    )
    return list((await connection.execute(query)).mappings())
