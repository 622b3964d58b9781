"""How long a page of the feed, and of a search, takes when so many events are known."""

import random
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import uvloop

from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, answer, task_from_command_line
from tidemill.core.source import Coordinates
from tidemill.engine.clock import RealClock
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database, open_database
from tidemill.store.database.migrate import upgrade
from tidemill.verticals.events.card import Member, card_of
from tidemill.verticals.events.feed import FeedPreferences
from tidemill.verticals.events.grid import square_of
from tidemill.verticals.events.record import (
    Category,
    Event,
    Method,
    Precision,
    StructuredDate,
    StructuredLocation,
)
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.tables import event_cards, event_words
from tidemill.verticals.events.views import Around, CardFilter

AT_ONCE = 20_000
QUESTIONS = 150
WARM_UP = 15
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
DAYS = 180
SOUTH, NORTH, WEST, EAST = 50.8, 53.4, 3.5, 7.1
FIRST = ("jazz", "koor", "markt", "lezing", "dans", "film", "toneel", "wandel", "kunst")
SECOND = ("", "avond", "feest", "dag", "middag", "cafe", "festival", "route", "lab", "club", "plein")
WORDS = [first + second for first in FIRST for second in SECOND]


def rows(count: int, draw: random.Random) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """So many cards all over a country and half a year, with the words they are found by."""
    card = msgspec.json.encode(
        card_of([Member(event_id=1, event=_event(), precedence=50, reliability=0.9, updated_at=NOW)])
    )
    categories = [str(each) for each in Category]
    for key in range(1, count + 1):
        place = Coordinates(draw.uniform(SOUTH, NORTH), draw.uniform(WEST, EAST))
        starts = NOW + timedelta(minutes=draw.randrange(DAYS * 24 * 60))
        words = [*draw.sample(WORDS, 3), f"straat{key % 5_000}"]
        yield {
            "id": key, "source_id": key % 500, "title": " ".join(words), "event_date": starts, "ends_at": None,
            "category": draw.choice(categories), "status": "scheduled", "latitude": place.latitude,
            "longitude": place.longitude, "square": square_of(place), "sources": 1, "reliability": draw.random(),
            "words": " ".join(words), "card": card, "updated_at": NOW,
        }, [{"word": word, "event_date": starts, "card_id": key} for word in words]  # fmt: skip


async def fill(database: Database, count: int) -> None:
    """Write the cards as publishing leaves them."""
    made = rows(count, random.Random(11))  # noqa: S311 - figures, not secrets
    while batch := [one for one, _ in zip(made, range(AT_ONCE), strict=False)]:
        words = sorted((word for _, words in batch for word in words), key=lambda row: row["word"])
        async with database.write() as connection:
            await write_each(connection, event_cards.insert(), [card for card, _ in batch])
            await write_each(connection, event_words.insert(), words)


async def measure(ask: Callable[[], Awaitable[list[Any]]]) -> float:
    """The 95th percentile in milliseconds, and that something was found."""
    taken = []
    for number in range(QUESTIONS + WARM_UP):
        began = time.perf_counter()
        found = await ask()
        if number >= WARM_UP:
            taken.append(time.perf_counter() - began)
    assert found
    return sorted(taken)[int(len(taken) * 0.95)] * 1_000


async def run(address: str, count: int) -> Figures:
    database = open_database(address)
    await upgrade(database)
    await fill(database, count)
    reader, draw = CardReader(database, RealClock()), random.Random(5)  # noqa: S311 - figures, not secrets

    def place() -> Coordinates:
        return Coordinates(draw.uniform(SOUTH + 0.4, NORTH - 0.4), draw.uniform(WEST + 0.6, EAST - 0.6))

    def wish() -> FeedPreferences:
        return FeedPreferences(as_of=NOW, place=place(), tastes={"music": 1.0, "family": 0.5})

    async def feed() -> list[Any]:
        mine = wish()
        assert mine.place is not None
        return await reader.feed(mine, CardFilter(around=Around(mine.place, 25)), limit=50)

    async def near() -> list[Any]:
        return await reader.by_date(CardFilter(around=Around(place(), 25), date_from=NOW), limit=50)

    async def words() -> list[Any]:
        return await reader.by_date(CardFilter(text=draw.choice(WORDS), date_from=NOW), limit=50)

    watch = Stopwatch()
    watch.start()
    figures = {
        "feed_p95_ms": await measure(feed),
        "near_p95_ms": await measure(near),
        "words_p95_ms": await measure(words),
    }
    watch.stop()
    await database.close()
    return Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), {"events": count}, watch.waited_seconds, figures)


def _event() -> Event:
    day = NOW.date()
    return Event(
        title="Jazz in de kerk", description="Een avond met het trio van de stad. " * 12, event_date=NOW,
        event_time="20:30", ends_at=None, venue_name="Grote Kerk", category=Category.MUSIC, image_url=None,
        detail_url="https://bench.test/agenda/1", latitude=52.0, longitude=5.9, location_precision=Precision.VENUE,
        source_id=1, source_name="bench", confidence=0.95, normalization_method=Method.RULES, fingerprint="0" * 64,
        structured_date=StructuredDate(start=day, end=day, start_time="20:30", end_time=None, all_day=False,
                                       time_zone="Europe/Amsterdam", source_text=""),
        structured_location=StructuredLocation(name="Grote Kerk", city="Arnhem"),
    )  # fmt: skip


if __name__ == "__main__":
    answer(uvloop.run(run(task_from_command_line().database, int(sys.argv[2]))))
