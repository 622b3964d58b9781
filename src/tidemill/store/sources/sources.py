"""Sources as rows: brought in by name, listed, switched on and off, removed."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.breaker import Closed
from tidemill.core.source import Source
from tidemill.core.tags import tags_text
from tidemill.store.database.batches import portions, write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.quality.adapter_fit import forgive_drift
from tidemill.store.replays.changes import hold_selectors
from tidemill.store.schema import breakers, sources
from tidemill.store.schema.rows import breaker_columns, source_of
from tidemill.store.sources.hosts import MILLISECOND, Paces, hosts_of_sources, settle_paces
from tidemill.store.upkeep.audit import take_keys, write_audit

AT_ONCE = 1_000

Change = Literal["created", "updated", "unchanged"]
Wanted = tuple[Source, Collection[str]]
"""A source as somebody wants it, and the names of the fields that they spoke of; the rest is left as it is."""


class SourceRepository:
    """Where sources are kept; `paces` says what holds where they do not."""

    def __init__(self, database: Database, ids: Ids, paces: Paces | None = None, *, gate: bool = False) -> None:
        """Take keys from the process's supply; with a `gate`, changed selectors wait for their replay."""
        self._gate = gate
        self._database = database
        self._ids = ids
        self._paces = paces or Paces()

    async def upsert(
        self, wanted: Sequence[Wanted], now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> dict[str, tuple[int, Change]]:
        """Create the new, change the changed; each name once, the first one counts. Answers keys and changes."""
        distinct = list({source.name: (source, fields) for source, fields in reversed(wanted)}.values())[::-1]
        keys = await take_keys(self._ids, len(distinct) + len(audit))
        done: dict[str, tuple[int, Change]] = {}
        async with self._database.write() as connection:
            for start in range(0, len(distinct), AT_ONCE):
                some = slice(start, start + AT_ONCE)
                done |= await upsert_sources(connection, distinct[some], keys[some], now, gate=self._gate)
            changed = {key for key, change in done.values() if change == "updated"}
            await settle_paces(connection, await hosts_of_sources(connection, changed), self._paces)
            await write_audit(connection, zip(keys[len(distinct) :], audit, strict=True), now)
        return done

    async def find(self, which: int | str) -> Source | None:
        """A source by key or by name."""
        column = sources.c.id if isinstance(which, int) else sources.c.name
        async with self._database.read() as connection:
            row = (await connection.execute(select(sources).where(column == which))).mappings().first()
        return source_of(row) if row is not None else None

    async def every(self, *, vertical: str | None = None, enabled: bool | None = None) -> list[Source]:
        """All sources by name, or those of a vertical, or those switched on or off."""
        query = select(sources).order_by(sources.c.name)
        if vertical is not None:
            query = query.where(sources.c.vertical == vertical)
        if enabled is not None:
            query = query.where(sources.c.enabled == enabled)
        async with self._database.read() as connection:
            return [source_of(row) for row in (await connection.execute(query)).mappings()]

    async def with_keys(self, keys: Sequence[int]) -> list[Source]:
        """The sources that have these keys, by name."""
        found: list[Source] = []
        async with self._database.read() as connection:
            for some in portions(sorted(set(keys))):
                rows = (await connection.execute(select(sources).where(sources.c.id.in_(some)))).mappings()
                found += [source_of(row) for row in rows]
        return sorted(found, key=lambda each: each.name)

    async def set_tags(
        self, tags: Mapping[int, Sequence[str]], now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Give sources these tags instead of those they have."""
        keys = await take_keys(self._ids, len(audit))
        rows = [{"its_id": key, "tags": tags_text(words), "updated_at": now} for key, words in tags.items()]
        async with self._database.write() as connection:
            await write_each(connection, update(sources).where(sources.c.id == bindparam("its_id")), rows)
            await write_audit(connection, zip(keys, audit, strict=True), now)

    async def names(self) -> list[str]:
        """Every source's name."""
        async with self._database.read() as connection:
            return list((await connection.execute(select(sources.c.name).order_by(sources.c.name))).scalars())

    async def set_enabled(
        self, source_ids: Sequence[int], *, enabled: bool, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Switch sources on (which clears what had been held against them) or off."""
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            switch = update(sources).where(sources.c.id.in_(source_ids)).values(enabled=enabled, updated_at=now)
            await connection.execute(switch)
            if enabled:
                await forgive(connection, source_ids, now)
            await write_audit(connection, zip(keys, audit, strict=True), now)

    async def remove(self, source_id: int, now: datetime, audit: Sequence[AuditEntry] = ()) -> None:
        """Remove a source with its targets and runs; jobs that are still open are refused when they are claimed."""
        keys = await take_keys(self._ids, len(audit))
        async with self._database.write() as connection:
            hosts = await hosts_of_sources(connection, [source_id])
            await connection.execute(delete(sources).where(sources.c.id == source_id))
            await settle_paces(connection, hosts, self._paces)
            await write_audit(connection, zip(keys, audit, strict=True), now)


async def upsert_sources(
    connection: AsyncConnection, wanted: Sequence[Wanted], keys: Sequence[int], now: datetime, *, gate: bool = False
) -> dict[str, tuple[int, Change]]:
    """Bring sources in by name, idempotently; `keys` holds a key for each that may turn out to be new."""
    known = await _by_name(connection, [source.name for source, _ in wanted])
    done: dict[str, tuple[int, Change]] = {}
    fresh: list[dict[str, Any]] = []
    changed: list[tuple[int, Source, Source]] = []
    forgiven: list[int] = []
    for key, (source, fields) in zip(keys, wanted, strict=False):
        before = known.get(source.name)
        if before is None:
            fresh.append({"id": key, **columns_of(source), "created_at": now, "updated_at": now})
            done[source.name] = (key, "created")
            continue
        after = msgspec.structs.replace(before, **{name: getattr(source, name) for name in fields})
        done[source.name] = (before.id, "unchanged" if after == before else "updated")
        if after != before:
            changed.append((key, before, after))
            forgiven += [after.id] if after.enabled and not before.enabled else []
    written = await hold_selectors(connection, changed, now) if gate else [after for _, _, after in changed]
    await _write(connection, fresh, written, now)
    await forgive(connection, forgiven, now)
    return done


async def forgive(connection: AsyncConnection, source_ids: Sequence[int], now: datetime) -> None:
    """Clear the trap and the counters of sources that a person trusts again."""
    if not source_ids:
        return
    await forgive_drift(connection, sources.c.id.in_(source_ids), "a person", now)
    clean = {"auto_disabled": False, "consecutive_failures": 0, "updated_at": now}
    await connection.execute(update(sources).where(sources.c.id.in_(source_ids)).values(**clean))
    closed = {**breaker_columns(Closed()), "changed_at": now}
    await connection.execute(update(breakers).where(breakers.c.source_id.in_(source_ids)).values(**closed))


def columns_of(source: Source) -> dict[str, Any]:
    """The columns that hold what people decide about a source; what scraping learned is left alone."""
    place, pace, timeout = source.coordinates, source.pace, source.timeout
    return {
        "name": source.name,
        "vertical": source.vertical,
        "base_url": source.base_url,
        "adapter_id": source.adapter_id,
        "fetcher": source.fetcher.value,
        "enabled": source.enabled,
        "tier": source.tier,
        "time_zone": source.time_zone,
        "language": source.language,
        "city": source.city,
        "latitude": place.latitude if place else None,
        "longitude": place.longitude if place else None,
        "precedence": source.precedence,
        "pace_interval_ms": pace.interval // MILLISECOND if pace else None,
        "pace_burst": pace.burst if pace else None,
        "pace_parallel": pace.parallel if pace else None,
        "timeout_ms": timeout // MILLISECOND if timeout is not None else None,
        "max_pages": source.max_pages,
        "headers": dict(source.headers),
        "tos_reviewed_at": source.tos_reviewed_at,
        "tos_approved_by": source.tos_approved_by,
        "robots_compliant": source.robots_compliant,
        "visibility": source.visibility.value,
        "trust": dict(source.trust),
        "adapter_settings": dict(source.adapter_settings),
        "tags": tags_text(source.tags),
    }


async def _by_name(connection: AsyncConnection, names: Sequence[str]) -> dict[str, Source]:
    query = select(sources).where(sources.c.name.in_(names)).with_for_update()
    return {row["name"]: source_of(row) for row in (await connection.execute(query)).mappings()}


async def _write(
    connection: AsyncConnection, fresh: list[dict[str, Any]], changed: Sequence[Source], now: datetime
) -> None:
    if fresh:
        await connection.execute(sources.insert(), fresh)
    if changed:
        rows = [{**columns_of(source), "updated_at": now, "its_id": source.id} for source in changed]
        await connection.execute(update(sources).where(sources.c.id == bindparam("its_id")), rows)
