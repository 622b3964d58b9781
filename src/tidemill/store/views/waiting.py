"""What waits for a person, counted."""

from sqlalchemy import ColumnElement, Table, TextClause, func, literal_column, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.discovery.candidates import CandidateStatus
from tidemill.core.failure import MEANING
from tidemill.core.health.system import Waiting
from tidemill.core.quality.proposals import ProposalStatus
from tidemill.store.schema import (
    dead_letters,
    fetcher_upgrades,
    incidents,
    jobs,
    rejected_records,
    selector_proposals,
    source_candidates,
)

_CALLS = tuple(failure.value for failure, meaning in MEANING.items() if meaning.alerts)
"""Failures at which a person should look at once: no retry will mend them."""

_PENDING = text("dead_letter_queue.status = 'pending'")


async def waiting_for_a_person(connection: AsyncConnection) -> Waiting:
    """Count everything that somebody has to decide."""
    aside = (text("rejected_records.verdict = 'quarantined'"), rejected_records.c.review.is_(None))
    return Waiting(
        dead_letters=await _count(connection, dead_letters, _PENDING),
        calls=await _count(connection, dead_letters, _PENDING, dead_letters.c.error_type.in_(_CALLS)),
        quarantined=await _count(connection, rejected_records, *aside),
        candidates=await _count(
            connection, source_candidates, source_candidates.c.status == CandidateStatus.PENDING.value
        ),
        proposals=await _count(
            connection, selector_proposals, selector_proposals.c.status == ProposalStatus.OPEN.value
        ),
        fetcher_suggestions=await _count(connection, fetcher_upgrades, fetcher_upgrades.c.status == "pending"),
        incidents=await _count(connection, incidents, incidents.c.closed_at.is_(None)),
        stale_jobs=await _count(connection, jobs, jobs.c.status == literal_column("'stale'")),
    )


async def _count(connection: AsyncConnection, table: Table, *conditions: ColumnElement[bool] | TextClause) -> int:
    query = select(func.count()).select_from(table).where(*conditions)
    return int((await connection.execute(query)).scalar_one())
