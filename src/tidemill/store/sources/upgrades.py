"""Suggested fetcher upgrades: noted when the paid fetcher got what ours did not, decided by a person."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, case, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.outcome import Advance
from tidemill.core.source import FetcherKind
from tidemill.core.views import UpgradeView
from tidemill.pipeline.checkpoints import Checkpoint, Fetched
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import fetcher_upgrades, sources
from tidemill.store.schema.view_columns import view_columns
from tidemill.store.upkeep.audit import take_keys, write_audit

LONGEST_REASON = 500


async def suggest_upgrades(
    connection: AsyncConnection, database: Database, batch: Sequence[Checkpoint], now: datetime
) -> None:
    """Note, in the transaction that stores the pages, which sources another fetcher served better."""
    found: dict[int, dict[str, Any]] = {}
    for each in batch:
        if reason := _reason(each):
            key = each.claimed.source.id
            times = found[key]["times"] + 1 if key in found else 1
            found[key] = {"source_id": key, "reason": reason, "times": times, "suggested_at": now, "last_at": now}
    if found:
        rows = [{**found[key], "fetcher": FetcherKind.SCRAPINGBEE} for key in sorted(found)]
        await connection.execute(_suggesting(database), rows)


def _reason(checkpoint: Checkpoint) -> str:
    outcome = checkpoint.outcome
    if not isinstance(outcome, Advance) or not isinstance(outcome.produced, Fetched):
        return ""
    instead_of = outcome.produced.result.instead_of
    return storable(instead_of, LONGEST_REASON) if instead_of else ""


@lru_cache(maxsize=4)
def _suggesting(database: Database) -> Any:
    """A person's no stands; anything else becomes a suggestion again."""
    statement = database.insert(fetcher_upgrades)
    held = fetcher_upgrades.c
    fresh = {name: statement.excluded[name] for name in ("fetcher", "reason", "last_at")}
    status = case((held.status == "dismissed", "dismissed"), else_="pending")
    times = held.times + statement.excluded.times
    return statement.on_conflict_do_update(
        index_elements=["source_id"], set_={**fresh, "status": status, "times": times}
    )


class UpgradeRepository:
    """Suggestions, and what a person makes of them."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Work on one database."""
        self._database = database
        self._ids = ids

    async def every(self, status: str | None = None) -> list[UpgradeView]:
        """All suggestions, or those of one status, by source."""
        query = _SHOWN if status is None else _SHOWN.where(fetcher_upgrades.c.status == status)
        async with self._database.read() as connection:
            return [UpgradeView(**row) for row in (await connection.execute(query)).mappings()]

    async def decide(
        self, upgrade: UpgradeView, status: str, actor: str, now: datetime, audit: Sequence[AuditEntry]
    ) -> None:
        """Write a person's word down; one that is accepted changes the source in the same transaction."""
        keys = await take_keys(self._ids, len(audit))
        which = {"b_source": upgrade.source_id, "b_now": now}
        async with self._database.write() as connection:
            await connection.execute(_DECIDE, {**which, "b_status": status, "b_actor": actor})
            if status == "accepted":
                await connection.execute(_SWITCH, {**which, "b_fetcher": upgrade.fetcher})
            await write_audit(connection, zip(keys, audit, strict=True), now)


_SHOWN = (
    select(*view_columns(UpgradeView, fetcher_upgrades), sources.c.name.label("source_name"))
    .join_from(fetcher_upgrades, sources, sources.c.id == fetcher_upgrades.c.source_id)
    .order_by(sources.c.name)
)
_DECIDE = (
    update(fetcher_upgrades)
    .where(fetcher_upgrades.c.source_id == bindparam("b_source"))
    .values(status=bindparam("b_status"), decided_at=bindparam("b_now"), decided_by=bindparam("b_actor"))
)
_SWITCH = (
    update(sources)
    .where(sources.c.id == bindparam("b_source"))
    .values(fetcher=bindparam("b_fetcher"), updated_at=bindparam("b_now"))
)


async def upgrade_of(connection: AsyncConnection, source_id: int) -> UpgradeView | None:
    """What is suggested for one source, if anything."""
    row = (await connection.execute(_SHOWN.where(fetcher_upgrades.c.source_id == source_id))).mappings().first()
    return None if row is None else UpgradeView(**row)
