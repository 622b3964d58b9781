"""What is kept about live polling: contexts of every process, the log by the minute, failed tries, recoveries."""

import os
import socket
import zlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, func, insert, select, update

from tidemill.core.checks.secrets import redact_text
from tidemill.core.health.contexts import MEBIBYTE, ScraperContext, age_of, health_status
from tidemill.core.health.failed_tries import (
    LONGEST_MESSAGE,
    LONGEST_STACK,
    FailedTry,
    Resolution,
    ResolutionMethod,
)
from tidemill.core.health.grades import Grading
from tidemill.core.health.recovery import RecoveryAction, RecoveryEntry, RecoveryOutcome, RecoveryRequest
from tidemill.pipeline.health_ports import LaneReport
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.database.upserts import upsert
from tidemill.store.schema import engine_state, recoveries, scraper_contexts, scraper_errors, scraper_health_log
from tidemill.store.upkeep.audit import take_keys

FORGOTTEN_AFTER = timedelta(minutes=10)
"""A process that died is remembered for so long, with what it watched: somebody must take that over."""
GRADING = "live health"
REQUEST = "live recovery"
LONGEST_URL = 500

_PUT_REPORT = upsert(scraper_contexts, ["process"])
_PUT_STATE = upsert(engine_state, ["name"])
_PUT_RECOVERY = upsert(recoveries, ["entry_id"])
_RESOLVE = (
    update(scraper_errors)
    .where(
        scraper_errors.c.scraper_id == bindparam("b_scraper"),
        scraper_errors.c.resolved.is_(False),
        scraper_errors.c.timestamp <= bindparam("b_at"),
    )
    .values(resolved=True, resolution_time=bindparam("b_at"), resolution_method=bindparam("b_method"))
)
_OPEN_ERRORS = (
    select(scraper_errors.c.scraper_id, scraper_errors.c.url, func.max(scraper_errors.c.timestamp).label("at"))
    .where(scraper_errors.c.resolved.is_(False))
    .group_by(scraper_errors.c.scraper_id, scraper_errors.c.url)
)
_packer = msgspec.msgpack.Encoder()
_unpacker = msgspec.msgpack.Decoder(LaneReport)


class ProcessReport(msgspec.Struct, frozen=True):
    """The live lane of one process, as it was when it was last heard of."""

    process: str
    seen_at: datetime
    lane: LaneReport


class ErrorCounts(msgspec.Struct, frozen=True):
    """Failed tries of late, by all processes."""

    last_minute: int = 0
    last_hour: int = 0


class LiveHealthRepository:
    """Reads and writes all of it."""

    def __init__(self, database: Database, ids: Ids, process: str | None = None) -> None:
        """`process` is what this one is called."""
        self._database = database
        self._ids = ids
        self.process = process or f"{socket.gethostname()}:{os.getpid()}"

    async def publish(self, report: LaneReport, now: datetime) -> None:
        """Keep how this process's lane stands; processes that were not heard of for long are forgotten."""
        packed = zlib.compress(_packer.encode(report), 1)
        row = {"process": self.process, "report": packed, "updated_at": now}
        old = delete(scraper_contexts).where(scraper_contexts.c.updated_at < now - FORGOTTEN_AFTER)
        async with self._database.write() as connection:
            await connection.execute(_PUT_REPORT[connection.dialect.name], row)
            await connection.execute(old)

    async def withdraw(self) -> None:
        """Forget this process."""
        async with self._database.write() as connection:
            await connection.execute(delete(scraper_contexts).where(scraper_contexts.c.process == self.process))

    async def reports(self) -> list[ProcessReport]:
        """Return the lanes of all processes, the last heard of first."""
        query = select(scraper_contexts).order_by(scraper_contexts.c.updated_at.desc())
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [
            ProcessReport(row.process, row.updated_at, _unpacker.decode(zlib.decompress(row.report))) for row in rows
        ]

    async def write_log(self, contexts: Sequence[ScraperContext], now: datetime) -> int:
        """Write a row per context; return how many."""
        keys = await take_keys(self._ids, len(contexts))
        rows = [_log_row(key, context, now) for key, context in zip(keys, contexts, strict=True)]
        if rows:
            async with self._database.write() as connection:
                await connection.execute(insert(scraper_health_log), rows)
        return len(rows)

    async def write_errors(self, failed: Sequence[FailedTry], resolved: Sequence[Resolution]) -> None:
        """Write failed tries, then how earlier ones ended."""
        keys = await take_keys(self._ids, len(failed))
        rows = [_error_row(key, each) for key, each in zip(keys, failed, strict=True)]
        ends = [{"b_scraper": each.scraper_id, "b_at": each.at, "b_method": each.method.value} for each in resolved]
        async with self._database.write() as connection:
            if rows:
                await connection.execute(insert(scraper_errors), rows)
            for end in ends:
                await connection.execute(_RESOLVE, end)

    async def resolve_orphans(self, contexts: Iterable[ScraperContext]) -> int:
        """End the failures of contexts that are gone, where another context has read the same page well since."""
        checked = {each.url[:LONGEST_URL]: each for each in contexts if each.last_update_time is not None}
        known = {each.scraper_id for each in checked.values()}
        async with self._database.read() as connection:
            rows = (await connection.execute(_OPEN_ERRORS)).all()
        over = [
            Resolution(row.scraper_id, found.last_update_time, ResolutionMethod.RESTART)
            for row in rows
            if row.scraper_id not in known
            and (found := checked.get(row.url)) is not None
            and found.last_update_time is not None
            and found.last_update_time > row.at
        ]
        if over:
            await self.write_errors([], over)
        return len(over)

    async def error_counts(self, now: datetime) -> ErrorCounts:
        """Return how many tries failed in the last minute and hour."""
        at = scraper_errors.c.timestamp
        minute = func.count().filter(at > now - timedelta(minutes=1))
        query = select(minute, func.count()).where(at > now - timedelta(hours=1))
        async with self._database.read() as connection:
            last_minute, last_hour = (await connection.execute(query)).one()
        return ErrorCounts(last_minute, last_hour)

    async def grading(self) -> Grading | None:
        """Return the grade as it was last evaluated; None before the first time."""
        value = await self._state(GRADING)
        return None if value is None else msgspec.convert(value[0], Grading)

    async def keep_grading(self, grading: Grading, now: datetime) -> None:
        """Keep the grade for the next evaluation, by whichever process."""
        await self._put_state(GRADING, msgspec.to_builtins(grading), now)

    async def request(self, action: RecoveryAction, by: str, now: datetime) -> None:
        """Ask every process's lane to do something."""
        await self._put_state(REQUEST, {"action": action.value, "by": by}, now)

    async def requested(self) -> RecoveryRequest | None:
        """Return what the lanes were last asked to do."""
        value = await self._state(REQUEST)
        return None if value is None else RecoveryRequest(RecoveryAction(value[0]["action"]), value[1], value[0]["by"])

    async def keep_recovery(self, entry: RecoveryEntry) -> None:
        """Keep a recovery, or what came of it."""
        row = msgspec.structs.asdict(entry) | {"metadata": dict(entry.metadata)}
        row |= {"action_type": entry.action_type.value, "outcome": entry.outcome.value}
        async with self._database.write() as connection:
            await connection.execute(_PUT_RECOVERY[connection.dialect.name], row)

    async def recoveries(self, limit: int = 10) -> list[RecoveryEntry]:
        """Return the last recoveries, the newest first."""
        query = select(recoveries).order_by(recoveries.c.timestamp.desc()).limit(limit)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [
            RecoveryEntry(
                entry_id=row["entry_id"],
                timestamp=row["timestamp"],
                action_type=RecoveryAction(row["action_type"]),
                trigger_condition=row["trigger_condition"],
                outcome=RecoveryOutcome(row["outcome"]),
                duration_seconds=row["duration_seconds"],
                metadata=row["metadata"],
            )
            for row in rows
        ]

    async def _state(self, name: str) -> tuple[Any, datetime] | None:
        query = select(engine_state.c.value, engine_state.c.updated_at).where(engine_state.c.name == name)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else (row.value, row.updated_at)

    async def _put_state(self, name: str, value: Any, now: datetime) -> None:
        async with self._database.write() as connection:
            statement = _PUT_STATE[connection.dialect.name]
            await connection.execute(statement, {"name": name, "value": value, "updated_at": now})


def _log_row(key: int, context: ScraperContext, now: datetime) -> dict[str, Any]:
    latency = context.latency
    return {
        "id": key, "scraper_id": context.scraper_id, "match_id": context.thing_key or None, "timestamp": now,
        "health_status": health_status(context, now).value, "error_count": context.error_count,
        "memory_mb": round(context.usage.memory_bytes / MEBIBYTE, 2), "cpu_percent": context.usage.cpu_percent,
        "update_latency_ms": None if latency is None else latency // timedelta(milliseconds=1),
        "polling_interval_seconds": context.polling_interval.total_seconds(),
        "uptime_seconds": int((now - context.start_time).total_seconds()),
        "last_update_age_seconds": int(age_of(context, now).total_seconds()),
    }  # fmt: skip


def _error_row(key: int, failed: FailedTry) -> dict[str, Any]:
    return {
        "id": key, "scraper_id": failed.scraper_id, "match_id": failed.thing_key or None, "timestamp": failed.at,
        "error_type": failed.error_type.value,
        "error_message": storable(redact_text(f"{failed.failure.value}: {failed.message}"), LONGEST_MESSAGE),
        "stack_trace": storable(redact_text(failed.stack), LONGEST_STACK),
        "url": storable(redact_text(failed.url), LONGEST_URL),
        "operation": failed.operation, "retry_attempt": failed.attempt, "resolved": False,
        "resolution_time": None, "resolution_method": None,
    }  # fmt: skip
