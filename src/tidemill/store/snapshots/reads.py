"""Snapshots and the log as readers see them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Row, Select, func, select

from tidemill.core.live.change import ChangeKind, Provenance, ThingKey
from tidemill.core.snapshots.changes import LoggedChange, ThingLabels, ThingSnapshot
from tidemill.core.snapshots.patches import merge
from tidemill.store.database.database import Database
from tidemill.store.schema import change_log, live_pages, snapshot_history, snapshots

_PAGE_CHECKED_AT = (
    select(func.max(live_pages.c.checked_at))
    .where(live_pages.c.thing_id == snapshots.c.thing_id)
    .scalar_subquery()
    .label("page_checked_at")
)
"""When a page last told of the thing. It stands with the page: a snapshot is large, and a check is no change of it."""
_TOLD = [column for column in change_log.c if column.name not in {"token", "page_id"}]


class PastState(msgspec.Struct, frozen=True):
    """A thing as it was: its state, the number of the change that made it, whose word it was, and when."""

    state: dict[str, Any]
    seq: int
    source: str
    changed_at: datetime


class SnapshotHead(msgspec.Struct, frozen=True):
    """Which snapshot of a thing is the newest, and when it was last found to hold."""

    seq: int
    checksum: str
    checked_at: datetime


class SnapshotReads:
    """Answers with snapshots and entries of the log; writes nothing."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def latest(self, vertical: str, key: str) -> ThingSnapshot | None:
        """Return the newest snapshot of a thing."""
        found = await self.latest_of(vertical, [key])
        return found[0] if found else None

    async def latest_of(self, vertical: str, keys: Sequence[str]) -> list[ThingSnapshot]:
        """Return the newest snapshot of each of the things that has one."""
        return await self._snapshots(snapshots.c.vertical == vertical, snapshots.c.key.in_(keys))

    async def heads_of(self, vertical: str, keys: Sequence[str]) -> dict[str, SnapshotHead]:
        """Return which snapshot of each thing is the newest, without the snapshots: these are large."""
        columns = (snapshots.c.key, snapshots.c.seq, snapshots.c.checksum, snapshots.c.checked_at, _PAGE_CHECKED_AT)
        query = select(*columns).where(snapshots.c.vertical == vertical, snapshots.c.key.in_(keys))
        async with self._database.read() as connection:
            return {
                row.key: SnapshotHead(row.seq, row.checksum, max(row.checked_at, row.page_checked_at or row.checked_at))
                for row in await connection.execute(query)
            }

    async def is_missing(self, vertical: str, key: str) -> bool:
        """Return False: the database itself is asked."""
        del vertical, key
        return False

    async def note_missing(self, vertical: str, key: str) -> None:
        """Do nothing: nobody else would hear of it."""

    async def listed(
        self, vertical: str, *, status: str | None, group: str | None, after: str, limit: int
    ) -> list[ThingSnapshot]:
        """Return the newest snapshots by key, after a key; chosen by status and group where these are given."""
        chosen: list[ColumnElement[bool]] = [snapshots.c.vertical == vertical, snapshots.c.key > after]
        if status is not None:
            chosen.append(snapshots.c.status == status)
        if group is not None:
            chosen.append(snapshots.c.group_key == group)
        return await self._snapshots(*chosen, limit=limit)

    async def history(self, vertical: str, key: str) -> list[tuple[int, bytes]]:
        """Return the last few states of a thing as canonical JSON with their sequence numbers, newest first."""
        query = (
            select(snapshot_history.c.seq, snapshot_history.c.state)
            .join(snapshots, snapshots.c.thing_id == snapshot_history.c.thing_id)
            .where(snapshots.c.vertical == vertical, snapshots.c.key == key)
            .order_by(snapshot_history.c.seq.desc())
        )
        async with self._database.read() as connection:
            return [(seq, state.encode()) for seq, state in await connection.execute(query)]

    async def changes(self, thing_id: int, after_seq: int, limit: int) -> list[LoggedChange]:
        """Return the entries of a thing after a sequence number, in order."""
        query = select(*_TOLD).where(change_log.c.thing_id == thing_id, change_log.c.seq > after_seq)
        return await self._logged(query.order_by(change_log.c.seq).limit(limit))

    async def logged_after(
        self, offset: int, limit: int, vertical: str | None = None, things: Sequence[int] | None = None
    ) -> list[LoggedChange]:
        """Return the entries after an offset in the order of commits: all, a vertical's, or those of some things."""
        query = select(*_TOLD).where(change_log.c.change_offset > offset)
        if vertical is not None:
            query = query.where(change_log.c.vertical == vertical)
        if things is not None:
            query = query.where(change_log.c.thing_id.in_(things))
        return await self._logged(query.order_by(change_log.c.change_offset).limit(limit))

    async def states_at(self, things: Sequence[int], moment: datetime) -> dict[int, "PastState"]:
        """Return the state that each thing had at a moment, made from its log; those without one are left out."""
        query = (
            select(*(change_log.c[name] for name in ("thing_id", "seq", "patch", "source", "changed_at")))
            .where(change_log.c.thing_id.in_(things), change_log.c.logged_at <= moment)
            .order_by(change_log.c.thing_id, change_log.c.seq)
        )
        found: dict[int, PastState] = {}
        async with self._database.read() as connection:
            for row in await connection.execute(query):
                before = found.get(row.thing_id)
                state = merge(before.state if before else {}, msgspec.json.decode(row.patch))
                found[row.thing_id] = PastState(state, row.seq, row.source, row.changed_at)
        return found

    async def head(self) -> int:
        """Return the offset of the newest entry, 0 for none."""
        async with self._database.read() as connection:
            return int((await connection.execute(select(func.max(change_log.c.change_offset)))).scalar() or 0)

    async def _snapshots(self, *chosen: ColumnElement[bool], limit: int | None = None) -> list[ThingSnapshot]:
        query = select(snapshots, _PAGE_CHECKED_AT).where(*chosen).order_by(snapshots.c.key).limit(limit)
        async with self._database.read() as connection:
            return [_snapshot(row) for row in await connection.execute(query)]

    async def _logged(self, query: Select[Any]) -> list[LoggedChange]:
        async with self._database.read() as connection:
            return [_entry(row) for row in await connection.execute(query)]


def _snapshot(row: Row[Any]) -> ThingSnapshot:
    return ThingSnapshot(
        thing=ThingKey(row.vertical, row.key),
        thing_id=row.thing_id,
        seq=row.seq,
        offset=row.change_offset,
        encoded=row.state.encode(),
        checksum=row.checksum,
        changed_at=row.changed_at,
        checked_at=max(row.checked_at, row.page_checked_at or row.checked_at),
        labels=ThingLabels(row.status, row.group_key),
        source=row.source,
        provenance=msgspec.json.decode(row.provenance, type=dict[str, Provenance]),
    )


def _entry(row: Row[Any]) -> LoggedChange:
    return LoggedChange(
        offset=row.change_offset,
        thing=ThingKey(row.vertical, row.key),
        thing_id=row.thing_id,
        seq=row.seq,
        kind=ChangeKind(row.kind),
        patch=row.patch,
        checksum=row.checksum,
        status=row.status,
        changed_at=row.changed_at,
        logged_at=row.logged_at,
        source=row.source,
        skipped=row.skipped,
        reason=row.reason,
        was=row.was,
        moved_from=row.moved_from,
        moved_to=row.moved_to,
    )
