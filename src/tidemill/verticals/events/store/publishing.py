"""Publishing: what has changed in the repository becomes the cards that readers see, several sources' events made one.

A portion of the changed events is read and linked first, in a thread and outside of any transaction; a short one then
writes it, unless another process has published meanwhile: then the portion is made again. Nothing is remembered but how
far the last round came: what an event's link says is compared with the event itself, so that a round that is run
twice, or begins too early, changes nothing.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import BindParameter, and_, bindparam, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.store.database.batches import portions
from tidemill.store.database.column_types import EPOCH, Key, Timestamp
from tidemill.store.database.database import Database
from tidemill.store.database.locks import lock_exclusively
from tidemill.store.schema import engine_state, sources
from tidemill.verticals.events.store.candidate_rows import find, keyed_before, used_keys
from tidemill.verticals.events.store.card_changes import card_lines
from tidemill.verticals.events.store.card_making import (
    EventOnCard,
    candidates_of,
    cards_before,
    first_scores,
    later_pairs,
    published_cards,
    read_rows,
    scores_of,
    touched_cards,
)
from tidemill.verticals.events.store.card_rows import CARD_COLUMNS, shown_card
from tidemill.verticals.events.store.card_writes import CardChanges, write_cards
from tidemill.verticals.events.store.tables import event_cards, event_links, events

CARDS_LOCK = 7461064
"""Cards are written by one transaction at a time, if none has been since they were made."""
AT_ONCE = 300
"""So many events are read, linked and written at a time; it bounds the memory, and how long others wait to write."""
AT_ONCE_FOR_READERS = 100
STATE = "published_events"
LAG = timedelta(minutes=2)
"""A writer that was slow to commit may come after one that began later; so long we look back."""
QUICK_LAG = timedelta(seconds=5)
"""The same when only what is new is looked for; what comes later than that is found by the next whole round."""
STEP = timedelta(hours=1)
"""How far the cursor lags behind when nothing changes: an idle round writes nothing."""
MOST_TRIES = 5
"""So often a portion is made again because another process published meanwhile, before it is left to that one."""


class Position(msgspec.Struct, frozen=True, order=True):
    """The last event that was looked at, in order of change."""

    updated_at: datetime
    id: int = -1


class PublishedState(msgspec.Struct, frozen=True):
    """How far whole rounds came, and how many portions have been written ever."""

    since: datetime
    round: int


class Publisher:
    """Makes cards of events; one for all of a process, so that what one round has seen is not looked at by the next."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database
        self._turn = asyncio.Lock()
        self._looked_until: datetime | None = None

    async def publish(self, now: datetime) -> int:
        """Publish all that has changed, a portion at a time; answers how many events had."""
        async with self._turn:
            state = await self._state()
            return await self._publish_after(Position(state.since), now, keeps=True)

    async def publish_new(self, now: datetime) -> int:
        """Publish what has changed since this process last looked, without a look at what came late before that."""
        if self._looked_until is None:
            return await self.publish(now)
        async with self._turn:
            return await self._publish_after(Position(self._looked_until - QUICK_LAG), now)

    async def catch_up(self, now: datetime) -> None:
        """Publish a little, if there is anything and nobody is at it: a reader need not wait for the next round."""
        if self._turn.locked():
            return
        async with self._turn:
            since = (await self._state()).since if self._looked_until is None else self._looked_until - QUICK_LAG
            await self._publish_portion(Position(since), now, AT_ONCE_FOR_READERS)

    async def _publish_after(self, position: Position, now: datetime, *, keeps: bool = False) -> int:
        """Publish what changed after a position; `keeps` remembers how far it came, for other processes too."""
        done = 0
        while True:
            rows = await self._publish_portion(position, now, AT_ONCE, keeps=keeps)
            if rows is None:
                return done
            done += len(rows)
            if len(rows) < AT_ONCE:
                self._looked_until = max(now, rows[-1]["updated_at"]) if rows else now
                return done
            position = Position(rows[-1]["updated_at"], rows[-1]["id"])
            self._looked_until = position.updated_at

    async def _publish_portion(
        self, after: Position, now: datetime, most: int, *, keeps: bool = False
    ) -> Sequence[Any] | None:
        """Publish one portion; answers its events, None if others publish so busily that it is left to them."""
        for _ in range(MOST_TRIES):
            state = await self._state()
            async with self._database.read() as connection:
                asked = {"b_at": after.updated_at, "b_id": after.id, "b_limit": most}
                rows = (await connection.execute(_CHANGED, asked)).mappings().all()
                changes = await _changes(connection, rows, now) if rows else None
            since = _since(state, rows, most, now) if keeps else state.since
            if changes is None and since == state.since:
                return rows
            if await self._write(changes, state, PublishedState(since, state.round + 1), now):
                return rows
        return None

    async def _write(
        self, changes: CardChanges | None, before: PublishedState, after: PublishedState, now: datetime
    ) -> bool:
        """Write a portion; answers False, having written nothing, if another was written since it was made."""
        async with self._database.write() as connection:
            await lock_exclusively(connection, CARDS_LOCK)
            if await _read_state(connection) != before:
                return False
            if changes is not None:
                await write_cards(connection, changes, now)
            await _remember(connection, self._database, after, now)
        return True

    async def _state(self) -> PublishedState:
        async with self._database.glance() as connection:
            return await _read_state(connection)


def _since(state: PublishedState, rows: Sequence[Any], most: int, now: datetime) -> datetime:
    """Where the next whole round begins."""
    newest = rows[-1]["updated_at"] if len(rows) == most else now
    moves = newest - LAG > state.since and (rows or newest - state.since > STEP)
    return newest - LAG if moves else state.since


async def _changes(connection: AsyncConnection, rows: Sequence[Any], now: datetime) -> CardChanges:
    """Link what has changed with what it is alike to; what is CPU is a thread's."""
    gone = [row for row in rows if not row["is_shown"]]
    changed = await asyncio.to_thread(read_rows, [row for row in rows if row["is_shown"]], changed=True)
    others, scores = await _alike(connection, changed)
    cards = touched_cards(scores, others) | {row["card_id"] for row in rows if row["card_id"] is not None}
    on_cards = await _rows(connection, _ON_CARDS, cards)
    members = await asyncio.to_thread(read_rows, _all_but(on_cards, rows), changed=False)
    told = {key: each for key, each in others.items() if each.card_id in cards} | members | changed
    weights = await _weights(connection, {each.event.source_id for each in told.values()})
    make = partial(_made, told, changed, scores, rows, weights, now)
    written, stale = await asyncio.to_thread(make)
    before = await _cards(connection, {*(each.id for each in written), *stale})
    known = {key: row["card"] for key, row in before.items()}
    lines = await asyncio.to_thread(card_lines, written, stale, known, [*on_cards, *rows])
    return CardChanges(
        cards=written,
        stale=stale,
        gone=[row["id"] for row in gone],
        keyed_before={row["id"]: keyed_before(row) for row in (*on_cards, *rows)},
        keyed={key: (each.event.source_id, each.keyed) for key, each in told.items()},
        lines=lines,
        replaced=[shown_card(row) for row in before.values()],
    )


def _made(
    told: dict[int, EventOnCard],
    changed: dict[int, EventOnCard],
    scores: dict[tuple[int, int], float],
    rows: Sequence[Any],
    weights: dict[int, tuple[int, float]],
    now: datetime,
) -> Any:
    kept = {pair: score for pair, score in scores.items() if pair[0] in told and pair[1] in told}
    kept |= scores_of(later_pairs(kept, told), told)
    return published_cards(told, changed, kept, cards_before(told, rows), weights, now)


async def _alike(
    connection: AsyncConnection, changed: dict[int, EventOnCard]
) -> tuple[dict[int, EventOnCard], dict[tuple[int, int], float]]:
    """The candidates for the changed events, and which of all these are one, by how much."""
    used = await used_keys(connection, {key for each in changed.values() for key in each.search.keys})
    lookups = dict.fromkeys(lookup for each in changed.values() for lookup in each.search.lookups(used))
    candidates = candidates_of(changed, used, await find(connection, list(lookups)))
    rows = await _rows(connection, _BY_KEY, {key for those in candidates.values() for key in those})
    others = await asyncio.to_thread(read_rows, rows, changed=False)
    return others, await asyncio.to_thread(first_scores, changed, others, candidates)


_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_IS_SHOWN = and_(events.c.gone_at.is_(None), events.c.latitude.is_not(None))
"""An event without coordinates, which an earlier version took, is shown to nobody."""
_WITH_LINK = select(
    events.c.id,
    events.c.record,
    events.c.updated_at,
    _IS_SHOWN.label("is_shown"),
    event_links.c.card_id,
    event_links.c.minute,
    event_links.c["keys"],
).select_from(events.outerjoin(event_links, event_links.c.event_id == events.c.id))
_POSITION = tuple_(bindparam("b_at", type_=Timestamp()), bindparam("b_id", type_=Key))
_CHANGED = (
    _WITH_LINK.where(tuple_(events.c.updated_at, events.c.id) > _POSITION)
    .where(
        or_(
            and_(~_IS_SHOWN, event_links.c.event_id.is_not(None)),
            and_(
                _IS_SHOWN,
                or_(event_links.c.event_id.is_(None), event_links.c.as_of != events.c.updated_at),
            ),
        )
    )
    .order_by(events.c.updated_at, events.c.id)
    .limit(bindparam("b_limit"))
)
_ON_CARDS = _WITH_LINK.where(event_links.c.card_id.in_(_KEYS), _IS_SHOWN)
_BY_KEY = _WITH_LINK.where(events.c.id.in_(_KEYS), _IS_SHOWN)
_WEIGHTS = select(sources.c.id, sources.c.precedence, sources.c.reliability).where(sources.c.id.in_(_KEYS))


_CARDS = select(*(event_cards.c[name] for name in (*CARD_COLUMNS, "card"))).where(event_cards.c.id.in_(_KEYS))


async def _cards(connection: AsyncConnection, keys: Iterable[int]) -> dict[int, Mapping[str, Any]]:
    """The cards as they are published so far; only one process writes them, so they stay so until ours are written."""
    return {row["id"]: row for row in await _rows(connection, _CARDS, keys)}


async def _rows(connection: AsyncConnection, query: Any, keys: Iterable[int]) -> list[Any]:
    found: list[Any] = []
    for some in portions(sorted(keys)):
        found += (await connection.execute(query, {"b_keys": some})).mappings()
    return found


def _all_but(rows: Iterable[Any], known: Iterable[Any]) -> list[Any]:
    keys = {row["id"] for row in known}
    return [row for row in rows if row["id"] not in keys]


async def _weights(connection: AsyncConnection, source_ids: set[int]) -> dict[int, tuple[int, float]]:
    """How much each source's word weighs."""
    if not source_ids:
        return {}
    rows = await connection.execute(_WEIGHTS, {"b_keys": sorted(source_ids)})
    return {row.id: (row.precedence, row.reliability) for row in rows}


_STATE = select(engine_state.c.value).where(engine_state.c.name == STATE)


async def _read_state(connection: AsyncConnection) -> PublishedState:
    value = (await connection.execute(_STATE)).scalar()
    if value is None:
        return PublishedState(EPOCH, 0)
    return PublishedState(datetime.fromisoformat(value["since"]), value.get("round", 0))


async def _remember(connection: AsyncConnection, database: Database, state: PublishedState, now: datetime) -> None:
    statement = database.insert(engine_state)
    fresh = {name: statement.excluded[name] for name in ("value", "updated_at")}
    value = {"since": state.since.isoformat(), "round": state.round}
    row = {"name": STATE, "value": value, "updated_at": now}
    await connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=fresh), [row])
