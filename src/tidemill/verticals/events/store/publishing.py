"""Publishing: what has changed on the repository becomes the cards that readers see, several sources' events made one.

Nothing is remembered but how far the last round came: what an event's link says is compared with the event itself, so
that a round that is run twice, or begins too early, changes nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import BindParameter, and_, bindparam, or_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.source import Coordinates
from tidemill.store.database.column_types import EPOCH, to_micros
from tidemill.store.database.database import Database
from tidemill.store.database.locks import lock_exclusively
from tidemill.store.schema import engine_state, sources
from tidemill.verticals.events.card import Member, card_of
from tidemill.verticals.events.grid import squares_within
from tidemill.verticals.events.linking import SAME_TOWN_KM, KnownEvent, groups, known, likeness
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.card_writes import LONGEST_WORD, MOST_WORDS, PublishedCard, write_cards
from tidemill.verticals.events.store.tables import event_links, events

CARDS_LOCK = 7461064
"""Which events make one card is asked before it is written: one transaction at a time does so."""
AT_ONCE = 500
STATE = "published_events"
LAG = timedelta(minutes=2)
"""A writer that was slow to commit may come after one that began later; so long we look back."""
STEP = timedelta(hours=1)
"""How far the cursor lags behind when nothing changes: an idle round writes nothing."""
A_DAY = timedelta(days=1)

_decode = msgspec.json.Decoder(Event).decode

Pair = tuple[int, int]


class EventOnCard(msgspec.Struct, frozen=True, eq=False):
    """An event with all that a round needs to know about it; `card_id` is the card that it is on so far."""

    event: Event
    known: KnownEvent
    updated_at: datetime
    changed: bool
    card_id: int | None


class Publisher:
    """Makes cards of events."""

    def __init__(self, database: Database) -> None:
        """Work on one database."""
        self._database = database

    async def publish(self, now: datetime, rounds: int = 10_000) -> int:
        """Publish what has changed, a short transaction at a time; answers how many events had."""
        done = 0
        for _ in range(rounds):
            async with self._database.write() as connection:
                count = await publish_some(connection, self._database, now)
            done += count
            if count < AT_ONCE:
                break
        return done

    async def catch_up(self, now: datetime) -> None:
        """Publish a little, if there is anything: a reader need not wait for the next round."""
        async with self._database.glance() as connection:
            since = await _cursor(connection)
            behind = (await connection.execute(_CHANGED, {"b_since": since, "b_limit": 1})).first() is not None
        if behind:
            await self.publish(now, rounds=1)


async def publish_some(connection: AsyncConnection, database: Database, now: datetime) -> int:
    """One round: link what has changed with what is near, and write the cards that this touches."""
    await lock_exclusively(connection, CARDS_LOCK)
    since = await _cursor(connection)
    rows = (await connection.execute(_CHANGED, {"b_since": since, "b_limit": AT_ONCE})).mappings().all()
    if rows:
        await _republish(connection, database, rows, now)
    newest = rows[-1]["updated_at"] if len(rows) == AT_ONCE else now
    if newest - LAG > since and (rows or newest - since > STEP):
        await _remember(connection, database, newest - LAG, now)
    return len(rows)


async def _republish(connection: AsyncConnection, database: Database, rows: Sequence[Any], now: datetime) -> None:
    changed = _read([row for row in rows if row["gone_at"] is None], changed=True)
    touched = await _cards_near(connection, changed.values())
    touched |= {row["card_id"] for row in rows if row["card_id"] is not None}
    told = changed | await _members(connection, touched, {row["id"] for row in rows})
    scores = alike(told)
    best_first = sorted(scores, key=lambda pair: (-scores[pair], pair))
    grouped = groups([each.known for each in told.values()], best_first)
    before = _cards_before(told, rows)
    fresh = [group for group in grouped if before.get(group[0]) != group or any(told[key].changed for key in group)]
    weights = await _weights(connection, {told[key].event.source_id for group in fresh for key in group})
    cards = _published(fresh, told, scores, weights)
    gone = [row["id"] for row in rows if row["gone_at"] is not None]
    stale = before.keys() - {group[0] for group in grouped}
    await write_cards(connection, database, cards, stale, gone, now)


def alike(told: Mapping[int, EventOnCard]) -> dict[Pair, float]:
    """Which of the events are one and the same, by how much; those that neither changed nor are linked stay apart."""
    by_word: dict[tuple[object, str], list[int]] = defaultdict(list)
    for key in sorted(told):
        for word in told[key].known.words:
            by_word[told[key].known.day, word].append(key)
    found: dict[Pair, float] = {}
    for pair in sorted({pair for keys in by_word.values() for pair in _pairs(keys, told)}):
        if like := likeness(told[pair[0]].known, told[pair[1]].known):
            found[pair] = like.score
    return found


def _pairs(keys: Sequence[int], told: Mapping[int, EventOnCard]) -> Iterable[Pair]:
    for place, one in enumerate(keys):
        for other in keys[place + 1 :]:
            linked = told[one].card_id is not None and told[one].card_id == told[other].card_id
            if told[one].changed or told[other].changed or linked:
                yield one, other


def _cards_before(told: Mapping[int, EventOnCard], rows: Sequence[Any]) -> dict[int, list[int]]:
    """The cards that are touched, with what is on each so far."""
    before: dict[int, list[int]] = defaultdict(list)
    for key in sorted(told):
        if (card := told[key].card_id) is not None:
            before[card].append(key)
    for row in rows:
        if row["gone_at"] is not None and row["card_id"] is not None:
            before[row["card_id"]].append(row["id"])
    return dict(before)


def _published(
    fresh: Sequence[Sequence[int]],
    told: Mapping[int, EventOnCard],
    scores: Mapping[Pair, float],
    weights: Mapping[int, Any],
) -> list[PublishedCard]:
    best: dict[int, float] = {}
    for pair, score in scores.items():
        for key in pair:
            best[key] = max(score, best.get(key, 0.0))
    return [
        PublishedCard(
            group[0],
            card_of([_member(key, told[key], weights) for key in group]),
            [(key, told[key].event.source_id, best.get(key, 1.0), told[key].updated_at) for key in group],
        )
        for group in fresh
    ]


def _member(key: int, told: EventOnCard, weights: Mapping[int, Any]) -> Member:
    precedence, reliability = weights.get(told.event.source_id, (0, 0.5))
    return Member(
        event_id=key, event=told.event, precedence=precedence, reliability=reliability, updated_at=told.updated_at
    )


def _read(rows: Iterable[Any], *, changed: bool) -> dict[int, EventOnCard]:
    """The events in these rows; one that an old version wrote and nobody can read any more has no card."""
    told = {}
    for row in rows:
        try:
            event = _decode(row["record"])
        except msgspec.ValidationError:
            continue
        told[row["id"]] = EventOnCard(event, known(row["id"], event), row["updated_at"], changed, row["card_id"])
    return told


_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_WITH_LINK = select(
    events.c.id, events.c.record, events.c.updated_at, events.c.gone_at, event_links.c.card_id
).select_from(events.outerjoin(event_links, event_links.c.event_id == events.c.id))
_CHANGED = (
    _WITH_LINK.where(events.c.updated_at > bindparam("b_since"))
    .where(
        or_(
            and_(events.c.gone_at.is_not(None), event_links.c.event_id.is_not(None)),
            and_(
                events.c.gone_at.is_(None),
                or_(event_links.c.event_id.is_(None), event_links.c.as_of != events.c.updated_at),
            ),
        )
    )
    .order_by(events.c.updated_at, events.c.id)
    .limit(bindparam("b_limit"))
)
_ON_CARDS = _WITH_LINK.where(event_links.c.card_id.in_(_KEYS), events.c.gone_at.is_(None))
_WEIGHTS = select(sources.c.id, sources.c.precedence, sources.c.reliability).where(sources.c.id.in_(_KEYS))


async def _members(connection: AsyncConnection, cards: Iterable[int], known_keys: set[int]) -> dict[int, EventOnCard]:
    """What else is on these cards."""
    if not cards:
        return {}
    rows = (await connection.execute(_ON_CARDS, {"b_keys": sorted(cards)})).mappings()
    return _read([row for row in rows if row["id"] not in known_keys], changed=False)


async def _weights(connection: AsyncConnection, source_ids: set[int]) -> dict[int, tuple[int, float]]:
    """How much each source's word weighs."""
    if not source_ids:
        return {}
    rows = await connection.execute(_WEIGHTS, {"b_keys": sorted(source_ids)})
    return {row.id: (row.precedence, row.reliability) for row in rows}


_NEAR_SQLITE = text(
    "SELECT k.key, c.id, c.sources, c.words FROM json_each(:keys) k"
    " JOIN event_cards c ON c.square = json_extract(k.value, '$[0]')"
    " AND c.event_date BETWEEN json_extract(k.value, '$[1]') AND json_extract(k.value, '$[2]')"
)
_NEAR_POSTGRES = text(
    "SELECT k.place - 1, c.id, c.sources, c.words FROM unnest(CAST(:squares AS integer[]),"
    " CAST(:starts AS timestamptz[]), CAST(:ends AS timestamptz[])) WITH ORDINALITY AS k(square, starts, ends, place)"
    " JOIN event_cards c ON c.square = k.square AND c.event_date BETWEEN k.starts AND k.ends"
)


class Corner(msgspec.Struct):
    """About one day in about one place: what has changed there, and the words of its titles."""

    first: datetime
    last: datetime
    words: set[str]


async def _cards_near(connection: AsyncConnection, changed: Iterable[EventOnCard]) -> set[int]:
    """The cards of about the same day and place that share a word: what an event may be linked with.

    A card of several events is found by the words of one of them only, so that it is looked at in any case; and so is
    one that has more words than are kept.
    """
    corners = _corners(changed)
    if not corners:
        return set()
    keys = [(square, corner.first - A_DAY, corner.last + A_DAY) for (square, _), corner in corners.items()]
    wanted = [corner.words for corner in corners.values()]
    near = set()
    for place, card, sources_told, words in await _around(connection, keys):
        held = words.split()
        if sources_told > 1 or len(held) >= MOST_WORDS or not wanted[place].isdisjoint(held):
            near.add(card)
    return near


def _corners(changed: Iterable[EventOnCard]) -> dict[tuple[int, object], Corner]:
    corners: dict[tuple[int, object], Corner] = {}
    for each in changed:
        if each.known.place is not None:
            starts, words = each.known.starts, {word[:LONGEST_WORD] for word in each.known.words}
            for square in _squares_around(each.known.place):
                corner = corners.setdefault((square, each.known.day), Corner(starts, starts, set()))
                corner.first, corner.last = min(corner.first, starts), max(corner.last, starts)
                corner.words |= words
    return corners


@lru_cache(maxsize=4_096)
def _squares_around(place: Coordinates) -> tuple[int, ...]:
    """Where to look for what is in the same town; many events are at one place."""
    return tuple(squares_within(place, SAME_TOWN_KM))


async def _around(connection: AsyncConnection, keys: Sequence[tuple[int, datetime, datetime]]) -> Iterable[Any]:
    """The cards in these squares between these moments, each with the number of the key that found it."""
    if connection.dialect.name == "sqlite":
        listed = msgspec.json.encode([(square, to_micros(first), to_micros(last)) for square, first, last in keys])
        return (await connection.execute(_NEAR_SQLITE, {"keys": listed.decode()})).all()
    squares, starts, ends = zip(*keys, strict=True)
    parameters = {"squares": list(squares), "starts": list(starts), "ends": list(ends)}
    return (await connection.execute(_NEAR_POSTGRES, parameters)).all()


_STATE = select(engine_state.c.value).where(engine_state.c.name == STATE).with_for_update()


async def _cursor(connection: AsyncConnection) -> datetime:
    value = (await connection.execute(_STATE)).scalar()
    return EPOCH if value is None else datetime.fromisoformat(value["since"])


async def _remember(connection: AsyncConnection, database: Database, since: datetime, now: datetime) -> None:
    statement = database.insert(engine_state)
    fresh = {name: statement.excluded[name] for name in ("value", "updated_at")}
    row = {"name": STATE, "value": {"since": since.isoformat()}, "updated_at": now}
    await connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=fresh), [row])
