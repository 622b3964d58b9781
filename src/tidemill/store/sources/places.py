"""The municipalities, and what was searched for in each: discovery's own memory."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import bindparam, delete, select, update

from tidemill.core.discovery.places import Place
from tidemill.core.discovery.search import SearchResult
from tidemill.core.source import Coordinates
from tidemill.store.database.column_types import storable
from tidemill.store.database.database import Database
from tidemill.store.schema import municipalities, search_results

_LONGEST = 2_000


class PlaceRepository:
    """Which places there are, and when each was last searched."""

    def __init__(self, database: Database) -> None:
        """Work on the database."""
        self._database = database

    async def every(self) -> list[Place]:
        """All of them, by name."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_PLACES)).all()
        return [
            Place(
                row.name,
                row.region,
                row.population,
                Coordinates(row.latitude, row.longitude),
                row.spoken,
                row.country,
                row.language,
                row.time_zone,
            )
            for row in rows
        ]

    async def put(self, places: Sequence[Place]) -> int:
        """Add places, or renew what is known of them; answers how many. A name of another country gets its own."""
        known = {place.name: place.country for place in await self.every()}
        rows = {}
        for place in places:
            is_taken = known.get(place.name, place.country) != place.country
            name = f"{place.name} ({place.country})" if is_taken else place.name
            rows[name] = {
                "name": name, "region": place.region, "population": place.population, "country": place.country,
                "latitude": place.coordinates.latitude, "longitude": place.coordinates.longitude,
                "spoken": place.spoken or (place.name if is_taken else ""), "language": place.language,
                "time_zone": place.time_zone,
            }  # fmt: skip
        if rows:
            put = self._database.insert(municipalities)
            fresh = {each: put.excluded[each] for each in next(iter(rows.values())) if each != "name"}
            async with self._database.write() as connection:
                await connection.execute(
                    put.on_conflict_do_update(index_elements=["name"], set_=fresh), list(rows.values())
                )
        return len(rows)

    async def searched(self) -> dict[str, datetime]:
        """When each place was last searched to the end."""
        async with self._database.read() as connection:
            return {row.name: row.searched_at for row in await connection.execute(_SEARCHED)}

    async def mark_searched(self, name: str, now: datetime) -> None:
        """A place's questions are answered and its candidates judged: the checkpoint of discovery."""
        async with self._database.write() as connection:
            await connection.execute(_MARK, {"b_name": name, "b_now": now})


class SearchRepository:
    """What each question was answered with. A question is written down before it is asked."""

    def __init__(self, database: Database) -> None:
        """Work on the database."""
        self._database = database
        put = database.insert(search_results)
        fresh = {name: put.excluded[name] for name in ("place", "asked_at", "answered_at", "hits")}
        self._put = put.on_conflict_do_update(index_elements=["query"], set_=fresh)

    async def load(self, queries: Sequence[str]) -> dict[str, "Searched"]:
        """What is known of these questions."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_RECALL, {"b_queries": list(queries)})).all()
        return {row.query: Searched(row.asked_at, row.answered_at, hits_of(row.hits)) for row in rows}

    async def begin(self, query: str, place: str, now: datetime) -> None:
        """A question is about to be asked, and may be paid for even if we never hear the answer."""
        row = {"query": query, "place": place, "asked_at": now, "answered_at": None, "hits": None}
        await self._write(row)

    async def finish(
        self, query: str, place: str, hits: Sequence[SearchResult], asked_at: datetime, now: datetime
    ) -> None:
        """A question was answered."""
        kept = [msgspec.structs.replace(hit, url=storable(hit.url, _LONGEST), title=storable(hit.title, _LONGEST),
                                        snippet=storable(hit.snippet, _LONGEST)) for hit in hits]  # fmt: skip
        await self._write({
            "query": query, "place": place, "asked_at": asked_at, "answered_at": now, "hits": msgspec.to_builtins(kept),
        })  # fmt: skip

    async def forget(self, query: str) -> None:
        """A question never reached the service, so that it costs nothing to ask it again."""
        async with self._database.write() as connection:
            await connection.execute(_FORGET, {"b_query": query})

    async def _write(self, row: dict[str, object]) -> None:
        async with self._database.write() as connection:
            await connection.execute(self._put, [row])


class Searched(msgspec.Struct, frozen=True):
    """A question that was asked; `hits` is None when nobody knows the answer."""

    asked_at: datetime
    answered_at: datetime | None
    hits: tuple[SearchResult, ...] | None


def hits_of(stored: object) -> tuple[SearchResult, ...] | None:
    """The hits as they were stored."""
    return None if stored is None else tuple(msgspec.convert(stored, list[SearchResult]))


_PLACES = select(municipalities).order_by(municipalities.c.name)
_SEARCHED = select(municipalities.c.name, municipalities.c.searched_at).where(municipalities.c.searched_at.is_not(None))
_MARK = (
    update(municipalities).where(municipalities.c.name == bindparam("b_name")).values(searched_at=bindparam("b_now"))
)
_RECALL = select(search_results).where(search_results.c.query.in_(bindparam("b_queries", expanding=True)))
_FORGET = delete(search_results).where(
    search_results.c.query == bindparam("b_query"), search_results.c.answered_at.is_(None)
)
