"""Cards as readers saw them at a moment: those that are still as they were, and those that were replaced since."""

from collections.abc import Sequence
from datetime import datetime
from math import cos, radians

import msgspec
from sqlalchemy import select, tuple_

from tidemill.store.database.database import Database
from tidemill.store.records.shown import shown_at
from tidemill.verticals.events.grid import KM_PER_DEGREE
from tidemill.verticals.events.linking import folded_words
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.card_rows import CARD_COLUMNS, card_view, replaced_view
from tidemill.verticals.events.store.card_writes import words_of
from tidemill.verticals.events.store.tables import event_cards
from tidemill.verticals.events.views import EPOCH, Around, CardFilter, CardView, EventCursor

AT_ONCE = 500
"""Cards that are looked at together; what is asked for is chosen among them."""
LEAST_BEGINNING = 3
"""Shorter words mean themselves, not what begins with them."""

_PRESENT = select(*(event_cards.c[name] for name in (*CARD_COLUMNS, "card")))


class PastCards:
    """Reads cards as of a moment."""

    def __init__(self, database: Database) -> None:
        """Read from one database."""
        self._database = database

    async def by_date(
        self, which: CardFilter, moment: datetime, *, after: EventCursor | None = None, limit: int = 100
    ) -> list[CardView]:
        """Return events by date as they were shown at a moment; `after` is the cursor of the last one already seen."""
        return await self._found(which, moment, after, limit, by_key=False)

    async def by_key(self, which: CardFilter, moment: datetime, *, after: int = 0, limit: int = 100) -> list[CardView]:
        """Return the same in the order of their keys; `after` is the last key already seen."""
        return await self._found(which, moment, EventCursor(EPOCH, after), limit, by_key=True)

    async def _found(
        self, which: CardFilter, moment: datetime, after: EventCursor | None, limit: int, *, by_key: bool
    ) -> list[CardView]:
        found: list[CardView] = []
        while len(found) < limit:
            page = await self._page(which, moment, after, by_key=by_key)
            found += [card for card in page if _is_wanted(card, which)]
            if len(page) < AT_ONCE:
                break
            after = page[-1].cursor
        return found[:limit]

    async def _page(
        self, which: CardFilter, moment: datetime, after: EventCursor | None, *, by_key: bool
    ) -> Sequence[CardView]:
        """Return the next cards in order of date or key, whatever else is asked of them."""
        card = event_cards.c
        query = _PRESENT.where(card.updated_at <= moment)
        if after is not None and by_key:
            query = query.where(card.id > after.id)
        elif after is not None:
            query = query.where(tuple_(card.event_date, card.id) > tuple_(after.event_date, after.id))
        if which.date_from is not None:
            query = query.where(card.event_date >= which.date_from)
        if which.date_to is not None:
            query = query.where(card.event_date < which.date_to)
        order = (card.id,) if by_key else (card.event_date, card.id)
        async with self._database.published() as connection:
            present = await connection.execute(query.order_by(*order).limit(AT_ONCE))
            cards = [card_view(row) for row in present.mappings()]
            replaced = await shown_at(
                connection, "events", moment, after=None if after is None else (after.event_date, after.id),
                place_from=which.date_from, place_to=which.date_to, limit=AT_ONCE, by_key=by_key,
            )  # fmt: skip
        cards += [replaced_view(shown) for _, shown in replaced]
        return sorted(cards, key=lambda one: one.id if by_key else (one.event_date, one.id))[:AT_ONCE]


def _is_wanted(card: CardView, which: CardFilter) -> bool:
    return (
        which.category in {None, card.category}
        and (which.source is None or which.source in card.sources)
        and (which.around is None or _is_within(card, which.around))
        and (not which.text or _says(card, which.text))
    )


def _says(card: CardView, text: str) -> bool:
    """Return whether a card has all these words; the last one may be the beginning of one."""
    words = folded_words(text)
    if not words:
        return text in card.title
    known = words_of(msgspec.json.decode(card.record, type=Event))
    *whole, last = words
    begins = any(word.startswith(last) for word in known) if len(last) >= LEAST_BEGINNING else last in known
    return begins and set(whole) <= set(known)


def _is_within(card: CardView, around: Around) -> bool:
    if card.latitude is None or card.longitude is None:
        return False
    north = card.latitude - around.centre.latitude
    east = (card.longitude - around.centre.longitude) * cos(radians(around.centre.latitude))
    return north * north + east * east <= (around.kilometres / KM_PER_DEGREE) ** 2
