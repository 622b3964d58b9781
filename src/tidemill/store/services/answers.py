"""Every answer that a geocoder or a model ever gave us: asked for once, kept, and looked up by the question's key."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.services.enrichment import Answer, Geocoded, ModelAnswer, RequestKind
from tidemill.core.source import Coordinates
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.schema import geocodes, model_answers

MOST_HINTS = 20_000
"""Days that this process keeps in mind; the database keeps the rest."""

Key = tuple[RequestKind, str]


class AnswerRepository:
    """Keeps answers, and finds them again."""

    def __init__(self, database: Database) -> None:
        """Work on the database."""
        self._database = database
        self._put_place = _replacing(database, geocodes)
        self._put_told = _replacing(database, model_answers)

    async def save_geocoded(self, key: str, query: str, pinned: Geocoded, now: datetime) -> None:
        """A geocoder's answer, 'never heard of it' included."""
        point = pinned.coordinates
        row = {
            "key": key,
            "query": storable(query, 500),
            "latitude": None if point is None else point.latitude,
            "longitude": None if point is None else point.longitude,
            "exact": pinned.exact,
            "answered_at": now,
        }
        async with self._database.write() as connection:
            await connection.execute(self._put_place, [row])

    async def save_model_answers(self, told: Mapping[Key, ModelAnswer], model: str, now: datetime) -> None:
        """A model's answers to many questions, in one go."""
        rows = [
            {"key": key, "kind": kind.value, "value": one.value, "sureness": one.confidence, "model": model,
             "answered_at": now}
            for (kind, key), one in told.items()
        ]  # fmt: skip
        if rows:
            async with self._database.write() as connection:
                await connection.execute(self._put_told, rows)

    async def load(self, wanted: Collection[Key]) -> dict[Key, Answer]:
        """What is known of these."""
        async with self._database.glance() as connection:
            return await known_answers(connection, wanted)


class StoredHints:
    """The days that a model read for us, as far as this process has met them: what a stage may ask without waiting."""

    def __init__(self, answers: AnswerRepository) -> None:
        """Start with an empty mind."""
        self._answers = answers
        self._known: dict[str, ModelAnswer] = {}

    def get(self, key: str) -> ModelAnswer | None:
        """What is known at once."""
        return self._known.get(key)

    async def load(self, keys: Collection[str]) -> bool:
        """Bring these to mind, if the database knows them; answers whether any is new. A lost database knows none."""
        fresh = [(RequestKind.DATE, key) for key in keys if key not in self._known]
        try:
            found = await self._answers.load(fresh) if fresh else {}
        except StoreError:
            return False
        if len(self._known) + len(found) > MOST_HINTS:
            self._known.clear()
        self._known |= {key: told for (_, key), told in found.items() if isinstance(told, ModelAnswer)}
        return bool(found)


async def known_answers(connection: AsyncConnection, wanted: Collection[Key]) -> dict[Key, Answer]:
    """What is known of these, by one look-up per table."""
    places = sorted({key for kind, key in wanted if kind is RequestKind.PLACE})
    others = sorted({key for kind, key in wanted if kind is not RequestKind.PLACE})
    found: dict[Key, Answer] = {}
    if places:
        for row in await connection.execute(_PLACES, {"b_keys": places}):
            point = None if row.latitude is None else Coordinates(row.latitude, row.longitude)
            found[RequestKind.PLACE, row.key] = Geocoded(point, row.exact)
    if others:
        for row in await connection.execute(_TOLD, {"b_keys": others}):
            found[RequestKind(row.kind), row.key] = ModelAnswer(row.value, row.sureness)
    return found


_PLACES = select(geocodes).where(geocodes.c.key.in_(bindparam("b_keys", expanding=True)))
_TOLD = select(model_answers).where(model_answers.c.key.in_(bindparam("b_keys", expanding=True)))


def _replacing(database: Database, table: Any) -> Any:
    statement = database.insert(table)
    fresh = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
    return statement.on_conflict_do_update(index_elements=["key"], set_=fresh)
