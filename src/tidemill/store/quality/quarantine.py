"""Records that were set aside, of every vertical: looked at, released onto their repository, or rejected for good."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.job import Job
from tidemill.core.page import Page
from tidemill.core.verdict import Accepted
from tidemill.core.views.quality import QuarantinedView, QuarantineFilter
from tidemill.pipeline.checkpoints import AcceptedRecords, Judged, WriteCounts
from tidemill.store.database.counting import bounded_count
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.pages.stage_inputs import StageInputs
from tidemill.store.records.repository import KEYS_PER_RECORD, RecordRepository
from tidemill.store.schema import dead_letters, pages, rejected_records, sources
from tidemill.store.upkeep.audit import take_keys, write_audit

RELEASED, REJECTED = "released", "rejected"

_ASIDE = (
    select(
        *(
            rejected_records.c[name]
            for name in (
                "id", "source_id", "run_id", "job_id", "page_id", "vertical", "reason", "detail", "raw", "created_at",
                "review", "reviewed_by", "reviewed_at", "review_notes", "times",
                "last_seen_at",
            )
        ),
        func.coalesce(sources.c.name, "").label("source_name"),
        func.coalesce(pages.c.final_url, "").label("page_url"),
    )
    .outerjoin(sources, sources.c.id == rejected_records.c.source_id)
    .outerjoin(pages, pages.c.id == rejected_records.c.page_id)
    .where(rejected_records.c.verdict == "quarantined")
)  # fmt: skip
_DECIDE = (
    update(rejected_records)
    .where(rejected_records.c.id.in_(bindparam("b_ids", expanding=True)), rejected_records.c.review.is_(None))
    .values(
        review=bindparam("b_review"),
        reviewed_by=bindparam("b_by"),
        reviewed_at=bindparam("b_now"),
        review_notes=bindparam("b_notes"),
    )
)
_TARGET = select(pages.c.target_id).where(pages.c.id == bindparam("b_page"))
_SETTLE_LETTER = (
    update(dead_letters)
    .where(dead_letters.c.job_id == bindparam("b_job"), dead_letters.c.status == DeadLetterStatus.PENDING)
    .values(
        status=DeadLetterStatus.RESOLVED,
        resolved_at=bindparam("b_now"),
        updated_at=bindparam("b_now"),
        resolution_notes=bindparam("b_notes"),
    )
)


@runtime_checkable
class TakesReleased(Protocol):
    """A repository with doubts of its own, which it puts aside for what a person has released."""

    async def put_released(
        self, connection: AsyncConnection, harvests: Sequence[tuple[Job, AcceptedRecords]], now: datetime
    ) -> dict[int, WriteCounts]:
        """Put without doubts."""
        ...


class QuarantineRepository:
    """Where records wait for a person."""

    def __init__(
        self, database: Database, ids: Ids, materials: StageInputs, repositories: Mapping[str, RecordRepository]
    ) -> None:
        """`repositories` by vertical: where released records go."""
        self._database = database
        self._ids = ids
        self._materials = materials
        self._repositories = repositories

    async def aside(
        self, which: QuarantineFilter | None = None, *, before: int | None = None, limit: int = 100
    ) -> list[QuarantinedView]:
        """Records that were set aside, the newest first; `before` is the key of the last one already seen."""
        query = _ASIDE.where(*_conditions(which or QuarantineFilter())).order_by(rejected_records.c.id.desc())
        if before is not None:
            query = query.where(rejected_records.c.id < before)
        async with self._database.read() as connection:
            return [QuarantinedView(**row) for row in (await connection.execute(query.limit(limit))).mappings()]

    async def count(self, which: QuarantineFilter, most: int) -> int:
        """How many records a filter means; at most one more than `most` is counted."""
        async with self._database.read() as connection:
            return await bounded_count(connection, _ASIDE.where(*_conditions(which)), most)

    async def find(self, key: int) -> QuarantinedView | None:
        """One record that was set aside."""
        async with self._database.read() as connection:
            row = (await connection.execute(_ASIDE.where(rejected_records.c.id == key))).mappings().one_or_none()
        return None if row is None else QuarantinedView(**row)

    async def page(self, page_id: int) -> Page | None:
        """The page that a record stood on."""
        return await self._materials.page(page_id)

    async def reject(
        self, keys: Sequence[int], by: str, notes: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> int:
        """Give records up, their reasons kept; answers how many were still waiting."""
        noted = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            done = await _decide(connection, keys, REJECTED, by, notes, now)
            await write_audit(connection, zip(noted, audit, strict=True), now)
        return done

    async def release(
        self, record: QuarantinedView, page: Page, accepted: Accepted, by: str, notes: str, now: datetime,
        audit: Sequence[AuditEntry] = (),
    ) -> WriteCounts | None:  # fmt: skip
        """Put a record onto its repository, as accepted by `by`; None when somebody has decided on it meanwhile.

        A record that its run has brought by another page is neither released nor settled: `dropped` says so.
        """
        await self._ids.reserve(KEYS_PER_RECORD + len(audit) + 1)
        try:
            async with self._database.write() as connection:
                if not await _decide(connection, [record.id], RELEASED, by, notes, now):
                    return None
                kept = await self._put(connection, record, page, accepted, now)
                letter = {"b_job": record.job_id, "b_now": now, "b_notes": f"its record was released by {by}"}
                await connection.execute(_SETTLE_LETTER, letter)
                await write_audit(connection, [(self._ids.take(), each) for each in audit], now)
        except _BroughtAlready:
            return WriteCounts(dropped=1)
        return kept

    async def _put(
        self, connection: AsyncConnection, record: QuarantinedView, page: Page, accepted: Accepted, now: datetime
    ) -> WriteCounts:
        target = (await connection.execute(_TARGET, {"b_page": record.page_id})).scalar() or 0
        job, repository = _job(record, target), self._repositories[record.vertical]
        put = repository.put_released if isinstance(repository, TakesReleased) else repository.put
        harvest = AcceptedRecords(Judged(page, "", [accepted], []), [accepted], 0)
        kept = (await put(connection, [(job, harvest)], now))[job.id]
        if kept.dropped:
            raise _BroughtAlready
        return kept


class _BroughtAlready(Exception):
    """Undoes a release that would publish nothing."""


def _conditions(which: QuarantineFilter) -> Iterator[Any]:
    for name in ("source_id", "vertical", "reason", "run_id"):
        if (value := getattr(which, name)) is not None:
            yield rejected_records.c[name] == value
    if which.waiting:
        yield rejected_records.c.review.is_(None)


async def _decide(
    connection: AsyncConnection, keys: Sequence[int], review: str, by: str, notes: str, now: datetime
) -> int:
    said = {"b_ids": list(keys), "b_review": review, "b_by": by, "b_notes": notes, "b_now": now}
    return int((await connection.execute(_DECIDE, said)).rowcount)


def _job(record: QuarantinedView, target_id: int) -> Job:
    """The job that the record came by, as far as its repository asks."""
    return Job(
        id=record.job_id, run_id=record.run_id, source_id=record.source_id, target_id=target_id,
        vertical=record.vertical, lane="", host="", url=record.page_url,
    )  # fmt: skip
