"""What a replay corrects among events, and how it is taken back."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.identity import signed_checksum
from tidemill.core.views.past import ADDED, LAST_SEEN, REMOVED, WHOLE, swapped
from tidemill.store.database.keys import Ids
from tidemill.store.records.corrections import (
    PERSISTED_WITHIN,
    REPLAYED,
    REVERTED,
    RecordCorrection,
    changes_of,
    corrected_by,
    still_holds,
)
from tidemill.store.records.history import HistoryLine, write_history
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.repository import VERTICAL
from tidemill.verticals.events.store.tables import events

_encode = msgspec.json.Encoder().encode
_ADDED = {WHOLE: ["", ADDED]}
_REMOVED = {WHOLE: ["", REMOVED]}


class EventCorrections:
    """Corrects events where no later reading disagrees."""

    def __init__(self, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._ids = ids

    async def correct(
        self,
        connection: AsyncConnection,
        replay_id: int,
        corrections: Sequence[RecordCorrection],
        by: str,  # noqa: ARG002 - the replay's row says who applied it
        now: datetime,
    ) -> Mapping[str, int]:
        """Correct, add and remove events; each leaves a line of history that names the replay."""
        done: Counter[str] = Counter()
        lines: list[HistoryLine] = []
        for one in corrections:
            row = await _row_of(connection, one)
            line = await self._correct(connection, one, row, now)
            what = "left alone" if line is None else _word(one, row)
            done[what] += 1
            if line is not None:
                lines.append(msgspec.structs.replace(line, replay_id=replay_id, page_id=one.page_id))
        await write_history(connection, self._ids, VERTICAL, lines, now)
        return done

    async def _correct(
        self, connection: AsyncConnection, one: RecordCorrection, row: Any, now: datetime
    ) -> HistoryLine | None:
        if one.after is None:
            return await _remove(connection, one, row, now)
        if row is None:
            return await self._add(connection, one, now) if one.before is None else None
        if row["gone_at"] is not None:
            return None
        if one.before is None:
            return await _see(connection, one, row, now)
        current = msgspec.json.decode(row["record"])
        if not still_holds(current, one):
            return None
        after = _event({**current, **{name: one.after.get(name) for name in one.names}})
        read = _encode(_event(one.after))
        values = {**_columns(after), "record": _encode(after), "checksum": signed_checksum(read), "updated_at": now}
        await connection.execute(update(events).where(events.c.id == row["id"]).values(**values))
        return HistoryLine(record_id=row["id"], kind=REPLAYED, changes=changes_of(one))

    async def _add(self, connection: AsyncConnection, one: RecordCorrection, now: datetime) -> HistoryLine:
        """Add an event that was overlooked: last seen when its page was fetched, not today."""
        key = self._ids.take()
        event = _event(one.after or {})
        encoded = _encode(event)
        row = {
            "id": key, "source_id": one.source_id, "identity": one.identity,
            "identity_hash": signed_checksum(one.identity.encode()), **_columns(event), "record": encoded,
            "checksum": signed_checksum(encoded), "page_id": one.page_id, "first_seen_at": one.fetched_at,
            "last_seen_at": one.fetched_at, "updated_at": now,
        }  # fmt: skip
        await connection.execute(events.insert(), [row])
        return HistoryLine(record_id=key, kind=REPLAYED, changes=_ADDED)

    async def revert(self, connection: AsyncConnection, replay_id: int, by: str, now: datetime) -> int:  # noqa: ARG002
        """Put back what a replay corrected, where the record still says what the replay said."""
        lines: list[HistoryLine] = []
        for told in await corrected_by(connection, VERTICAL, replay_id):
            query = select(events).where(events.c.id == told["record_id"]).with_for_update()
            row = (await connection.execute(query)).mappings().first()
            if row is not None and await _put_back(connection, row, told["changes"], now):
                lines.append(
                    HistoryLine(
                        record_id=row["id"], kind=REVERTED, replay_id=replay_id, page_id=told["page_id"],
                        changes=swapped(told["changes"]),
                    )
                )  # fmt: skip
        await write_history(connection, self._ids, VERTICAL, lines, now)
        return len(lines)


def _word(one: RecordCorrection, row: Any) -> str:
    if one.before is None:
        return "added" if row is None else "seen"
    return "removed" if one.after is None else "corrected"


async def _row_of(connection: AsyncConnection, one: RecordCorrection) -> Any:
    mine = (events.c.source_id == one.source_id, events.c.identity_hash == signed_checksum(one.identity.encode()))
    return (await connection.execute(select(events).where(*mine).with_for_update())).mappings().first()


async def _see(connection: AsyncConnection, one: RecordCorrection, row: Any, now: datetime) -> HistoryLine | None:
    """Note that a page showed an event that was overlooked on it: seen then, if nothing has seen it since."""
    if row["last_seen_at"] >= one.fetched_at:
        return None
    values = {"last_seen_at": one.fetched_at, "missed_runs": 0, "updated_at": now}
    await connection.execute(update(events).where(events.c.id == row["id"]).values(**values))
    moved = [row["last_seen_at"].isoformat(), one.fetched_at.isoformat()]
    return HistoryLine(record_id=row["id"], kind=REPLAYED, changes={LAST_SEEN: moved})


async def _remove(connection: AsyncConnection, one: RecordCorrection, row: Any, now: datetime) -> HistoryLine | None:
    """Take an event off that should not have been taken, unless a later page showed it."""
    is_later = row is not None and row["last_seen_at"] > one.fetched_at + PERSISTED_WITHIN
    if row is None or row["gone_at"] is not None or is_later:
        return None
    await connection.execute(update(events).where(events.c.id == row["id"]).values(gone_at=now, updated_at=now))
    return HistoryLine(record_id=row["id"], kind=REPLAYED, changes=_REMOVED)


async def _put_back(connection: AsyncConnection, row: Any, changes: Mapping[str, Any], now: datetime) -> bool:
    mine = events.c.id == row["id"]
    if changes in (_ADDED, _REMOVED):
        gone = now if changes == _ADDED else None
        if (row["gone_at"] is None) == (gone is None):
            return False
        await connection.execute(update(events).where(mine).values(gone_at=gone, updated_at=now))
        return True
    if LAST_SEEN in changes:
        before_at, after_at = (datetime.fromisoformat(moment) for moment in changes[LAST_SEEN])
        if row["last_seen_at"] != after_at:
            return False
        await connection.execute(update(events).where(mine).values(last_seen_at=before_at, updated_at=now))
        return True
    current = msgspec.json.decode(row["record"])
    if any(current.get(name) != pair[1] for name, pair in changes.items()):
        return False
    before = _event({**current, **{name: pair[0] for name, pair in changes.items()}})
    encoded = _encode(before)
    values = {**_columns(before), "record": encoded, "checksum": signed_checksum(encoded), "updated_at": now}
    await connection.execute(update(events).where(mine).values(**values))
    return True


def _event(fields: Mapping[str, Any]) -> Event:
    return msgspec.json.decode(_encode(fields), type=Event)


def _columns(event: Event) -> dict[str, Any]:
    return {
        "event_fingerprint": event.fingerprint,
        "title": event.title,
        "event_date": event.event_date,
        "ends_at": event.ends_at,
        "event_time": event.event_time,
        "venue_name": event.venue_name,
        "category": event.category,
        "latitude": event.latitude,
        "longitude": event.longitude,
        "status": event.status,
    }
