"""Which match a source's id means: found by teams and start, kept for good, settled by a person where in doubt."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.audit import AuditEntry
from tidemill.core.live.rules import ListedThing
from tidemill.core.snapshots.staleness import STATIC_KEPT
from tidemill.core.source import Source
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.database.locks import lock_exclusively
from tidemill.store.database.upserts import upsert
from tidemill.store.schema import cached_values, sources
from tidemill.store.upkeep.audit import take_keys, write_audit
from tidemill.verticals.matches.identity import (
    KNOWN_WITHIN,
    KnownMatch,
    ListedMatch,
    identified,
    listed_match,
    new_key,
)
from tidemill.verticals.matches.merging.rows import MatchConflict, TeamRoster
from tidemill.verticals.matches.merging.teams import team_key
from tidemill.verticals.matches.record import Team
from tidemill.verticals.matches.store.tables import MATCHES_LOCK, match_conflicts, match_ids, matches
from tidemill.verticals.matches.views import MappedId

RECENT = timedelta(hours=36)
_PUT_ROSTER = upsert(cached_values, ["name"])
_LONGEST = 300


class MatchIdentities:
    """Implements `LiveThings`: the mapping of ids to matches, conflicts and rosters."""

    def __init__(self, database: Database, ids: Ids) -> None:
        """Take keys from the process's supply."""
        self._database = database
        self._ids = ids

    async def identify(self, source: Source, listed: Sequence[ListedThing], now: datetime) -> Mapping[str, str]:
        """Return the match of each listed thing, by the site's own id; the same again for the same."""
        found = [each for thing in listed if (each := _listed(thing)) is not None]
        async with self._database.read() as connection:
            known = await _mapped(connection, source.id, [each.source_key for each in found])
        missing = [each for each in found if each.source_key not in known]
        if not missing:
            return known
        async with self._database.write() as connection:
            await _lock(connection)
            return known | await self.add(connection, source.id, missing, now)

    async def add(
        self, connection: AsyncConnection, source_id: int, listed: Sequence[ListedMatch], now: datetime
    ) -> dict[str, str]:
        """Find or make the match of each id that has none yet; the lock is held."""
        answer = await _mapped(connection, source_id, [each.source_key for each in listed])
        known = await _known(connection, listed, now)
        taken = set((await connection.execute(select(matches.c.key))).scalars())
        for each in listed:
            if each.source_key in answer:
                continue
            found = identified(each, known)
            key = found.key
            if not key:
                key = new_key(each, now, taken)
                taken.add(key)
                known.append(KnownMatch(key=key, teams=each.teams, starts_at=each.starts_at))
                await connection.execute(insert(matches), _match_row(key, each, now))
            answer[each.source_key] = key
            row = {"source_id": source_id, "source_key": each.source_key, "match_key": key, "url": each.url,
                   "doubt": storable(found.doubt, _LONGEST), "first_seen_at": now}  # fmt: skip
            await connection.execute(insert(match_ids), row)
        return answer

    async def mapped(self, connection: AsyncConnection, source_id: int, keys: Sequence[str]) -> dict[str, str]:
        """Return the matches of the ids that have one; whoever adds the others holds the lock from here on."""
        await _lock(connection)
        return await _mapped(connection, source_id, keys)

    async def write(self, connection: AsyncConnection, key: str, rows: Sequence[Any], now: datetime) -> None:
        """Write conflicts and rosters within the caller's transaction."""
        for row in rows:
            match row:
                case MatchConflict():
                    await connection.execute(insert(match_conflicts), self._conflict_row(key, row))
                case TeamRoster(team=team, players=players):
                    value = {"name": f"roster:{team}", "value": _encoded(players), "expires_at": now + STATIC_KEPT}
                    await connection.execute(_PUT_ROSTER[connection.dialect.name], value)
                case _:
                    msg = f"{type(row).__name__} is no row of matches"
                    raise TypeError(msg)

    def _conflict_row(self, key: str, row: MatchConflict) -> dict[str, Any]:
        return {
            "match_key": key, "innings": row.innings, "field": row.field,
            "shown_source": row.shown_source, "shown_value": row.shown_value, "other_source": row.other_source,
            "other_value": row.other_value, "found_at": row.at,
        }  # fmt: skip

    async def roster(self, team: str, now: datetime) -> tuple[str, ...]:
        """Return the players of a team, as long as they are known to be current."""
        query = select(cached_values.c.value).where(
            cached_values.c.name == f"roster:{team_key(team)}", cached_values.c.expires_at > now
        )
        async with self._database.read() as connection:
            value = (await connection.execute(query)).scalar()
        return tuple(value.split("\n")) if value else ()

    async def ids(self, key: str | None = None, *, doubtful: bool = False) -> list[MappedId]:
        """Return what sources call a match, or everything that waits for a person."""
        query = select(match_ids, sources.c.name).join(sources, sources.c.id == match_ids.c.source_id)
        if key is not None:
            query = query.where(match_ids.c.match_key == key)
        if doubtful:
            query = query.where(match_ids.c.doubt != "", match_ids.c.settled_by.is_(None))
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(sources.c.name, match_ids.c.source_key))
            return [_mapped_id(row) for row in rows]

    async def settle(
        self, source: str, source_key: str, key: str, actor: str, now: datetime, audit: AuditEntry
    ) -> str | None:
        """Let an id mean a match; return the match that it meant before, None for an id that is not known.

        A match that no id means any more is merged into the other: its own history stays where it is.
        """
        keys = await take_keys(self._ids, 1)
        async with self._database.write() as connection:
            await _lock(connection)
            its = match_ids.c.source_id.in_(select(sources.c.id).where(sources.c.name == source))
            where = (its, match_ids.c.source_key == source_key)
            before = (await connection.execute(select(match_ids.c.match_key).where(*where))).scalar()
            if before is None:
                return None
            settled = update(match_ids).where(*where).values(match_key=key, settled_by=actor)
            await connection.execute(settled)
            left = select(func.count()).where(match_ids.c.match_key == before)
            if before != key and not (await connection.execute(left)).scalar_one():
                await connection.execute(update(matches).where(matches.c.key == before).values(merged_into=key))
            await connection.execute(update(matches).where(matches.c.key == key).values(merged_into=None))
            await write_audit(connection, zip(keys, [audit], strict=True), now)
        return str(before)


def _listed(thing: ListedThing) -> ListedMatch | None:
    return listed_match(thing.source_key, thing.url, thing.title, thing.fields)


def _encoded(players: Sequence[str]) -> str:
    return "\n".join(players)


def _match_row(key: str, listed: ListedMatch, now: datetime) -> dict[str, Any]:
    return {
        "key": key, "title": storable(listed.title, _LONGEST), "series": storable(listed.series, _LONGEST),
        "teams": [[team.name, team.short_name] for team in listed.teams],
        "match_type": storable(listed.match_type, _LONGEST), "starts_at": listed.starts_at, "created_at": now,
    }  # fmt: skip


def _mapped_id(row: Row[Any]) -> MappedId:
    return MappedId(
        source=row.name, source_key=row.source_key, match_key=row.match_key, url=row.url, doubt=row.doubt,
        settled_by=row.settled_by or "", first_seen_at=row.first_seen_at,
    )  # fmt: skip


async def _mapped(connection: AsyncConnection, source_id: int, keys: Sequence[str]) -> dict[str, str]:
    query = select(match_ids.c.source_key, match_ids.c.match_key).where(
        match_ids.c.source_id == source_id, match_ids.c.source_key.in_(keys)
    )
    return {row.source_key: row.match_key for row in await connection.execute(query)}


async def _known(connection: AsyncConnection, listed: Sequence[ListedMatch], now: datetime) -> list[KnownMatch]:
    """The matches that a listed one might be."""
    starts = [each.starts_at for each in listed if each.starts_at is not None]
    recent = matches.c.created_at > now - RECENT
    near = matches.c.starts_at.between(min(starts) - KNOWN_WITHIN, max(starts) + KNOWN_WITHIN) if starts else recent
    query = select(matches).where(matches.c.merged_into.is_(None), or_(recent, near)).order_by(matches.c.key)
    return [
        KnownMatch(
            key=row.key,
            teams=(Team(*row.teams[0]), Team(*row.teams[1])),
            starts_at=row.starts_at,
            is_recent=row.created_at > now - RECENT,
        )
        for row in await connection.execute(query)
    ]


async def _lock(connection: AsyncConnection) -> None:
    """Hold back whoever else would add a match."""
    await lock_exclusively(connection, MATCHES_LOCK)
