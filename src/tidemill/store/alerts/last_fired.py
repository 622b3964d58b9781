"""When each safety mechanism last did its work, as the database remembers it."""

from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from tidemill.store.database.database import Database
from tidemill.store.schema import (
    adapter_status,
    alert_outbox,
    breakers,
    dead_letters,
    incidents,
    jobs,
    recoveries,
    rejected_records,
    service_status,
    tick_slots,
)

QUERIES: dict[str, Select[Any]] = {
    "breaker": select(func.max(breakers.c.changed_at)),
    "dead letter": select(func.max(dead_letters.c.created_at)),
    "stale jobs": select(func.max(jobs.c.completed_at)).where(jobs.c.status == "stale"),
    "drift": select(func.max(incidents.c.opened_at)).where(incidents.c.rule != ""),
    "adapter switched off": select(func.max(adapter_status.c.disabled_at)),
    "quarantine": select(func.max(rejected_records.c.created_at)).where(rejected_records.c.verdict == "quarantined"),
    "fallback of a service": select(func.max(service_status.c.since)).where(service_status.c.state == "degraded"),
    "watchdog": select(func.max(recoveries.c.timestamp)),
    "failed tick": select(func.max(tick_slots.c.started_at)).where(tick_slots.c.status == "failed"),
    "incident": select(func.max(incidents.c.opened_at)),
    "message": select(func.max(alert_outbox.c.sent_at)),
}


class LastFired:
    """Reads the last time of each mechanism."""

    def __init__(self, database: Database) -> None:
        """Read from this database."""
        self._database = database

    async def every(self) -> dict[str, datetime | None]:
        """Return when each mechanism last fired; None for never, as far as rows are kept."""
        async with self._database.glance() as connection:
            return {name: (await connection.execute(query)).scalar() for name, query in QUERIES.items()}
