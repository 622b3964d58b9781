"""The audit log: every deed of a person, in the same transaction as the deed."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import audit_log


class Noted(msgspec.Struct, frozen=True):
    """An entry as it stands in the log."""

    id: int
    at: datetime
    entry: AuditEntry


class AuditLog:
    """Writes and reads what people did."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def note(self, entries: Sequence[AuditEntry], now: datetime) -> None:
        """Write entries for deeds that changed no row, such as an export."""
        keys = await take_keys(self._ids, len(entries))
        async with self._database.write() as connection:
            await write_audit(connection, zip(keys, entries, strict=True), now)

    async def latest(
        self, limit: int = 100, before: int | None = None, subject: str | None = None, actor: str | None = None
    ) -> list[Noted]:
        """The newest entries first; `before` is the key of the last one already seen."""
        query = select(audit_log).order_by(audit_log.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(audit_log.c.id < before)
        if subject is not None:
            query = query.where(audit_log.c.subject == subject)
        if actor is not None:
            query = query.where(audit_log.c.actor == actor)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [
            Noted(row.id, row.created_at, AuditEntry(row.actor, row.action, row.subject, row.detail)) for row in rows
        ]


async def write_audit(connection: AsyncConnection, entries: Iterable[tuple[int, AuditEntry]], now: datetime) -> None:
    """Write entries with their keys, inside the transaction that does the deeds."""
    rows = [
        {
            "id": key,
            "actor": entry.actor,
            "action": entry.action,
            "subject": entry.subject,
            "detail": dict(entry.detail),
            "created_at": now,
        }
        for key, entry in entries
    ]
    if rows:
        await connection.execute(audit_log.insert(), rows)


async def take_keys(ids: Ids, count: int) -> list[int]:
    """Keys in hand before a transaction begins, because on SQLite only one transaction writes at a time."""
    await ids.reserve(count)
    return [ids.take() for _ in range(count)]
