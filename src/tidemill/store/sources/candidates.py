"""Candidates as rows: found, looked through, approved or rejected by a person or by a settable confidence."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, or_, select, update

from tidemill.core.audit import AuditEntry
from tidemill.core.discovery.candidates import Candidate, CandidateSample, CandidateStatus
from tidemill.core.discovery.search import site_of
from tidemill.core.urls import BadUrl
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import source_candidates, sources
from tidemill.store.upkeep.audit import take_keys, write_audit

_LONGEST = 2_000
_UNDECIDED = (CandidateStatus.PENDING, CandidateStatus.SKIPPED)


class CandidateRepository:
    """Where candidates wait for a person."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids
        put = database.insert(source_candidates)
        fresh = {name: put.excluded[name] for name in _JUDGED}
        self._put = put.on_conflict_do_update(
            index_elements=["canonical_url"],
            set_=fresh,
            where=or_(*(source_candidates.c.status == one for one in _UNDECIDED)),
        )

    async def put(self, found: Sequence[Candidate]) -> None:
        """Bring candidates in; one that is known is judged anew unless somebody has decided on it."""
        distinct = list({each.canonical_url: each for each in found}.values())
        keys = await take_keys(self._ids, len(distinct))
        if distinct:
            rows = [row_of(each, key) for each, key in zip(distinct, keys, strict=True)]
            async with self._database.write() as connection:
                await connection.execute(self._put, rows)

    async def taken(self) -> frozenset[str]:
        """The sites that need not be looked at: those of sources, and of candidates that wait or were decided on."""
        async with self._database.read() as connection:
            ours = [*(await connection.execute(_SITES)).scalars()]
            theirs = [*(await connection.execute(_BASES)).scalars()]
        return frozenset([*ours, *filter(None, map(_site, theirs))])

    async def judged(self, canonical_urls: Collection[str], since: datetime) -> frozenset[str]:
        """Which of these were judged since then: what a discovery that was killed need not do again."""
        async with self._database.read() as connection:
            found = await connection.execute(_JUDGED_SINCE, {"b_urls": list(canonical_urls), "b_since": since})
            return frozenset(found.scalars())

    async def find(self, candidate_id: int) -> Candidate | None:
        """A candidate by key."""
        async with self._database.read() as connection:
            row = (await connection.execute(_ONE, {"b_id": candidate_id})).mappings().first()
        return None if row is None else candidate_of(row)

    async def every(
        self, *, status: str | None = None, place: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[Candidate]:
        """Candidates, the newest first."""
        query = select(source_candidates).order_by(source_candidates.c.id.desc()).limit(limit)
        if status is not None:
            query = query.where(source_candidates.c.status == status)
        if place is not None:
            query = query.where(func.lower(source_candidates.c.place) == place.lower())
        if before is not None:
            query = query.where(source_candidates.c.id < before)
        async with self._database.read() as connection:
            return [candidate_of(row) for row in (await connection.execute(query)).mappings()]

    async def decide(
        self, candidate: Candidate, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> bool:  # fmt: skip
        """Write a decision down, once: False when somebody else was first."""
        keys = await take_keys(self._ids, len(audit))
        decision = {"b_id": candidate.id, "b_status": candidate.status, "b_by": candidate.decided_by, "b_now": now,
                    "b_note": storable(candidate.note, _LONGEST), "b_source": candidate.source_id}  # fmt: skip
        async with self._database.write() as connection:
            is_ours = bool((await connection.execute(_DECIDE, decision)).rowcount)
            if is_ours:
                await write_audit(connection, zip(keys, audit, strict=True), now)
        return is_ours


def _site(url: str) -> str:
    try:
        return site_of(url)
    except BadUrl:
        return ""


def row_of(candidate: Candidate, key: int) -> dict[str, Any]:
    """A candidate's row."""
    return {
        "id": key,
        "canonical_url": storable(candidate.canonical_url, _LONGEST),
        "url": storable(candidate.url, _LONGEST),
        "site": _site(candidate.url),
        "place": candidate.place,
        "title": storable(candidate.title, 300),
        "status": candidate.status.value,
        "confidence": candidate.confidence,
        "method": candidate.method,
        "reasons": [storable(reason, 500) for reason in candidate.reasons],
        "samples": [
            {"title": storable(one.title, 300), "starts": one.starts, "place": storable(one.place, 200)}
            for one in candidate.samples
        ],
        "found_at": candidate.found_at,
        "decided_at": candidate.decided_at,
        "decided_by": candidate.decided_by,
        "note": candidate.note,
        "source_id": candidate.source_id,
    }


def candidate_of(row: Any) -> Candidate:
    """A candidate from its row."""
    return Candidate(
        id=row["id"],
        url=row["url"],
        canonical_url=row["canonical_url"],
        place=row["place"],
        title=row["title"],
        status=CandidateStatus(row["status"]),
        confidence=row["confidence"],
        method=row["method"],
        reasons=tuple(row["reasons"]),
        samples=tuple(msgspec.convert(row["samples"], list[CandidateSample])),
        found_at=row["found_at"],
        decided_at=row["decided_at"],
        decided_by=row["decided_by"],
        note=row["note"],
        source_id=row["source_id"],
    )


_JUDGED = ("url", "place", "title", "status", "confidence", "method", "reasons", "samples", "found_at")
_SITES = select(source_candidates.c.site).where(source_candidates.c.status != CandidateStatus.SKIPPED).distinct()
_BASES = select(sources.c.base_url)
_ONE = select(source_candidates).where(source_candidates.c.id == bindparam("b_id"))
_JUDGED_SINCE = select(source_candidates.c.canonical_url).where(
    source_candidates.c.canonical_url.in_(bindparam("b_urls", expanding=True)),
    or_(source_candidates.c.found_at >= bindparam("b_since"), source_candidates.c.status.not_in(_UNDECIDED)),
)
_DECIDE = (
    update(source_candidates)
    .where(source_candidates.c.id == bindparam("b_id"), source_candidates.c.status.in_(_UNDECIDED))
    .values(
        status=bindparam("b_status"),
        decided_at=bindparam("b_now"),
        decided_by=bindparam("b_by"),
        note=bindparam("b_note"),
        source_id=bindparam("b_source"),
    )
)
