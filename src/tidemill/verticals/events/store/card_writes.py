"""Cards as rows: written with their links and the words they are found by, one statement per table and change."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.source import Coordinates
from tidemill.store.database.batches import write_each
from tidemill.store.database.codecs import codecs_of
from tidemill.store.database.hot_statements import HotRows
from tidemill.store.records.changes import ChangeLine, write_changes
from tidemill.store.records.shown import ShownRecord, keep_shown
from tidemill.verticals.events.card import Card
from tidemill.verticals.events.grid import square_of
from tidemill.verticals.events.linking import folded_words
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.candidate_rows import Keyed, write_keys
from tidemill.verticals.events.store.tables import event_cards, event_links, event_words

LONGEST_WORD, MOST_WORDS = 40, 40

_encode = msgspec.json.Encoder().encode
_KEYS: BindParameter[Any] = bindparam("b_keys", expanding=True)
_WORDS_OF = select(event_cards.c.id, event_cards.c.event_date, event_cards.c.words).where(event_cards.c.id.in_(_KEYS))
_DROP_CARDS = delete(event_cards).where(event_cards.c.id.in_(_KEYS))
_DROP_LINKS = delete(event_links).where(event_links.c.event_id.in_(_KEYS))
_DROP_WORD = delete(event_words).where(
    event_words.c.word == bindparam("b_word"),
    event_words.c.event_date == bindparam("b_date"),
    event_words.c.card_id == bindparam("b_card"),
)
_CARD_COLUMNS = [column.name for column in event_cards.columns]
_LINK_COLUMNS = [column.name for column in event_links.columns]


def _replacing(columns: Sequence[str], key: str) -> str:
    return f"ON CONFLICT ({key}) DO UPDATE SET " + ", ".join(f"{each} = excluded.{each}" for each in columns)


_CARDS = HotRows(
    "event_cards.put",
    codecs_of(event_cards, *_CARD_COLUMNS),
    "INSERT INTO event_cards ({columns}) {rows} " + _replacing(_CARD_COLUMNS[1:], "id"),
)
_LINKS = HotRows(
    "event_links.put",
    codecs_of(event_links, *_LINK_COLUMNS),
    "INSERT INTO event_links ({columns}) {rows} " + _replacing(_LINK_COLUMNS[1:], "event_id"),
)
_WORDS = HotRows(
    "event_words.insert",
    codecs_of(event_words, "word", "event_date", "card_id"),
    "INSERT INTO event_words ({columns}) {rows}",
)


class CardLink(msgspec.Struct, frozen=True):
    """An event on a card: its source, how sure it is that it belongs there, and the state that was published."""

    event_id: int
    source_id: int
    score: float
    as_of: datetime


class PublishedCard(msgspec.Struct, frozen=True):
    """A card as its row, and its links."""

    id: int
    row: Mapping[str, Any]
    links: Sequence[CardLink]


class CardChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What a round changes: cards to write, cards that are no longer, events that are gone.

    `lines` tell followers what becomes of the cards, `replaced` are those that readers saw until now.
    `keyed` has the source and keys of every event on the cards, `keyed_before` the keys that they stand under so far.
    """

    cards: Sequence[PublishedCard]
    stale: Collection[int]
    gone: Sequence[int]
    keyed_before: Mapping[int, Keyed]
    keyed: Mapping[int, tuple[int, Keyed]]
    lines: Sequence[ChangeLine] = ()
    replaced: Sequence[ShownRecord] = ()


async def write_cards(connection: AsyncConnection, changes: CardChanges, now: datetime) -> None:
    """Write the cards, take the stale ones away, and unlink the events that are gone."""
    as_before = await _drop_words(connection, {each.id: each.row for each in changes.cards}, changes.stale)
    if changes.stale:
        await connection.execute(_DROP_CARDS, {"b_keys": sorted(changes.stale)})
    if changes.gone:
        await connection.execute(_DROP_LINKS, {"b_keys": sorted(changes.gone)})
    await keep_shown(connection, "events", changes.replaced, now)
    await write_keys(connection, changes.keyed_before, changes.keyed)
    await _CARDS.write_at_commit(connection, [each.row for each in changes.cards])
    await _LINKS.write_at_commit(connection, _links(changes))
    words = [
        {"word": word, "event_date": each.row["event_date"], "card_id": each.id}
        for each in changes.cards
        if each.id not in as_before
        for word in each.row["words"].split()
    ]
    await _WORDS.write_at_commit(connection, sorted(words, key=itemgetter("word", "card_id")))
    await write_changes(connection, "events", changes.lines, now)


def _links(changes: CardChanges) -> Sequence[dict[str, Any]]:
    return [
        {
            "event_id": link.event_id, "card_id": card.id, "source_id": link.source_id, "score": link.score,
            "as_of": link.as_of, "minute": changes.keyed[link.event_id][1].minute,
            "keys": changes.keyed[link.event_id][1].text,
        }
        for card in changes.cards
        for link in card.links
    ]  # fmt: skip


def words_of(event: Event) -> list[str]:
    """What an event is found by: the words of its title, venue, town and organizer, each once."""
    text = f"{event.title} {event.venue_name} {event.structured_location.city} {event.organizer}"
    return list(dict.fromkeys(word[:LONGEST_WORD] for word in folded_words(text)))[:MOST_WORDS]


async def _drop_words(
    connection: AsyncConnection, written: Mapping[int, Mapping[str, Any]], stale: Collection[int]
) -> set[int]:
    """Take the words away by which cards are no longer found; answers the cards whose words stay as they are."""
    keys = sorted({*written, *stale})
    known = (await connection.execute(_WORDS_OF, {"b_keys": keys})).mappings().all() if keys else []
    same = {row["id"] for row in known if row["id"] in written and _is_found_alike(row, written[row["id"]])}
    rows = [
        {"b_word": word, "b_date": row["event_date"], "b_card": row["id"]}
        for row in known
        if row["id"] not in same
        for word in row["words"].split()
    ]
    await write_each(connection, _DROP_WORD, rows)
    return same


def _is_found_alike(before: Mapping[Any, Any], after: Mapping[str, Any]) -> bool:
    return bool(before["event_date"] == after["event_date"] and before["words"] == after["words"])


def card_row(key: int, card: Card, now: datetime) -> dict[str, Any]:
    """A card as its row."""
    event = card.event
    square = None
    if event.latitude is not None and event.longitude is not None:
        square = square_of(Coordinates(event.latitude, event.longitude))
    return {
        "id": key,
        "source_id": event.source_id,
        "title": event.title,
        "event_date": event.event_date,
        "ends_at": event.ends_at,
        "category": str(event.category),
        "status": str(event.status),
        "latitude": event.latitude,
        "longitude": event.longitude,
        "square": square,
        "sources": len(card.members),
        "reliability": card.reliability,
        "words": " ".join(words_of(event)),
        "card": _encode(card),
        "updated_at": now,
    }
