"""Matches read for people; nothing here writes."""

from typing import Any

from sqlalchemy import Row, select

from tidemill.store.database.database import Database
from tidemill.store.schema import live_pages, sources, targets
from tidemill.verticals.matches.store.tables import match_conflicts, match_ids, matches
from tidemill.verticals.matches.views import ConflictView, KnownMatchRow, MatchPage


class MatchViews:
    """Answers questions about matches."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def every(self, limit: int = 500) -> list[KnownMatchRow]:
        """Return matches, the latest first."""
        query = select(matches).order_by(matches.c.starts_at.desc().nulls_last(), matches.c.key).limit(limit)
        async with self._database.read() as connection:
            return [_row(row) for row in await connection.execute(query)]

    async def find(self, key: str) -> KnownMatchRow | None:
        """Return a match."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(matches).where(matches.c.key == key))).first()
        return _row(row) if row is not None else None

    async def conflicts(self, key: str, limit: int = 20) -> list[ConflictView]:
        """Return where sites disagreed, the newest first."""
        query = (
            select(match_conflicts)
            .where(match_conflicts.c.match_key == key)
            .order_by(match_conflicts.c.found_at.desc())
            .limit(limit)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [ConflictView(**row) for row in rows]

    async def target_ids(self, key: str) -> list[int]:
        """Return the targets that tell of a match."""
        query = (
            select(targets.c.id)
            .join(match_ids, (match_ids.c.source_id == targets.c.source_id) & (match_ids.c.url == targets.c.url))
            .where(match_ids.c.match_key == key)
            .order_by(targets.c.id)
        )
        async with self._database.read() as connection:
            return list((await connection.execute(query)).scalars())

    async def pages(self, key: str) -> list[MatchPage]:
        """Return the pages that tell of a match."""
        query = (
            select(sources.c.name, targets.c.url, targets.c.enabled, live_pages.c.checked_at, live_pages.c.debt_ms)
            .join(match_ids, (match_ids.c.source_id == targets.c.source_id) & (match_ids.c.url == targets.c.url))
            .join(sources, sources.c.id == targets.c.source_id)
            .outerjoin(live_pages, live_pages.c.target_id == targets.c.id)
            .where(match_ids.c.match_key == key)
            .order_by(targets.c.id)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [
            MatchPage(
                source=row.name,
                url=row.url,
                is_enabled=row.enabled,
                checked_at=row.checked_at,
                debt_seconds=(row.debt_ms or 0) / 1000,
            )
            for row in rows
        ]


def _row(row: Row[Any]) -> KnownMatchRow:
    return KnownMatchRow(
        key=row.key, title=row.title, series=row.series, match_type=row.match_type, starts_at=row.starts_at,
        merged_into=row.merged_into or "", created_at=row.created_at,
    )  # fmt: skip
