"""Adapters switched on and off: one row per adapter that somebody ever dealt with."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.quality.adapter_fit import forgive_drift
from tidemill.store.schema import adapter_status, sources
from tidemill.store.upkeep.audit import take_keys, write_audit

_OFF = select(adapter_status.c.adapter_id, adapter_status.c.disabled_by, adapter_status.c.disabled_reason).where(
    ~adapter_status.c.enabled
)


async def switched_off(connection: AsyncConnection) -> dict[str, str]:
    """The adapters that are off, each with who switched it off and why, in words."""
    return {
        row["adapter_id"]: f"adapter {row['adapter_id']} was switched off by {row['disabled_by'] or 'somebody'}"
        + (f": {row['disabled_reason']}" if row["disabled_reason"] else "")
        for row in (await connection.execute(_OFF)).mappings()
    }


def is_off(adapter_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the adapter is switched off, for queries over what it reads."""
    return exists().where(adapter_status.c.adapter_id == adapter_id, ~adapter_status.c.enabled)


class AdapterRepository:
    """Where it is kept which adapters are off, since when, by whom and why."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Work on one database."""
        self._database = database
        self._ids = ids

    async def set_enabled(
        self, adapter_id: str, *, enabled: bool, by: str, reason: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Switch an adapter on, which clears what was held against it, or off."""
        off = {"disabled_at": now, "disabled_reason": reason, "disabled_by": by}
        on = {"disabled_at": None, "disabled_reason": None, "disabled_by": None, "consecutive_failed_batches": 0}
        row = {"adapter_id": adapter_id, "enabled": enabled, "updated_at": now, **(on if enabled else off)}
        statement = self._database.insert(adapter_status)
        fresh = {name: statement.excluded[name] for name in row if name != "adapter_id"}
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            if enabled:
                await forgive_drift(connection, sources.c.adapter_id == adapter_id, by, now)
            await connection.execute(
                statement.on_conflict_do_update(index_elements=["adapter_id"], set_=fresh), [row]
            )  # fmt: skip
            await write_audit(connection, zip(keys, audit, strict=True), now)
