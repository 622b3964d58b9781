"""Targets as rows: brought in by source and address, listed page by page, paused, resumed, removed."""

from collections import Counter
from collections.abc import AsyncIterable, Callable, Collection, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.pacing import own_host
from tidemill.core.target import Target, TargetStatus
from tidemill.store.database.batches import portions, write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.schema import targets
from tidemill.store.schema.rows import target_of
from tidemill.store.sources.hosts import Paces, ensure_hosts, settle_paces
from tidemill.store.sources.sources import Change
from tidemill.store.upkeep.audit import take_keys, write_audit

Wanted = tuple[Target, Collection[str]]
"""A target as somebody wants it, and the names of the fields that they spoke of; the rest is left as it is."""

Address = tuple[int, str]
"""What makes a target the same one: its source's key and its canonical URL."""


class TargetRepository:
    """Where targets are kept; `paces` says what holds where no source says it."""

    def __init__(self, database: Database, ids: Ids, paces: Paces | None = None) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids
        self._paces = paces or Paces()

    async def upsert(
        self, wanted: Sequence[Wanted], now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> dict[Address, tuple[int, Change]]:
        """Create the new, change the changed, and see to their hosts; each address once, the first one counts."""
        distinct = list({_address(each[0]): self._counted(*each) for each in reversed(wanted)}.values())[::-1]
        keys = await take_keys(self._ids, len(distinct) + len(audit))
        done: dict[Address, tuple[int, Change]] = {}
        left = iter(keys)
        async with self._database.write() as connection:
            for some in portions(distinct):
                done |= await upsert_targets(connection, some, list(islice(left, len(some))), now)
            names = {target.host for target, _ in distinct}
            await ensure_hosts(connection, self._database, names, self._paces, now)
            await write_audit(connection, zip(left, audit, strict=True), now)
        return done

    async def bring_in(
        self,
        wanted: AsyncIterable[Sequence[Wanted]],
        most: int,
        now: datetime,
        audit: Callable[[int], AuditEntry | None],
    ) -> Counter[Change]:
        """The same in one transaction for as many as a file holds, written as its portions come; answers counts.

        There are no more than `most`, no two with the same address; `audit` is told how many there were.
        """
        left = iter(await take_keys(self._ids, most + 1))
        counts: Counter[Change] = Counter()
        names: set[str] = set()
        async with self._database.write() as connection:
            async for portion in wanted:
                some = [self._counted(*each) for each in portion]
                done = await upsert_targets(connection, some, list(islice(left, len(some))), now)
                counts.update(change for _, change in done.values())
                names.update(target.host for target, _ in some)
            await ensure_hosts(connection, self._database, names, self._paces, now)
            note = audit(counts.total())
            await write_audit(connection, [(next(left), note)] if note else [], now)
        return counts

    def _counted(self, target: Target, fields: Collection[str]) -> Wanted:
        """The target under the name of its own host, if that has a pace of its own."""
        name = own_host(target.url, self._paces.own)
        return (msgspec.structs.replace(target, host=name) if name else target), fields

    async def find(self, target_id: int) -> Target | None:
        """A target by key."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(targets).where(targets.c.id == target_id))).mappings().first()
        return target_of(row) if row is not None else None

    async def of_source(self, source_id: int) -> list[Target]:
        """A source's targets that people or files named; those that a template made are not among them."""
        query = select(targets).where(targets.c.source_id == source_id, targets.c.scope == "").order_by(targets.c.id)
        async with self._database.read() as connection:
            return [target_of(row) for row in (await connection.execute(query)).mappings()]

    async def at(self, canonical_url: str) -> list[Target]:
        """The targets with this canonical URL, one per source that has it."""
        query = select(targets).where(targets.c.canonical_url == canonical_url).order_by(targets.c.id)
        async with self._database.read() as connection:
            return [target_of(row) for row in (await connection.execute(query)).mappings()]

    async def pause(self, target_ids: Sequence[int], now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Leave targets alone until a person resumes them."""
        await self._set(target_ids, {"status": TargetStatus.PAUSED.value, "enabled": False}, now, audit)

    async def resume(self, target_ids: Sequence[int], now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Take targets up again, at once and with a clean slate."""
        fresh = {"status": TargetStatus.ACTIVE.value, "enabled": True, "consecutive_failures": 0, "next_due_at": now}
        await self._set(target_ids, fresh, now, audit)

    async def remove(self, target_ids: Sequence[int], now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Remove targets; their open jobs are refused when they are claimed, their pages and records stay."""
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            query = select(targets.c.host).where(targets.c.id.in_(target_ids)).distinct()
            names = set((await connection.execute(query)).scalars())
            await connection.execute(delete(targets).where(targets.c.id.in_(target_ids)))
            await settle_paces(connection, names, self._paces)
            await write_audit(connection, zip(keys, audit, strict=True), now)

    async def _set(
        self, target_ids: Sequence[int], values: dict[str, Any], now: datetime, audit: Sequence[AuditEntry]
    ) -> None:
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            change = update(targets).where(targets.c.id.in_(target_ids)).values(**values, updated_at=now)
            await connection.execute(change)
            await write_audit(connection, zip(keys, audit, strict=True), now)


async def upsert_targets(
    connection: AsyncConnection, wanted: Sequence[Wanted], keys: Sequence[int], now: datetime
) -> dict[Address, tuple[int, Change]]:
    """Bring targets in, idempotently; a new one, or one whose schedule changed, is due at once."""
    known = await _by_address(connection, [_address(target) for target, _ in wanted])
    done: dict[Address, tuple[int, Change]] = {}
    fresh: list[dict[str, Any]] = []
    changed: list[Target] = []
    for key, (target, fields) in zip(keys, wanted, strict=False):
        before = known.get(_address(target))
        if before is None:
            fresh.append({"id": key, **_new_columns(target, now)})
            done[_address(target)] = (key, "created")
            continue
        after = msgspec.structs.replace(before, **{name: getattr(target, name) for name in fields})
        done[_address(target)] = (before.id, "unchanged" if after == before else "updated")
        if after.schedule != before.schedule:
            after = msgspec.structs.replace(after, next_due_at=now, adapted_seconds=None)
        changed += [after] if after != before else []
    await _write(connection, fresh, changed, now)
    return done


def columns_of(target: Target) -> dict[str, Any]:
    """The columns that hold what people decide about a target, and when it is due."""
    return {
        "url": target.url,
        "host": target.host,
        "adapter_id": target.adapter_id,
        "schedule": target.schedule,
        "priority": target.priority,
        "status": target.status.value,
        "enabled": target.enabled,
        "robots_path_blocked": target.robots_path_blocked,
        "next_due_at": target.next_due_at,
        "adapted_seconds": target.adapted_seconds,
        "notes": target.notes,
        "scope": target.scope,
        "parameters": dict(target.parameters) or None,
    }


def _new_columns(target: Target, now: datetime) -> dict[str, Any]:
    return {
        **columns_of(target),
        "source_id": target.source_id,
        "canonical_url": target.canonical_url,
        "created_by": target.created_by,
        "next_due_at": target.next_due_at or now,
        "created_at": now,
        "updated_at": now,
    }


def _address(target: Target) -> Address:
    return target.source_id, target.canonical_url


_KNOWN = (
    select(targets)
    .where(targets.c.source_id == bindparam("b_source"))
    .where(targets.c.canonical_url.in_(bindparam("b_urls", expanding=True)))
    .with_for_update()
)
_CREATE = targets.insert()
_CHANGE = update(targets).where(targets.c.id == bindparam("its_id"))


async def _by_address(connection: AsyncConnection, addresses: Iterable[Address]) -> dict[Address, Target]:
    """Those that exist, asked for source by source: SQLite would try every address under every source at once."""
    urls: dict[int, set[str]] = {}
    for source_id, url in addresses:
        urls.setdefault(source_id, set()).add(url)
    known: dict[Address, Target] = {}
    for source_id in sorted(urls):
        for some in portions(sorted(urls[source_id])):
            rows = (await connection.execute(_KNOWN, {"b_source": source_id, "b_urls": some})).mappings()
            known |= {(source_id, row["canonical_url"]): target_of(row) for row in rows}
    return known


async def _write(
    connection: AsyncConnection, fresh: list[dict[str, Any]], changed: Sequence[Target], now: datetime
) -> None:
    await write_each(connection, _CREATE, fresh)
    await write_each(
        connection, _CHANGE, [{**columns_of(target), "updated_at": now, "its_id": target.id} for target in changed]
    )
