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
from tidemill.store.database.database import Database
from tidemill.store.database.upserts import upsert
from tidemill.verticals.events.card import Card
from tidemill.verticals.events.grid import square_of
from tidemill.verticals.events.linking import folded_words
from tidemill.verticals.events.record import Event
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
_CARD, _LINK = upsert(event_cards, ["id"]), upsert(event_links, ["event_id"])


class PublishedCard(msgspec.Struct, frozen=True):
    """A card, and its links: event, source, how sure, and the state of the event that was published."""

    id: int
    card: Card
    links: Sequence[tuple[int, int, float, datetime]]


async def write_cards(
    connection: AsyncConnection,
    database: Database,
    cards: Sequence[PublishedCard],
    stale: Collection[int],
    gone: Sequence[int],
    now: datetime,
) -> None:
    """Write the cards, take the stale ones away, and unlink the events that are gone."""
    kept = {each.id: words_of(each.card.event) for each in cards}
    found_by = {each.id: (each.card.event.event_date, " ".join(kept[each.id])) for each in cards}
    as_before = await _drop_words(connection, found_by, stale)
    if stale:
        await connection.execute(_DROP_CARDS, {"b_keys": sorted(stale)})
    if gone:
        await connection.execute(_DROP_LINKS, {"b_keys": sorted(gone)})
    await write_each(connection, _CARD[database.dialect], [_row(each, kept[each.id], now) for each in cards])
    links = [
        {"event_id": event, "card_id": each.id, "source_id": source, "score": score, "as_of": as_of}
        for each in cards
        for event, source, score, as_of in each.links
    ]
    await write_each(connection, _LINK[database.dialect], links)
    words = [
        {"word": word, "event_date": each.card.event.event_date, "card_id": each.id}
        for each in cards
        if each.id not in as_before
        for word in kept[each.id]
    ]
    await write_each(connection, _WORDS, sorted(words, key=itemgetter("word", "card_id")))


_WORDS = event_words.insert()


def words_of(event: Event) -> list[str]:
    """What an event is found by: the words of its title, venue, town and organizer, each once."""
    text = f"{event.title} {event.venue_name} {event.structured_location.city} {event.organizer}"
    return list(dict.fromkeys(word[:LONGEST_WORD] for word in folded_words(text)))[:MOST_WORDS]


async def _drop_words(
    connection: AsyncConnection, found_by: Mapping[int, tuple[datetime, str]], stale: Collection[int]
) -> set[int]:
    """Take the words away by which cards are no longer found; answers the cards whose words stay as they are."""
    keys = sorted({*found_by, *stale})
    known = (await connection.execute(_WORDS_OF, {"b_keys": keys})).mappings().all() if keys else []
    same = {row["id"] for row in known if found_by.get(row["id"]) == (row["event_date"], row["words"])}
    rows = [
        {"b_word": word, "b_date": row["event_date"], "b_card": row["id"]}
        for row in known
        if row["id"] not in same
        for word in row["words"].split()
    ]
    await write_each(connection, _DROP_WORD, rows)
    return same


def _row(published: PublishedCard, words: Sequence[str], now: datetime) -> dict[str, Any]:
    card, event = published.card, published.card.event
    square = None
    if event.latitude is not None and event.longitude is not None:
        square = square_of(Coordinates(event.latitude, event.longitude))
    return {
        "id": published.id,
        "source_id": event.source_id,
        "title": event.title,
        "event_date": event.event_date,
        "ends_at": event.ends_at,
        "category": event.category,
        "status": event.status,
        "latitude": event.latitude,
        "longitude": event.longitude,
        "square": square,
        "sources": len(card.members),
        "reliability": card.reliability,
        "words": " ".join(words),
        "card": _encode(card),
        "updated_at": now,
    }
