"""Jobs that waited for too long, taken up again on a person's word."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.run import Trigger
from tidemill.pipeline.dispatch import OpenedRun
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.ledger.claims import mark_work
from tidemill.store.ledger.dead_letters import take_up
from tidemill.store.ledger.suspects import READY_OR_SUSPECT
from tidemill.store.schema import jobs, runs, sources
from tidemill.store.upkeep.audit import take_keys, write_audit

AT_ONCE = 5_000
_STALE = text("pipeline_jobs.status = 'stale'")


class StaleJobs:
    """Puts stale jobs back into the queue, in new runs: their old ones have counted them as failed."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Work on one database."""
        self._database = database
        self._ids = ids

    async def requeue(self, source_id: int | None, now: datetime, audit: Sequence[AuditEntry] = ()) -> list[OpenedRun]:
        """Make stale jobs ready again at the stage where they stood; answers their new runs."""
        await self._ids.reserve(AT_ONCE)
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            query = (
                select(jobs.c.id, jobs.c.source_id, jobs.c.host, sources.c.vertical, sources.c.adapter_id)
                .join_from(jobs, sources, sources.c.id == jobs.c.source_id)
                .where(_STALE)
                .order_by(jobs.c.id)
                .limit(AT_ONCE)
            )
            if source_id is not None:
                query = query.where(jobs.c.source_id == source_id)
            rows = (await connection.execute(query.with_for_update(of=jobs))).all()
            new_runs: dict[int, int] = {}
            if rows:
                new_runs = await self._open_runs(connection, rows, now)
                await connection.execute(_READY, [{"b_id": row.id, "b_run": new_runs[row.source_id]} for row in rows])
                await take_up(connection, [row.id for row in rows], now)
                await mark_work(connection, {row.host for row in rows})
            await write_audit(connection, zip(keys, audit, strict=True), now)
        counts = Counter(row.source_id for row in rows)
        return [OpenedRun(run_id, source, Trigger.RETRY, counts[source]) for source, run_id in new_runs.items()]

    async def _open_runs(self, connection: AsyncConnection, rows: Sequence[object], now: datetime) -> dict[int, int]:
        counts = Counter((row.source_id, row.vertical, row.adapter_id) for row in rows)  # type: ignore[attr-defined]  # rows
        fresh = [
            {"id": self._ids.take(), "source_id": source, "vertical": vertical, "adapter_id": adapter,
             "trigger": Trigger.RETRY, "open_jobs": count, "started_at": now}
            for (source, vertical, adapter), count in counts.items()
        ]  # fmt: skip
        await connection.execute(runs.insert(), fresh)
        return {row["source_id"]: row["id"] for row in fresh}


_READY = (
    update(jobs)
    .where(jobs.c.id == bindparam("b_id"))
    .values(
        run_id=bindparam("b_run"),
        status=READY_OR_SUSPECT,
        trigger=Trigger.RETRY,
        fence=jobs.c.fence + 1,
        not_before=None,
        completed_at=None,
    )
)
