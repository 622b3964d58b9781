"""Proposals, kept: which pages were compared with their last good one, what came of it, and what people decided."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.failure import Failure
from tidemill.core.quality.drift import DriftRule
from tidemill.core.quality.proposals import DriftedTarget, Proposal, ProposalStatus, SelectorFinding
from tidemill.core.target import POORER_READING
from tidemill.pipeline.kept_readings import decode_found
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.pages.bodies import Bodies
from tidemill.store.pages.outputs import page_of
from tidemill.store.quality.drift import alert_columns
from tidemill.store.quality.poorer_readings import accept_readings
from tidemill.store.replays.changes import note_accepted_selectors
from tidemill.store.schema import (
    dead_letters,
    incidents,
    pages,
    raw_records,
    selector_proposals,
    sources,
    targets,
)
from tidemill.store.schema.rows import source_of
from tidemill.store.upkeep.audit import take_keys, write_audit

LONGEST_DIAGNOSIS = 500
DRIFTED = ("LAYOUT_CHANGED", POORER_READING)
"""The `last_status` of a target whose page yielded nothing, or was read worse than its last good one."""

_latest = select(func.max(pages.c.id)).where(pages.c.target_id == targets.c.id).correlate(targets).scalar_subquery()
_LOOKED_AT = exists().where(selector_proposals.c.page_id == _latest)
_DRIFTED = (
    select(
        targets.c.id,
        targets.c.source_id,
        targets.c.adapter_id,
        targets.c.good_page_id,
        targets.c.last_status,
        _latest.label("page_id"),
    )
    .where(targets.c.last_status.in_(DRIFTED), targets.c.enabled, targets.c.good_page_id.is_not(None), ~_LOOKED_AT)
    .order_by(targets.c.id)
)
_PROPOSALS = (
    select(
        selector_proposals,
        func.coalesce(sources.c.name, "").label("source_name"),
        func.coalesce(targets.c.url, "").label("url"),
    )
    .select_from(
        selector_proposals.outerjoin(sources, sources.c.id == selector_proposals.c.source_id).outerjoin(
            targets, targets.c.id == selector_proposals.c.target_id
        )
    )
    .order_by(selector_proposals.c.id.desc())
)


class Proposals:
    """Finds pages that yielded nothing, keeps what was found out, and carries out what a person decides."""

    def __init__(self, database: Database, ids: Ids, bodies: Bodies) -> None:
        """Work on one database and its pages."""
        self._database = database
        self._ids = ids
        self._bodies = bodies

    async def drifted(self, limit: int) -> list[DriftedTarget]:
        """Targets whose latest page yielded nothing and has not been looked at yet."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_DRIFTED.limit(limit))).mappings().all()
            found = [await self._drifted(connection, row) for row in rows]
        return [each for each in found if each is not None]

    async def _drifted(self, connection: AsyncConnection, row: Any) -> DriftedTarget | None:
        source = (await connection.execute(select(sources).where(sources.c.id == row["source_id"]))).mappings().one()
        good = (await connection.execute(select(pages).where(pages.c.id == row["good_page_id"]))).mappings().first()
        page = (await connection.execute(select(pages).where(pages.c.id == row["page_id"]))).mappings().one()
        stored = await self._bodies.outputs.get(connection, raw_records.c.found, row["good_page_id"])
        bodies = await self._bodies.get(connection, [page["body_key"]])
        if good is None or stored is None or page["body_key"] not in bodies:
            return None
        return DriftedTarget(
            source=source_of(source),
            target_id=row["id"],
            adapter_id=row["adapter_id"],
            page=page_of(page, bodies[page["body_key"]]),
            good_page_id=row["good_page_id"],
            good_at=good["created_at"],
            known=decode_found(stored).records,
            is_poorer=row["last_status"] == POORER_READING,
        )

    async def keep(self, findings: Sequence[SelectorFinding], now: datetime) -> list[int | None]:
        """Keep what was found out; what was proposed for the source before, and is open or rejected, is no news."""
        await self._ids.reserve(2 * len(findings))
        async with self._database.write() as connection:
            known = await self._proposed(connection, {each.drifted.source.id for each in findings})
            rows = []
            keys: list[int | None] = []
            for each in findings:
                is_news = each.after is not None and (each.drifted.source.id, each.after) not in known
                row = _row(self._ids.take(), each, now, is_news=is_news)
                rows.append(row)
                keys.append(row["id"] if is_news else None)
                if is_news:
                    known.append((each.drifted.source.id, each.after))
            await connection.execute(self._database.insert(selector_proposals).on_conflict_do_nothing(), rows)
            await _note_incidents(connection, self._ids, findings, now)
        return keys

    async def suggest(
        self,
        source_id: int,
        target_id: int,
        page_id: int,
        words: str,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        now: datetime,
        note: AuditEntry,
    ) -> bool:
        """Keep what a person proposes for a page; False if that page has an open or decided proposal already."""
        (key, audit_key) = await take_keys(self._ids, 2)
        row = {
            "id": key, "source_id": source_id, "target_id": target_id, "page_id": page_id, "good_page_id": page_id,
            "status": ProposalStatus.OPEN, "diagnosis": storable(words, LONGEST_DIAGNOSIS), "before": dict(before),
            "after": dict(after), "confidence": 1.0, "lost": [], "created_at": now,
        }  # fmt: skip
        mine = selector_proposals.c.page_id == page_id
        looked_at = delete(selector_proposals).where(mine, selector_proposals.c.status == ProposalStatus.NONE)
        async with self._database.write() as connection:
            await connection.execute(looked_at)
            if (await connection.execute(select(selector_proposals.c.id).where(mine))).first() is not None:
                return False
            await connection.execute(selector_proposals.insert(), [row])
            await write_audit(connection, [(audit_key, note)], now)
        return True

    async def _proposed(self, connection: AsyncConnection, source_ids: set[int]) -> list[tuple[int, Any]]:
        proposed = selector_proposals.c
        query = select(proposed.source_id, proposed.after).where(
            proposed.source_id.in_(sorted(source_ids)),
            proposed.status.in_((ProposalStatus.OPEN, ProposalStatus.REJECTED)),
        )
        return [(row.source_id, row.after) for row in await connection.execute(query)]

    async def every(self, status: ProposalStatus | None = None, limit: int = 200) -> list[Proposal]:
        """The newest first; all of them, or those of one status."""
        query = _PROPOSALS.limit(limit)
        if status is not None:
            query = query.where(selector_proposals.c.status == status)
        async with self._database.read() as connection:
            return [_proposal(row) for row in (await connection.execute(query)).mappings()]

    async def find(self, key: int) -> Proposal | None:
        """One proposal."""
        async with self._database.read() as connection:
            row = (await connection.execute(_PROPOSALS.where(selector_proposals.c.id == key))).mappings().first()
        return None if row is None else _proposal(row)

    async def accept(self, proposal: Proposal, actor: str, now: datetime, audit: Sequence[AuditEntry]) -> bool:
        """Give the source the proposed selectors, and let what they are for be due at once."""
        change_key, *keys = await take_keys(self._ids, 1 + len(audit))
        async with self._database.write() as connection:
            if not await _decide(connection, proposal.id, ProposalStatus.ACCEPTED, actor, now):
                return False
            await note_accepted_selectors(
                connection, change_key, proposal.source_id, proposal.after, proposal.replay_id, actor, now
            )
            await _use(connection, proposal, now)
            await _settle(connection, proposal, actor, now)
            others = (selector_proposals.c.source_id == proposal.source_id) & (
                selector_proposals.c.status == ProposalStatus.OPEN
            )
            await connection.execute(
                update(selector_proposals).where(others).values(status=ProposalStatus.SUPERSEDED, decided_at=now)
            )
            await write_audit(connection, zip(keys, audit, strict=True), now)
        return True

    async def reject(self, proposal: Proposal, actor: str, now: datetime, audit: Sequence[AuditEntry]) -> bool:
        """Leave the source as it is, and do not propose the same again."""
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            done = await _decide(connection, proposal.id, ProposalStatus.REJECTED, actor, now)
            if done:
                await write_audit(connection, zip(keys, audit, strict=True), now)
        return done


async def _decide(connection: AsyncConnection, key: int, status: ProposalStatus, actor: str, now: datetime) -> bool:
    """Write a person's word down, if nobody has spoken before."""
    waiting = (selector_proposals.c.id == key) & (selector_proposals.c.status == ProposalStatus.OPEN)
    said = {"status": status, "decided_at": now, "decided_by": actor}
    return bool((await connection.execute(update(selector_proposals).where(waiting).values(**said))).rowcount)


async def _use(connection: AsyncConnection, proposal: Proposal, now: datetime) -> None:
    mine = sources.c.id == proposal.source_id
    query = select(sources.c.adapter_settings).where(mine).with_for_update()
    settings = (await connection.execute(query)).scalar() or {}
    fresh = {**settings, "selectors": proposal.after}
    await connection.execute(update(sources).where(mine).values(adapter_settings=fresh, updated_at=now))
    due = (targets.c.source_id == proposal.source_id) & targets.c.last_status.in_(DRIFTED) & targets.c.enabled
    await connection.execute(update(targets).where(due).values(next_due_at=now))
    await accept_readings(connection, [proposal.source_id])


async def _settle(connection: AsyncConnection, proposal: Proposal, actor: str, now: datetime) -> None:
    """Resolve the dead letters that the proposal answers, and close the incident of its selectors."""
    mine = dead_letters.c.target_id.in_(select(targets.c.id).where(targets.c.source_id == proposal.source_id))
    pending = (dead_letters.c.status == DeadLetterStatus.PENDING, dead_letters.c.error_type == Failure.LAYOUT_CHANGED)
    resolved = {"status": DeadLetterStatus.RESOLVED, "resolved_at": now, "updated_at": now, "next_retry_at": None}
    words = f"proposal {proposal.id} was accepted by {actor}; its target is read anew"
    await connection.execute(update(dead_letters).where(mine, *pending).values(**resolved, resolution_notes=words))
    incident = (
        (incidents.c.source_id == proposal.source_id)
        & incidents.c.rule.in_((DriftRule.SELECTORS, DriftRule.POORER_READING))
        & incidents.c.closed_at.is_(None)
    )
    await connection.execute(update(incidents).where(incident).values(closed_at=now, closed_by=actor))


async def _note_incidents(
    connection: AsyncConnection, ids: Ids, findings: Sequence[SelectorFinding], now: datetime
) -> None:
    """Open an incident per source whose selectors no longer match, or count it again.

    That a page is read worse is an incident already, since the end of its run.
    """
    latest = {each.drifted.source.id: each for each in findings if not each.drifted.is_poorer}
    if not latest:
        return
    known = (
        select(incidents.c.id, incidents.c.source_id)
        .where(incidents.c.rule == DriftRule.SELECTORS, incidents.c.closed_at.is_(None))
        .where(incidents.c.source_id.in_(sorted(latest)))
    )
    found = {row.source_id: row.id for row in await connection.execute(known)}
    for source_id, each in sorted(latest.items()):
        detail = storable(each.diagnosis, LONGEST_DIAGNOSIS)
        if source_id in found:
            again = {"times": incidents.c.times + 1, "last_seen_at": now, "detail": detail}
            await connection.execute(update(incidents).where(incidents.c.id == found[source_id]).values(**again))
            continue
        row = {"id": ids.take(), "adapter_id": each.drifted.adapter_id, "source_id": source_id, "field": ""}
        row |= {"rule": DriftRule.SELECTORS, "detail": detail, "run_id": 0, "opened_at": now, "last_seen_at": now}
        source = each.drifted.source
        row |= alert_columns(DriftRule.SELECTORS, each.drifted.adapter_id, source.vertical, source.name)
        await connection.execute(incidents.insert(), [row])


def _proposal(row: Any) -> Proposal:
    return Proposal(**{**row, "status": ProposalStatus(row["status"])})


def _row(key: int, finding: SelectorFinding, now: datetime, *, is_news: bool) -> dict[str, Any]:
    drifted = finding.drifted
    return {
        "id": key,
        "source_id": drifted.source.id,
        "target_id": drifted.target_id,
        "page_id": drifted.page.id,
        "good_page_id": drifted.good_page_id,
        "status": ProposalStatus.OPEN if is_news else ProposalStatus.NONE,
        "diagnosis": storable(finding.diagnosis, LONGEST_DIAGNOSIS),
        "before": dict(finding.before),
        "after": None if finding.after is None else dict(finding.after),
        "confidence": finding.confidence,
        "lost": list(finding.lost),
        "precision": None if finding.proof is None else finding.proof.precision,
        "recall": None if finding.proof is None else finding.proof.recall,
        "replay_id": None if finding.proof is None else finding.proof.replay_id,
        "created_at": now,
    }
