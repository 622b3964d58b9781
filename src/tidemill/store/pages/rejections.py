"""Records that were dropped or set aside, written with their reasons; what is set aside is open once per subject."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import Job
from tidemill.core.verdict import Dropped, subject_key
from tidemill.pipeline.checkpoints import Judged, Rejected
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import IS_OPEN_SUBJECT, rejected_records

LONGEST_DETAIL = 2_000
SUPERSEDED = "superseded"
"""The review of a record that a later reading could be accepted of."""
MOST_SETTLED = 5_000
_IDENTIFYING = ("id", "url", "title", "name", "address", "starts")
"""The raw fields that tell one record of a source from another, where its rule names no subject."""

Row = dict[str, Any]
OpenKey = tuple[int, str, str]
"""A source, a subject and a reason: of these one row at most is open."""

_SUBJECTS: BindParameter[Any] = bindparam("b_subjects", expanding=True)
_SOURCES: BindParameter[Any] = bindparam("b_sources", expanding=True)
_OPEN = (
    select(*(rejected_records.c[name] for name in ("id", "source_id", "subject", "reason", "page_id", "position")))
    .where(IS_OPEN_SUBJECT, rejected_records.c.source_id.in_(_SOURCES), rejected_records.c.subject.in_(_SUBJECTS))
    .order_by(rejected_records.c.id)
    .with_for_update()
)
_TAKEN = select(rejected_records.c.id, rejected_records.c.page_id, rejected_records.c.position).where(
    rejected_records.c.page_id.in_(bindparam("b_pages", expanding=True))
)
_RENEWED = ("job_id", "run_id", "page_id", "position", "detail", "raw")
_RENEW = (
    update(rejected_records)
    .where(rejected_records.c.id == bindparam("b_id"))
    .values(
        {name: bindparam(f"b_{name}") for name in _RENEWED}
        | {"times": rejected_records.c.times + bindparam("b_times"), "last_seen_at": bindparam("b_now")}
    )
)


async def write_rejected(
    connection: AsyncConnection, database: Database, ids: Ids, judged: Sequence[tuple[Job, Judged]], now: datetime
) -> None:
    """Store every record that was dropped or set aside, with its reason: nothing goes silently.

    A record that is set aside again for the same reason updates the row that is still open.
    """
    dropped: list[Row] = []
    aside: dict[OpenKey, Row] = {}
    for job, each in judged:
        for position, one in enumerate(each.rejected):
            row = _row(job, each, position, one, now)
            if row["verdict"] == "dropped":
                dropped.append(row)
            else:
                _add(aside, row)
    new = [*dropped, *await _renew(connection, aside, now)]
    if new:
        rows = [{"id": ids.take(), **row} for row in new]
        await connection.execute(database.insert(rejected_records).on_conflict_do_nothing(), rows)


def _row(job: Job, judged: Judged, position: int, rejected: Rejected, now: datetime) -> Row:
    verdict = rejected.verdict
    is_dropped = isinstance(verdict, Dropped)
    return {
        "job_id": job.id,
        "run_id": job.run_id,
        "source_id": job.source_id,
        "page_id": judged.page.id,
        "position": position,
        "vertical": job.vertical,
        "verdict": "dropped" if is_dropped else "quarantined",
        "reason": storable(verdict.reason, LONGEST_DETAIL),
        "detail": storable(verdict.detail, LONGEST_DETAIL),
        "raw": msgspec.to_builtins(rejected.raw),
        "created_at": now,
        "subject": "" if isinstance(verdict, Dropped) else storable(verdict.subject, 255) or _subject(job, rejected),
        "times": 1,
        "last_seen_at": now,
    }


def _subject(job: Job, rejected: Rejected) -> str:
    """What a record is about, by its own address and title; without either it is whatever stands on that page."""
    fields = rejected.raw.fields
    named = [f"{name}={fields[name]}" for name in _IDENTIFYING if fields.get(name)]
    return subject_key(*named) if named else subject_key(str(job.target_id), rejected.raw.origin)


def _add(aside: dict[OpenKey, Row], row: Row) -> None:
    """Keep the latest reading of each subject, and count them all."""
    key = (row["source_id"], row["subject"], row["reason"])
    if (known := aside.get(key)) is not None:
        row["times"] += known["times"]
    aside[key] = row


async def _renew(connection: AsyncConnection, aside: Mapping[OpenKey, Row], now: datetime) -> list[Row]:
    """Update the rows that are open already; answers the records that have none."""
    if not aside:
        return []
    asked = {"b_sources": sorted({key[0] for key in aside}), "b_subjects": sorted({key[1] for key in aside})}
    found = (await connection.execute(_OPEN, asked)).mappings().all()
    known = {key: row for row in found if (key := (row["source_id"], row["subject"], row["reason"])) in aside}
    if known:
        places = _TakenPositions((await connection.execute(_TAKEN, {"b_pages": _pages(aside, known)})).all())
        renewed = [_renewal(row["id"], aside[key], places, now) for key, row in known.items()]
        await connection.execute(_RENEW, renewed)
    return [row for key, row in aside.items() if key not in known]


_OPEN_OF_SOURCES = (
    select(rejected_records.c.id, rejected_records.c.source_id, rejected_records.c.subject)
    .where(IS_OPEN_SUBJECT, rejected_records.c.source_id.in_(_SOURCES))
    .limit(MOST_SETTLED)
)
_SETTLE = (
    update(rejected_records)
    .where(rejected_records.c.id.in_(bindparam("b_ids", expanding=True)))
    .values(review=SUPERSEDED, reviewed_by="a later reading", reviewed_at=bindparam("b_now"))
)


async def settle_accepted(
    connection: AsyncConnection, accepted: Mapping[int, Collection[str]], now: datetime
) -> list[int]:
    """Close what waited for a person and was read well since: by source, the identities that were just accepted."""
    found = await connection.execute(_OPEN_OF_SOURCES, {"b_sources": sorted(accepted)})
    over = sorted(row.id for row in found if row.subject in accepted[row.source_id])
    if over:
        await connection.execute(_SETTLE, {"b_ids": over, "b_now": now})
    return over


def _pages(aside: Mapping[OpenKey, Row], known: Mapping[OpenKey, Any]) -> list[int]:
    return sorted({aside[key]["page_id"] for key in known})


class _TakenPositions:
    """Which places of a page are taken: a page that is judged again has rows of before."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._taken = {(row.page_id, row.position): row.id for row in rows}

    def free(self, key: int, page_id: int, position: int) -> int:
        """The record's own place, or if another row has it, the next one before the first."""
        while self._taken.setdefault((page_id, position), key) != key:
            position = min(position, 0) - 1
        return position


def _renewal(key: int, row: Row, places: _TakenPositions, now: datetime) -> Row:
    position = places.free(key, row["page_id"], row["position"])
    values = {f"b_{name}": row[name] for name in _RENEWED}
    return values | {"b_id": key, "b_position": position, "b_times": row["times"], "b_now": now}
