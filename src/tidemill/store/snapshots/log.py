"""The append-only log of changes: written within the caller's transaction, numbered in the order of commits.

Offsets are drawn from one row that stays locked until the transaction ends, so that whoever has seen offset 7 will
never miss a 6.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Row, bindparam, delete, func, insert, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.live.change import Appended, LogEntry, Provenance, Published, ThingKey
from tidemill.core.snapshots.changes import KEPT_WHOLE, LabelsOf, LoggedChange, decode_state
from tidemill.store.database.database import Database
from tidemill.store.database.upserts import upsert
from tidemill.store.records.live import SequenceTaken
from tidemill.store.schema import change_log, snapshot_history, snapshots
from tidemill.store.snapshots.log_rows import (
    NewestState,
    PreparedEntry,
    StateOrigin,
    history_rows,
    log_row,
    logged_change,
    prepare,
    snapshot_row,
)

CHANNEL = "tidemill_changes"
"""The PostgreSQL channel on which each commit tells its last offset."""
PROVENANCE = dict[str, Provenance]

_DRAW = text(
    "INSERT INTO id_blocks (name, next_id) VALUES ('change_log', 1 + :count)"
    " ON CONFLICT (name) DO UPDATE SET next_id = id_blocks.next_id + :count RETURNING next_id"
)
_NOTIFY = text(f"SELECT pg_notify('{CHANNEL}', :offset)")
_KNOWN_TOKENS = select(change_log.c.token, change_log.c.change_offset).where(
    change_log.c.token.in_(bindparam("tokens", expanding=True))
)
_NEWEST = select(snapshots).where(snapshots.c.thing_id.in_(bindparam("things", expanding=True)))
_PUT = upsert(snapshots, ["thing_id"])
_KEPT = snapshot_history.alias("kept")
_OLDEST_KEPT = (
    select(_KEPT.c.seq)
    .where(_KEPT.c.thing_id == bindparam("thing"))
    .order_by(_KEPT.c.seq.desc())
    .offset(KEPT_WHOLE - 1)
    .limit(1)
    .scalar_subquery()
)
_FORGET = delete(snapshot_history).where(
    snapshot_history.c.thing_id == bindparam("thing"), snapshot_history.c.seq < func.coalesce(_OLDEST_KEPT, 0)
)

Publish = Callable[[Sequence[LoggedChange]], None]


class SnapshotLog:
    """Implements `ChangeLog`: appends entries, keeps the newest state of each thing and the last few whole."""

    def __init__(self, database: Database, labels: Mapping[str, LabelsOf] | None = None) -> None:
        """`labels` says by vertical what its lists and streams choose by."""
        self._database = database
        self._labels = labels or {}
        self._listeners: list[Publish] = []

    def on_publish(self, listener: Publish) -> None:
        """Call `listener` with what this process commits, after each commit and in the order of commits."""
        self._listeners.append(listener)

    def stop_publishing(self, listener: Publish) -> None:
        """Call `listener` no more."""
        self._listeners.remove(listener)

    def publish(self, appended: Sequence[Appended]) -> None:
        """Tell this process's readers."""
        changes = [each.event for each in appended if each.event is not None]
        for listener in self._listeners:
            listener(changes)

    async def append(self, connection: AsyncConnection, entries: Sequence[LogEntry], now: datetime) -> list[Appended]:
        """Append entries in order; one whose token is known is answered with its offset and not written again.

        Raise `SequenceTaken` for one that does not follow, and `BadState` for a state that cannot be kept.
        """
        known = await _known_tokens(connection, entries)
        fresh = [entry for entry in entries if entry.token not in known]
        newest = await _newest(connection, {entry.thing_id for entry in fresh})
        prepared = prepare(fresh, newest, self._labels)
        logged = await _write(connection, prepared, now)
        events = {each.entry.token: event for each, event in zip(prepared, logged, strict=True)}
        return [
            Appended(entry, event.offset, event)
            if (event := events.get(entry.token))
            else Appended(entry, known[entry.token])
            for entry in entries
        ]

    async def latest(self, things: Sequence[ThingKey]) -> dict[ThingKey, Published]:
        """Return the newest state of each thing that has one."""
        found: dict[ThingKey, Published] = {}
        async with self._database.read() as connection:
            for vertical in {thing.vertical for thing in things}:
                keys = [thing.key for thing in things if thing.vertical == vertical]
                query = select(snapshots).where(snapshots.c.vertical == vertical, snapshots.c.key.in_(keys))
                for row in (await connection.execute(query)).mappings():
                    found[ThingKey(vertical, row["key"])] = Published(
                        state=msgspec.json.decode(row["state"]),
                        seq=row["seq"],
                        changed_at=row["changed_at"],
                        provenance=msgspec.json.decode(row["provenance"], type=PROVENANCE),
                    )
        return found


async def _known_tokens(connection: AsyncConnection, entries: Sequence[LogEntry]) -> dict[int, int]:
    rows = await connection.execute(_KNOWN_TOKENS, {"tokens": [entry.token for entry in entries]})
    return {row.token: row.change_offset for row in rows}


async def _newest(connection: AsyncConnection, things: Iterable[int]) -> dict[int, NewestState]:
    rows = await connection.execute(_NEWEST, {"things": list(things)})
    return {row.thing_id: _newest_state(row) for row in rows}


def _newest_state(row: Row[Any]) -> NewestState:
    state = decode_state(row.state.encode(), row.checksum)
    return NewestState(row.seq, state, StateOrigin(row.source, row.provenance, row.changed_at, row.checked_at))


async def _write(connection: AsyncConnection, prepared: Sequence[PreparedEntry], now: datetime) -> list[LoggedChange]:
    """Write log, newest states and history; the last offset is told to other processes when the commit is done."""
    if not prepared:
        return []
    end = int((await connection.execute(_DRAW, {"count": len(prepared)})).scalar_one())
    logged = [logged_change(each, end - len(prepared) + place, now) for place, each in enumerate(prepared)]
    try:
        await connection.execute(
            insert(change_log), [log_row(each, event) for each, event in zip(prepared, logged, strict=True)]
        )
    except IntegrityError as error:
        msg = "another owner wrote the same number at the same moment"
        raise SequenceTaken(msg) from error
    newest = {
        each.entry.thing_id: snapshot_row(each, event.offset) for each, event in zip(prepared, logged, strict=True)
    }
    await connection.execute(_PUT[connection.dialect.name], list(newest.values()))
    if history := history_rows(prepared):
        await connection.execute(insert(snapshot_history), history)
        await connection.execute(_FORGET, [{"thing": row["thing_id"]} for row in history])
    if connection.dialect.name == "postgresql":
        await connection.execute(_NOTIFY, {"offset": str(logged[-1].offset)})
    return logged
