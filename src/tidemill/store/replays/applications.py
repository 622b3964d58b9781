"""Writing down that a replay was applied, or taken back, in the transaction that does it."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import select, update

from tidemill.core.audit import AuditEntry
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.records.corrections import RecordCorrection, RecordCorrections
from tidemill.store.schema import replay_pages, replays, sources
from tidemill.store.upkeep.audit import take_keys, write_audit

KEYS_EACH = 3
"""Keys that one correction may take: its record, its history, what is laid over it."""


class ReplayApplications:
    """Where it is kept which replays are in the records."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def verticals_of(self, replay_id: int) -> dict[int, str]:
        """Return the vertical of each source whose pages differ."""
        query = (
            select(sources.c.id, sources.c.vertical)
            .join(replay_pages, replay_pages.c.source_id == sources.c.id)
            .where(replay_pages.c.replay_id == replay_id, replay_pages.c.changes > 0)
            .distinct()
        )
        async with self._database.read() as connection:
            return {row.id: row.vertical for row in await connection.execute(query)}

    async def apply(
        self,
        replay_id: int,
        ports: Mapping[str, RecordCorrections],
        portions: AsyncIterator[tuple[str, list[RecordCorrection]]],
        changes: int,
        by: str,
        now: datetime,
        audit: Sequence[AuditEntry],
    ) -> None:
        """Correct records and say so, both or neither."""
        keys = await take_keys(self._ids, len(audit))
        await self._ids.reserve(KEYS_EACH * changes)
        async with self._database.write() as connection:
            done: Counter[str] = Counter()
            async for vertical, some in portions:
                done.update(await ports[vertical].correct(connection, replay_id, some, by, now))
            said = {"applied_at": now, "applied_by": by, "applied": dict(sorted(done.items())), "reverted_at": None}
            await connection.execute(update(replays).where(replays.c.id == replay_id).values(**said))
            await write_audit(connection, zip(keys, audit, strict=True), now)

    async def revert(
        self,
        replay_id: int,
        ports: Sequence[RecordCorrections],
        changes: int,
        by: str,
        now: datetime,
        audit: Sequence[AuditEntry],
    ) -> None:
        """Take corrections back and say so, both or neither."""
        keys = await take_keys(self._ids, len(audit))
        await self._ids.reserve(KEYS_EACH * changes)
        async with self._database.write() as connection:
            for port in ports:
                await port.revert(connection, replay_id, by, now)
            said = {"reverted_at": now, "reverted_by": by}
            await connection.execute(update(replays).where(replays.c.id == replay_id).values(**said))
            await write_audit(connection, zip(keys, audit, strict=True), now)
