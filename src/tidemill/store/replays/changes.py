"""Changes of reading at the gate: versions of adapters and selectors of sources, held until they are accepted."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import and_, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.replay.reading_version import reading_version
from tidemill.core.replay.views import ChangeStatus, ReadingChange, ReadingChangeKind, is_of_code
from tidemill.core.source import Source
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import adapter_versions, reading_changes, replays, sources, targets
from tidemill.store.upkeep.audit import take_keys, write_audit

SELECTORS = "selectors"
OPEN = (ChangeStatus.CHECKING, ChangeStatus.WAITING)
_VERSIONS = select(adapter_versions.c.adapter_id, adapter_versions.c.version)
_IN_USE = (
    select(sources.c.vertical, targets.c.adapter_id)
    .join(targets, targets.c.source_id == sources.c.id)
    .distinct()
    .order_by(sources.c.vertical, targets.c.adapter_id)
)
_SHOWN = (
    select(
        reading_changes,
        func.coalesce(sources.c.name, "").label("source_name"),
        replays.c.held_because.label("held"),
    )
    .outerjoin(sources, sources.c.id == reading_changes.c.source_id)
    .outerjoin(replays, replays.c.id == reading_changes.c.replay_id)
)


async def accepted_versions(connection: AsyncConnection) -> dict[str, str]:
    """Return the version of each adapter that may write records."""
    return {row.adapter_id: row.version for row in await connection.execute(_VERSIONS)}


async def hold_selectors(
    connection: AsyncConnection, pairs: Iterable[tuple[int, Source, Source]], now: datetime
) -> list[Source]:
    """Return sources as they may be written: where selectors changed and pages are kept, the old ones go on.

    Each pair comes with a key for the change, which waits for its replay from now on.
    """
    answer: list[Source] = []
    for key, before, after in pairs:
        old, new = before.adapter_settings.get(SELECTORS), after.adapter_settings.get(SELECTORS)
        if old == new or not await _has_pages(connection, before.id):
            answer.append(after)
            continue
        await _supersede(connection, reading_changes.c.source_id == before.id, now)
        row = _row(key, ReadingChangeKind.SELECTORS, after.adapter_id, before.id, (old, new), now, "")
        await connection.execute(reading_changes.insert(), [row])
        answer.append(msgspec.structs.replace(after, adapter_settings=with_selectors(after.adapter_settings, old)))
    return answer


async def note_accepted_selectors(
    connection: AsyncConnection, key: int, source_id: int, selectors: Any, replay_id: int | None, by: str, now: datetime
) -> None:
    """Note that a source is read by other selectors from now on, which a person accepted; it can be rolled back.

    A replay that proves them counts as accepted too. Whoever calls gives the source its selectors.
    """
    query = select(sources.c.adapter_id, sources.c.adapter_settings).where(sources.c.id == source_id)
    row = (await connection.execute(query)).first()
    if row is None:
        return
    await _supersede(connection, reading_changes.c.source_id == source_id, now)
    pair = ((row.adapter_settings or {}).get(SELECTORS), selectors)
    change = _row(key, ReadingChangeKind.SELECTORS, row.adapter_id, source_id, pair, now, by)
    change |= {"status": ChangeStatus.ACCEPTED, "replay_id": replay_id, "decided_at": now, "decided_by": by}
    await connection.execute(reading_changes.insert(), [change])
    if replay_id is not None:
        proven = (replays.c.id == replay_id) & replays.c.change.in_((ChangeStatus.PROVEN, ChangeStatus.DOUBTFUL))
        said = {"change": ChangeStatus.ACCEPTED, "decided_at": now, "decided_by": by}
        await connection.execute(update(replays).where(proven).values(**said))


def with_selectors(settings: Mapping[str, Any], selectors: Any) -> dict[str, Any]:
    """Return a source's settings with these selectors; without any if they are None."""
    others = {name: value for name, value in settings.items() if name != SELECTORS}
    return others if selectors is None else {**others, SELECTORS: selectors}


class ReadingChanges:
    """Where changes of reading are kept, with what each does when it is accepted."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def versions(self) -> dict[str, str]:
        """Return the accepted version of each adapter."""
        async with self._database.read() as connection:
            return await accepted_versions(connection)

    async def adapters_in_use(self) -> list[tuple[str, str]]:
        """Return the vertical and the name of every adapter that reads a target."""
        async with self._database.read() as connection:
            return [(row.vertical, row.adapter_id) for row in await connection.execute(_IN_USE)]

    async def record_versions(self, versions: Mapping[str, str], by: str, now: datetime) -> None:
        """Write down which versions may write records, in place of those before."""
        if versions:
            async with self._database.write() as connection:
                await _record(self._database, connection, versions, by, now)

    async def open_version(self, adapter_id: str, before: str, after: str, now: datetime) -> int:
        """Let a version go through the gate; another one of the same adapter is not asked about any more."""
        (key,) = await take_keys(self._ids, 1)
        mine = and_(reading_changes.c.adapter_id == adapter_id, reading_changes.c.kind == ReadingChangeKind.VERSION)
        async with self._database.write() as connection:
            await _supersede(connection, mine, now)
            row = _row(key, ReadingChangeKind.VERSION, adapter_id, None, (before, after), now, "")
            await connection.execute(reading_changes.insert(), [row])
        return key

    async def open_rollback(self, source: Source, selectors: Any, by: str, now: datetime) -> int:
        """Let the selectors that a source had before go through the gate."""
        (key,) = await take_keys(self._ids, 1)
        async with self._database.write() as connection:
            await _supersede(connection, reading_changes.c.source_id == source.id, now)
            pair = (source.adapter_settings.get(SELECTORS), selectors)
            row = _row(key, ReadingChangeKind.ROLLBACK, source.adapter_id, source.id, pair, now, by)
            await connection.execute(reading_changes.insert(), [row])
        return key

    async def every(self, *, status: ChangeStatus | None = None, limit: int = 100) -> list[ReadingChange]:
        """Return changes, the newest first."""
        query = _SHOWN.order_by(reading_changes.c.id.desc()).limit(limit)
        if status is not None:
            query = query.where(reading_changes.c.status == status)
        return await self._found(query)

    async def for_replay(self, replay_id: int) -> ReadingChange | None:
        """Return the change that a replay is about."""
        found = await self._found(_SHOWN.where(reading_changes.c.replay_id == replay_id))
        return found[0] if found else None

    async def newest_version_change(self, adapter_id: str) -> ReadingChange | None:
        """Return the last change of an adapter's version."""
        mine = and_(reading_changes.c.adapter_id == adapter_id, reading_changes.c.kind == ReadingChangeKind.VERSION)
        found = await self._found(_SHOWN.where(mine).order_by(reading_changes.c.id.desc()).limit(1))
        return found[0] if found else None

    async def last_selectors(self, source_id: int) -> ReadingChange | None:
        """Return the last change of a source's selectors that went through."""
        through = (ChangeStatus.PASSED, ChangeStatus.ACCEPTED)
        mine = and_(reading_changes.c.source_id == source_id, reading_changes.c.status.in_(through))
        found = await self._found(_SHOWN.where(mine).order_by(reading_changes.c.id.desc()).limit(1))
        return found[0] if found else None

    async def _found(self, query: Any) -> list[ReadingChange]:
        async with self._database.read() as connection:
            return [_change(row) for row in (await connection.execute(query)).mappings()]

    async def set_replay(self, change_id: int, replay_id: int) -> None:
        """Note which replay is about a change."""
        async with self._database.write() as connection:
            mine = reading_changes.c.id == change_id
            await connection.execute(update(reading_changes).where(mine).values(replay_id=replay_id))

    async def settle(
        self, change: ReadingChange, status: ChangeStatus, by: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> bool:
        """Write down how a change ended; one that went through takes effect in the same transaction."""
        keys = await take_keys(self._ids, len(audit))
        open_ones = and_(reading_changes.c.id == change.id, reading_changes.c.status.in_(OPEN))
        said: dict[str, Any] = {"status": status}
        if status is not ChangeStatus.WAITING:
            said |= {"decided_at": now, "decided_by": by}
        async with self._database.write() as connection:
            done = bool((await connection.execute(update(reading_changes).where(open_ones).values(**said))).rowcount)
            if done and status in {ChangeStatus.PASSED, ChangeStatus.ACCEPTED}:
                was_held = status is ChangeStatus.ACCEPTED or not is_of_code(change)
                await self._take_effect(connection, change, by, now, was_held=was_held)
            if done and status is ChangeStatus.WAITING and is_of_code(change):
                await _hold_code(connection, change)
            if done:
                await write_audit(connection, zip(keys, audit, strict=True), now)
        return done

    async def use_selectors(
        self, source: Source, selectors: Any, replay_id: int, by: str, now: datetime, audit: Sequence[AuditEntry]
    ) -> None:
        """Give a source selectors that a replay has proven; what was before can be rolled back to."""
        key, *keys = await take_keys(self._ids, 1 + len(audit))
        async with self._database.write() as connection:
            await note_accepted_selectors(connection, key, source.id, selectors, replay_id, by, now)
            await _use(connection, source.id, selectors, now)
            await write_audit(connection, zip(keys, audit, strict=True), now)

    async def _take_effect(
        self, connection: AsyncConnection, change: ReadingChange, by: str, now: datetime, *, was_held: bool
    ) -> None:
        if change.kind is ReadingChangeKind.VERSION:
            await _record(self._database, connection, {change.adapter_id: change.after}, by, now)
            if not was_held:
                return
            due = (targets.c.adapter_id == change.adapter_id) & targets.c.enabled
            await connection.execute(update(targets).where(due).values(next_due_at=now))
        elif change.source_id is not None:
            await _use(connection, change.source_id, change.after, now)


async def _use(connection: AsyncConnection, source_id: int, selectors: Any, now: datetime) -> None:
    """Let a source be read by these selectors, and let its targets be due at once."""
    mine = sources.c.id == source_id
    held = (await connection.execute(select(sources.c.adapter_settings).where(mine).with_for_update())).scalar() or {}
    fresh = with_selectors(held, selectors)
    await connection.execute(update(sources).where(mine).values(adapter_settings=fresh, updated_at=now))
    due = (targets.c.source_id == source_id) & targets.c.enabled
    await connection.execute(
        update(targets).where(due).values(next_due_at=now, good_digest=None, etag="", last_modified="")
    )


async def _hold_code(connection: AsyncConnection, change: ReadingChange) -> None:
    """Let nothing but the code that was accepted read from now on."""
    exact = str(reading_version(str(change.before))._replace(exact=True))
    mine = adapter_versions.c.adapter_id == change.adapter_id
    await connection.execute(update(adapter_versions).where(mine).values(version=exact))


async def _record(
    database: Database, connection: AsyncConnection, versions: Mapping[str, str], by: str, now: datetime
) -> None:
    rows = [
        {"adapter_id": name, "version": version, "accepted_at": now, "accepted_by": by}
        for name, version in sorted(versions.items())
    ]
    statement = database.insert(adapter_versions)
    fresh = {name: statement.excluded[name] for name in ("version", "accepted_at", "accepted_by")}
    await connection.execute(statement.on_conflict_do_update(index_elements=["adapter_id"], set_=fresh), rows)


async def _has_pages(connection: AsyncConnection, source_id: int) -> bool:
    found = exists().where(targets.c.source_id == source_id, targets.c.good_page_id.is_not(None))
    return bool((await connection.execute(select(found))).scalar())


async def _supersede(connection: AsyncConnection, whose: Any, now: datetime) -> None:
    """Close what is open: a newer change has taken its place."""
    open_ones = and_(whose, reading_changes.c.status.in_(OPEN))
    gone = select(reading_changes.c.replay_id).where(open_ones, reading_changes.c.replay_id.is_not(None))
    keys = list((await connection.execute(gone)).scalars())
    if keys:
        old = update(replays).where(replays.c.id.in_(keys)).values(change=ChangeStatus.SUPERSEDED, decided_at=now)
        await connection.execute(old)
    await connection.execute(
        update(reading_changes).where(open_ones).values(status=ChangeStatus.SUPERSEDED, decided_at=now)
    )


def _row(
    key: int,
    kind: ReadingChangeKind,
    adapter_id: str,
    source_id: int | None,
    pair: tuple[Any, Any],
    now: datetime,
    by: str,
) -> dict[str, Any]:
    before, after = pair
    return {
        "id": key, "kind": kind, "adapter_id": adapter_id, "source_id": source_id, "before": before, "after": after,
        "status": ChangeStatus.CHECKING, "created_at": now, "created_by": by,
    }  # fmt: skip


def _change(row: Mapping[Any, Any]) -> ReadingChange:
    plain = {name: value for name, value in row.items() if name != "held"}
    kind, status = ReadingChangeKind(row["kind"]), ChangeStatus(row["status"])
    return ReadingChange(**{**plain, "kind": kind, "status": status}, held_because=row["held"] or ())
