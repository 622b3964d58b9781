"""Cards, read: a list by date, a feed by rank, and what is on one card."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import cos, radians
from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.source import Coordinates
from tidemill.pipeline.ports import Clock, StoreLost
from tidemill.store.database.column_types import from_micros, to_micros
from tidemill.store.database.database import Database
from tidemill.store.schema import sources
from tidemill.verticals.events.feed import FeedCandidate, FeedPreferences, score
from tidemill.verticals.events.grid import KM_PER_DEGREE, squares_within
from tidemill.verticals.events.linking import folded_words
from tidemill.verticals.events.store.card_queries import BEGINNING_WITH, Lead, finding
from tidemill.verticals.events.store.card_rows import card_view
from tidemill.verticals.events.store.past_cards import PastCards
from tidemill.verticals.events.store.publishing import Publisher
from tidemill.verticals.events.store.tables import event_cards, event_links
from tidemill.verticals.events.views import Around, CardFilter, CardView, EventCursor, FeedCursor

LONG_AGO, FOREVER = datetime(1900, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
MOST_SQUARES = 100
"""A circle of more squares is searched by the calendar: so much of the map is dense with events."""
MOST_CANDIDATES = 300
"""So many events are ranked for a feed, the soonest of each square, word or category."""
MOST_BEGINNINGS = 8
"""So many words are tried for the beginning of one."""
LEAST_BEGINNING = 3
"""Shorter beginnings mean themselves."""
LIKED = 3
"""So many of the best liked categories have candidates of their own."""
NEARBY_KM = 25.0
"""What a feed looks at first around its reader."""
LATE = timedelta(hours=3)
"""What has begun not longer ago than this may still be gone to."""
HORIZON = timedelta(days=120)
PATIENCE_SECONDS = 5.0
"""How long a reader waits for what is published first: another process may be writing for long."""


class CardReader:
    """What is on, for readers."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        candidates: int = MOST_CANDIDATES,
        publisher: Publisher | None = None,
    ) -> None:
        """What has changed since the last round of publishing is published first, so that nobody has to wait for it.

        A feed ranks about so many `candidates`. `publisher` is the one that this process publishes with, if it does.
        """
        self._candidates = candidates
        self._database = database
        self._clock = clock
        self._publisher = publisher or Publisher(database)
        self.past = PastCards(database)

    async def by_date(
        self,
        which: CardFilter,
        *,
        after: EventCursor | None = None,
        limit: int = 100,
        as_of: datetime | None = None,
    ) -> list[CardView]:
        """Events by date; `after` is the cursor of the last one already seen. With `as_of` as they were shown then."""
        if as_of is not None:
            return await self.past.by_date(which, as_of, after=after, limit=limit)
        await self._catch_up()
        async with self._database.published() as connection:
            found = await _find(connection, which, after, limit)
            return await _cards(connection, [row["id"] for row in found])

    async def feed(
        self, wish: FeedPreferences, which: CardFilter, *, after: FeedCursor | None = None, limit: int = 50
    ) -> list[CardView]:
        """Events by how well they fit the wish; a cursor's own moment holds for all pages of a feed."""
        await self._catch_up()
        wish = wish if after is None else msgspec.structs.replace(wish, as_of=after.as_of)
        async with self._database.published() as connection:
            found = await _candidates(connection, wish, _upcoming(which, wish.as_of), self._candidates)
            ranked = sorted((-score(one, wish), one.id) for one in found)
            if after is not None:
                ranked = [place for place in ranked if place > (-after.score, after.id)]
            scores = {key: -negative for negative, key in ranked[:limit]}
            return [msgspec.structs.replace(card, score=scores[card.id]) for card in await _cards(connection, scores)]

    async def card_of(self, event_id: int) -> CardView | None:
        """The card that an event is on, whichever of its sources it came from."""
        await self._catch_up()
        async with self._database.published() as connection:
            query = select(event_links.c.card_id).where(event_links.c.event_id == event_id)
            key = (await connection.execute(query)).scalar()
            found = [] if key is None else await _cards(connection, [key])
            return found[0] if found else None

    async def _catch_up(self) -> None:
        """Publish a little first; a database that cannot be written just now can still be read."""
        with suppress(StoreLost, TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._publisher.catch_up(self._clock.now())


async def _candidates(
    connection: AsyncConnection, wish: FeedPreferences, which: CardFilter, most: int
) -> list[FeedCandidate]:
    """What may be worth ranking: the soonest near the place, the soonest of what is liked best, the soonest anywhere.

    A place is a wish; only a circle that was asked for leaves out what is outside of it.
    """
    near = which
    if wish.place is not None and which.around is None:
        near = msgspec.structs.replace(which, around=Around(wish.place, NEARBY_KM))
    liked = sorted(wish.tastes, key=lambda name: (-wish.tastes[name], name))[:LIKED] if which.category is None else []
    asked = [near, *(msgspec.structs.replace(near, category=name) for name in liked)]
    asked += [which] if near is not which else []
    rows: dict[int, Mapping[Any, Any]] = {}
    for one in asked:
        found = await _find(connection, one, None, most // len(asked), each=_share(one.around, most))
        rows |= {row["id"]: row for row in found}
    return [_candidate(row, connection) for row in rows.values()]


def _share(around: Around | None, most: int) -> int:
    """How many candidates one square may send: together they send about as many as are ranked."""
    squares = len(squares_within(around.centre, around.kilometres)) if around else 1
    return max(8, most // squares)


def _candidate(row: Mapping[Any, Any], connection: AsyncConnection) -> FeedCandidate:
    date = from_micros(row["event_date"]) if _is_sqlite(connection) else row["event_date"]
    place = None if row["latitude"] is None else Coordinates(row["latitude"], row["longitude"])
    return FeedCandidate(row["id"], date, row["category"], place, row["sources"], row["reliability"])


def _upcoming(which: CardFilter, as_of: datetime) -> CardFilter:
    begins = which.date_from or as_of - LATE
    return msgspec.structs.replace(which, date_from=begins, date_to=which.date_to or begins + HORIZON)


async def _find(
    connection: AsyncConnection, which: CardFilter, after: EventCursor | None, most: int, each: int | None = None
) -> list[Mapping[Any, Any]]:
    """The first cards that the filter means, in order of date, with what ranking looks at.

    `each` bounds what one square or word may send; without it the list is exact.
    """
    source = await _source(connection, which.source)
    words = folded_words(which.text or "")
    if which.source is not None and source is None:
        return []
    squares = squares_within(which.around.centre, which.around.kilometres) if which.around else []
    beginnings = await _beginnings(connection, words[-1]) if words else []
    lead = _lead(which, words, squares)
    asked = (
        _calendar(connection, which, after)
        | _circle(which.around)
        | {
            "category": which.category,
            "source": source,
            "squares": _many(connection, squares),
            "words": _many(connection, beginnings),
            "also": _many(connection, words[:-1]),
            "literal": None if words or not which.text else f"%{_escaped(which.text)}%",
            "each": each or most,
            "most": most,
        }
    )
    return list((await connection.execute(finding(lead, sqlite=_is_sqlite(connection)), asked)).mappings())


def _escaped(text: str) -> str:
    """Signs that are no words are looked for as they are."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _lead(which: CardFilter, words: Sequence[str], squares: Sequence[int]) -> Lead:
    """Whatever leaves the least to look at."""
    if words or which.text:
        return "words" if words else "date"
    if 0 < len(squares) <= MOST_SQUARES:
        return "squares"
    if which.source is not None:
        return "source"
    return "date" if which.category is None else "category"


def _calendar(connection: AsyncConnection, which: CardFilter, after: EventCursor | None) -> dict[str, Any]:
    begins = which.date_from or LONG_AGO
    if after is not None:
        begins = max(begins, after.event_date)
    moments = {
        "date_from": begins,
        "date_to": which.date_to or FOREVER,
        "after_date": after.event_date if after else LONG_AGO,
    }
    if _is_sqlite(connection):
        return {name: to_micros(moment) for name, moment in moments.items()} | {"after_id": after.id if after else -1}
    return {**moments, "after_id": after.id if after else -1}


def _circle(around: Around | None) -> dict[str, float | None]:
    """A circle as a database reckons with it: degrees squared, those of longitude shrunk by the latitude."""
    if around is None:
        return {"north": None, "east": None, "shrink": None, "reach": None}
    shrink = cos(radians(around.centre.latitude)) ** 2
    reach = (around.kilometres / KM_PER_DEGREE) ** 2
    return {"north": around.centre.latitude, "east": around.centre.longitude, "shrink": shrink, "reach": reach}


async def _beginnings(connection: AsyncConnection, word: str) -> list[str]:
    """The words that the last one may be the beginning of, itself first."""
    if len(word) < LEAST_BEGINNING:
        return [word]
    asked = {"low": word, "high": word + "\U0010ffff", "most": MOST_BEGINNINGS}
    return list((await connection.execute(BEGINNING_WITH, asked)).scalars()) or [word]


async def _source(connection: AsyncConnection, name: str | None) -> int | None:
    if name is None:
        return None
    return (await connection.execute(select(sources.c.id).where(sources.c.name == name))).scalar()


_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_CARDS = select(event_cards).where(event_cards.c.id.in_(_KEYS))


async def _cards(connection: AsyncConnection, keys: Iterable[int]) -> list[CardView]:
    """The cards with these keys, in their order."""
    wanted = list(keys)
    if not wanted:
        return []
    rows = {row["id"]: row for row in (await connection.execute(_CARDS, {"b_keys": wanted})).mappings()}
    return [card_view(rows[key]) for key in wanted if key in rows]


def _many(connection: AsyncConnection, values: Sequence[object]) -> object:
    """Many values as one parameter."""
    return msgspec.json.encode(values).decode() if _is_sqlite(connection) else list(values)


def _is_sqlite(connection: AsyncConnection) -> bool:
    return connection.dialect.name == "sqlite"
