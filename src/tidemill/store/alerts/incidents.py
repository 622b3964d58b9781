"""Incidents: opened, followed and closed in one transaction with the messages about them, and acted on by people."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.alerts.incidents import (
    MESSAGE_INTERVAL,
    Evaluated,
    IncidentChanges,
    IncidentFinding,
    MessageKind,
    OpenIncident,
    Telling,
    Trouble,
    decide_messages,
    judge_incidents,
)
from tidemill.core.alerts.outgoing import OutgoingNotice
from tidemill.core.alerts.table import ALERTS, AlertName
from tidemill.core.audit import AuditEntry
from tidemill.core.quality.drift import DriftRule
from tidemill.core.views.incidents import IncidentNote, IncidentView
from tidemill.store.alerts.outbox import write_outgoing
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.database.upserts import upsert
from tidemill.store.quality.poorer_readings import accept_readings
from tidemill.store.schema import engine_state, incident_notes, incidents, sources
from tidemill.store.upkeep.audit import take_keys, write_audit

STATE = "alerts"
WATCHER = "alerts"
KEYS = 500
"""Keys that one evaluation may take."""
LONGEST_NOTE = LONGEST_TEXT = 2_000

_PUT_STATE = upsert(engine_state, ["name"])
_LOCKED_STATE = select(engine_state.c.value).where(engine_state.c.name == STATE).with_for_update()
_UNSETTLED = select(incidents).where(
    or_(~incidents.c.is_settled, incidents.c.told_at > bindparam("b_recent"))
).order_by(incidents.c.id)  # fmt: skip
_AGAIN = (
    update(incidents)
    .where(incidents.c.id == bindparam("b_id"))
    .values(
        times=incidents.c.times + 1, last_seen_at=bindparam("b_now"), detail=bindparam("b_detail"),
        subjects=bindparam("b_subjects"), vertical=bindparam("b_vertical"),
    )
)  # fmt: skip
_CLOSE = update(incidents).where(
    incidents.c.id.in_(bindparam("b_ids", expanding=True)), incidents.c.closed_at.is_(None)
).values(closed_at=bindparam("b_now"), closed_by=bindparam("b_by"))  # fmt: skip
_TOLD = update(incidents).where(incidents.c.id.in_(bindparam("b_ids", expanding=True))).values(
    told_at=bindparam("b_now"), was_sent=True
)  # fmt: skip
_SETTLED = update(incidents).where(
    incidents.c.id.in_(bindparam("b_ids", expanding=True)), incidents.c.closed_at.is_not(None)
).values(is_settled=True)  # fmt: skip
_VIEW = select(incidents, func.coalesce(sources.c.name, "").label("source_name")).outerjoin(
    sources, sources.c.id == incidents.c.source_id
)

_OPEN_COUNTS = (
    select(incidents.c.alert, func.count()).where(incidents.c.closed_at.is_(None)).group_by(incidents.c.alert)
)

Compose = Callable[[Telling], Sequence[OutgoingNotice]]


class AlertIncidentRepository:
    """The table of incidents."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Work on this database."""
        self._database = database
        self._ids = ids

    async def evaluate(
        self, troubles: Sequence[Trouble], unknown: Collection[AlertName], now: datetime, compose: Compose
    ) -> Evaluated:
        """Open, follow and close incidents, and write the messages about them, all or nothing."""
        await self._ids.reserve(KEYS)
        async with self._database.write() as connection:
            pending = await _pending(connection)
            known = await _unsettled(connection, now)
            changes = judge_incidents(known, pending, troubles, unknown, now)
            opened = await self._write(connection, changes, now)
            after = await _unsettled(connection, now)
            telling = decide_messages(after, now)
            await write_outgoing(connection, self._ids, compose(telling), now)
            await _note_told(connection, telling, now)
            if dict(changes.pending) != dict(pending):
                row = {"name": STATE, "value": {"pending": _as_text(changes.pending)}, "updated_at": now}
                await connection.execute(_PUT_STATE[connection.dialect.name], [row])
        ended = {each.id for each in known if each.closed_at is None}
        return Evaluated(
            opened=tuple(each for each in after if each.id in opened),
            closed=tuple(each for each in after if each.id in ended and each.closed_at is not None),
            messages=len(telling.messages),
            pending=len(changes.pending),
        )

    async def _write(self, connection: AsyncConnection, changes: IncidentChanges, now: datetime) -> set[int]:
        rows = [_row(self._ids.take(), each, now) for each in changes.opened[:KEYS]]
        if rows:
            await connection.execute(incidents.insert(), rows)
        again = [
            {
                "b_id": key,
                "b_now": now,
                "b_detail": storable(each.detail, LONGEST_TEXT),
                "b_subjects": list(each.subjects),
                "b_vertical": each.vertical,
            }
            for key, each in changes.again
        ]
        if again:
            await connection.execute(_AGAIN, again)
        if changes.closed:
            await connection.execute(_CLOSE, {"b_ids": list(changes.closed), "b_now": now, "b_by": WATCHER})
        return {row["id"] for row in rows}

    async def every(self, *, open_only: bool = True, limit: int = 100) -> list[IncidentView]:
        """Return incidents, the most urgent of the open ones first, else the newest first."""
        query = _VIEW.limit(limit)
        if open_only:
            query = query.where(incidents.c.closed_at.is_(None)).order_by(incidents.c.severity, incidents.c.id.desc())
        else:
            query = query.order_by(incidents.c.id.desc())
        async with self._database.read() as connection:
            return [_view(row) for row in (await connection.execute(query)).mappings()]

    async def open_counts(self) -> dict[str, int]:
        """Return how many incidents of each alert are open."""
        async with self._database.glance() as connection:
            return {row[0]: row[1] for row in await connection.execute(_OPEN_COUNTS)}

    async def find(self, incident_id: int) -> tuple[IncidentView, list[IncidentNote]] | None:
        """Return an incident and what was said of it; None if there is none."""
        notes = select(incident_notes).where(incident_notes.c.incident_id == incident_id).order_by(incident_notes.c.id)
        async with self._database.read() as connection:
            query = _VIEW.where(incidents.c.id == incident_id)
            row = (await connection.execute(query)).mappings().one_or_none()
            if row is None:
                return None
            said = (await connection.execute(notes)).mappings().all()
        kept = IncidentNote.__struct_fields__
        return _view(row), [IncidentNote(**{name: each[name] for name in kept}) for each in said]

    async def act(
        self, incident_id: int, values: Mapping[str, Any], said: IncidentNote, audit: AuditEntry, *, open_only: bool
    ) -> bool:
        """Change an incident and note who did what; False if it is gone, or over where it must be open."""
        keys = await take_keys(self._ids, 2)
        now = said.created_at
        mine = [incidents.c.id == incident_id, *([incidents.c.closed_at.is_(None)] if open_only else [])]
        async with self._database.write() as connection:
            done = await connection.execute(
                update(incidents).where(*mine).values(**(dict(values) or {"id": incident_id}))
            )
            if not done.rowcount:
                return False
            if "closed_at" in values:
                await _accept_reading(connection, incident_id)
            row = {
                "id": keys[0],
                "incident_id": incident_id,
                "actor": said.actor,
                "action": said.action,
                "note": storable(said.note, LONGEST_NOTE),
                "created_at": now,
            }
            await connection.execute(incident_notes.insert(), [row])
            await write_audit(connection, [(keys[1], audit)], now)
        return True


async def _accept_reading(connection: AsyncConnection, incident_id: int) -> None:
    """A person who closes what says that pages are read worse takes them as they are now."""
    query = select(incidents.c.source_id).where(
        incidents.c.id == incident_id, incidents.c.rule == DriftRule.POORER_READING
    )
    if (source_id := (await connection.execute(query)).scalar()) is not None:
        await accept_readings(connection, [source_id])


async def _pending(connection: AsyncConnection) -> dict[str, datetime]:
    """Return what holds, but not for long enough yet; whoever evaluates at the same time waits here."""
    value = (await connection.execute(_LOCKED_STATE)).scalar_one_or_none() or {}
    known = {each.value for each in AlertName}
    return {
        key: datetime.fromisoformat(since)
        for key, since in value.get("pending", {}).items()
        if key.split(" ", 1)[0] in known
    }


def _as_text(pending: Mapping[str, datetime]) -> dict[str, str]:
    return {key: since.isoformat() for key, since in pending.items()}


async def _unsettled(connection: AsyncConnection, now: datetime) -> list[OpenIncident]:
    rows = (await connection.execute(_UNSETTLED, {"b_recent": now - MESSAGE_INTERVAL})).mappings()
    known = {each.value for each in AlertName}
    return [_open_incident(row) for row in rows if row["alert"] in known]


def _open_incident(row: Mapping[Any, Any]) -> OpenIncident:
    return OpenIncident(
        id=row["id"],
        alert=AlertName(row["alert"]),
        cause=row["cause"],
        detail=row["detail"],
        subjects=tuple(row["subjects"]),
        vertical=row["vertical"],
        opened_at=row["opened_at"],
        closed_at=row["closed_at"],
        told_at=row["told_at"],
        was_sent=row["was_sent"],
        is_acknowledged=row["acknowledged_at"] is not None,
        snoozed_until=row["snoozed_until"],
        is_drift=bool(row["rule"]),
        is_settled=row["is_settled"],
    )


async def _note_told(connection: AsyncConnection, telling: Telling, now: datetime) -> None:
    told = [each.id for message in telling.messages for each in message.incidents]
    if told:
        await connection.execute(_TOLD, {"b_ids": told, "b_now": now})
    over = [
        each.id for message in telling.messages if message.kind is MessageKind.RECOVERED for each in message.incidents
    ]
    if settled := [*over, *telling.silenced]:
        await connection.execute(_SETTLED, {"b_ids": settled})


def _row(key: int, finding: IncidentFinding, now: datetime) -> dict[str, Any]:
    return {
        "id": key,
        "alert": finding.alert,
        "severity": ALERTS[finding.alert].severity,
        "cause": finding.cause,
        "vertical": finding.vertical,
        "detail": storable(finding.detail, LONGEST_TEXT),
        "subjects": list(finding.subjects),
        "opened_at": now,
        "last_seen_at": now,
    }


def _view(row: Mapping[Any, Any]) -> IncidentView:
    return IncidentView(**{name: row[name] for name in IncidentView.__struct_fields__})
