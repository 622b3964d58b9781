"""What records still lack: written with the record, asked for later, gone once it is answered and put in."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec
from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.services.degradation import Service, merged_services
from tidemill.core.services.enrichment import EnrichmentRequest, RequestKind
from tidemill.store.database.database import Database
from tidemill.store.schema import enrichment_wants as wants
from tidemill.store.schema import runs, target_pages, targets

RUNS_AT_ONCE = 500


class Bringer(Protocol):
    """Who brought a record: a job, or whoever looks through old ones."""

    @property
    def vertical(self) -> str:
        """Whose kind of record it is."""
        ...

    @property
    def source_id(self) -> int:
        """Where it is from."""
        ...

    @property
    def run_id(self) -> int:
        """The run that is marked when a service fails it; 0 for none."""
        ...


class OpenRequest(msgspec.Struct, frozen=True):
    """A question that waits, and how often it was tried in vain."""

    request: EnrichmentRequest
    vertical: str
    tries: int


class RequestState(msgspec.Struct, frozen=True):
    """How many records wait for what, and since when."""

    kind: str
    waiting: int
    questions: int
    since: datetime | None


class EnrichmentRequestRepository:
    """The questions that wait."""

    def __init__(self, database: Database) -> None:
        """Work on the database."""
        self._database = database

    async def due(self, kinds: Sequence[RequestKind], now: datetime, limit: int) -> list[OpenRequest]:
        """Questions whose time has come, each once, those that waited longest first."""
        async with self._database.read() as connection:
            found = await connection.execute(_DUE, {"b_kinds": [*kinds], "b_now": now, "b_limit": limit})
            rows = found.mappings().all()
        return [OpenRequest(_request(row), row["vertical"], row["tries"]) for row in rows]

    async def postpone(self, keys: Collection[tuple[RequestKind, str]], until: datetime) -> None:
        """Ask these again later."""
        rows = [{"b_kind": kind, "b_key": key, "b_until": until} for kind, key in sorted(keys)]
        if rows:
            async with self._database.write() as connection:
                await connection.execute(_POSTPONE, rows)

    async def mark_degraded_runs(self, service: Service, kinds: Sequence[RequestKind]) -> int:
        """Mark the runs whose records wait for a service that failed us; answers how many."""
        async with self._database.write() as connection:
            keys = sorted((await connection.execute(_RUNS, {"b_kinds": [*kinds]})).scalars())
            rows = (await connection.execute(_MARKED, {"b_keys": keys})).all() if keys else []
            marks = [{"b_id": row.id, "b_degraded": merged_services(row.degraded or (), [service])} for row in rows
                     if service not in (row.degraded or ())]  # fmt: skip
            if marks:
                await connection.execute(_MARK, marks)
        return len(marks)

    async def answered_targets(self, keys: Collection[str], now: datetime) -> list[int]:
        """The targets whose lost records can now be saved; their pages count as new, and the questions as done."""
        if not keys:
            return []
        async with self._database.write() as connection:
            found = await connection.execute(_LOST, {"b_keys": sorted(keys)})
            subjects = sorted(set(found.scalars()))
            if subjects:
                await connection.execute(_FORGET_PAGE, {"b_ids": subjects, "b_now": now})
                await connection.execute(_FORGET_FURTHER, {"b_ids": subjects})
            await connection.execute(_DONE, {"b_keys": sorted(keys)})
        return subjects

    async def abandon(self, keys: Collection[str]) -> None:
        """No answer will save the records that were lost for want of these days."""
        if keys:
            async with self._database.write() as connection:
                await connection.execute(_DONE, {"b_keys": sorted(keys)})

    async def standing(self) -> list[RequestState]:
        """What waits, by kind."""
        async with self._database.read() as connection:
            return [RequestState(*row) for row in (await connection.execute(_STANDING)).all()]


async def note_wants(
    connection: AsyncConnection,
    database: Database,
    noted: Sequence[tuple[Bringer, int, EnrichmentRequest]],
    now: datetime,
) -> None:
    """Write down what records lack, with the record: each is who brought it, the subject's key and the question."""
    rows = {
        (want.kind, subject, want.key): {
            "kind": want.kind,
            "subject_id": subject,
            "key": want.key,
            "vertical": job.vertical,
            "source_id": job.source_id,
            "run_id": job.run_id,
            "question": dict(want.question),
            "not_before": now,
            "created_at": now,
        }
        for job, subject, want in noted
    }
    if rows:
        await connection.execute(database.insert(wants).on_conflict_do_nothing(), list(rows.values()))


_KINDS: Any = bindparam("b_kinds", expanding=True)
_KEYS: Any = bindparam("b_keys", expanding=True)
_FIRST = (
    select(wants.c.kind, wants.c.key, func.min(wants.c.subject_id).label("subject_id"),
           func.min(wants.c.created_at).label("created_at"))
    .where(wants.c.kind.in_(_KINDS), wants.c.not_before <= bindparam("b_now"))
    .group_by(wants.c.kind, wants.c.key)
    .order_by(func.min(wants.c.created_at), wants.c.key)
    .limit(bindparam("b_limit"))
    .subquery()
)  # fmt: skip
_DUE = (
    select(wants.c.kind, wants.c.key, wants.c.question, wants.c.vertical, wants.c.tries)
    .join(
        _FIRST,
        (wants.c.kind == _FIRST.c.kind) & (wants.c.key == _FIRST.c.key) & (wants.c.subject_id == _FIRST.c.subject_id),
    )
    .order_by(_FIRST.c.created_at, wants.c.key)
)
_POSTPONE = (
    update(wants)
    .where(wants.c.kind == bindparam("b_kind"), wants.c.key == bindparam("b_key"))
    .values(not_before=bindparam("b_until"), tries=wants.c.tries + 1)
)
_RUNS = select(wants.c.run_id).where(wants.c.kind.in_(_KINDS)).distinct().limit(RUNS_AT_ONCE)
_MARKED = select(runs.c.id, runs.c.degraded).where(runs.c.id.in_(_KEYS)).order_by(runs.c.id).with_for_update()
_MARK = update(runs).where(runs.c.id == bindparam("b_id")).values(degraded=bindparam("b_degraded"))
_LOST = select(wants.c.subject_id).where(wants.c.kind == RequestKind.DATE, wants.c.key.in_(_KEYS))
_DONE = delete(wants).where(wants.c.kind == RequestKind.DATE, wants.c.key.in_(_KEYS))
_FORGET_PAGE = (
    update(targets)
    .where(targets.c.id.in_(bindparam("b_ids", expanding=True)))
    .values(good_digest=None, etag="", last_modified="", updated_at=bindparam("b_now"))
)
_FORGET_FURTHER = (
    update(target_pages)
    .where(target_pages.c.target_id.in_(bindparam("b_ids", expanding=True)))
    .values(good_digest=None, etag="", last_modified="")
)
_STANDING = (
    select(wants.c.kind, func.count(), func.count(wants.c.key.distinct()), func.min(wants.c.created_at))
    .group_by(wants.c.kind)
    .order_by(wants.c.kind)
)


def _request(row: Mapping[Any, Any]) -> EnrichmentRequest:
    return EnrichmentRequest(RequestKind(row["kind"]), row["key"], row["question"])
