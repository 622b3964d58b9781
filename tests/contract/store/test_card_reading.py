"""How readers find events, the same on SQLite and on PostgreSQL."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import text

from rig.clock import NOON
from rig.mill import event
from rig.shelving import shelve
from tidemill.core.source import Coordinates
from tidemill.verticals.events.feed import FeedPreferences, Weights
from tidemill.verticals.events.store.card_queries import finding
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.views import Around, CardFilter, FeedCursor

DAY = timedelta(days=1)
ARNHEM, NIJMEGEN, GRONINGEN = Coordinates(51.98, 5.91), Coordinates(51.84, 5.86), Coordinates(53.22, 6.57)
WHAT_IS_ON = [
    # title, place, days ahead, category, venue
    ("Jazz in de kerk", ARNHEM, 2, "music", "Eusebiuskerk"),
    ("Jazzconcert Élise", NIJMEGEN, 3, "music", "Doornroosje"),
    ("Kermis", ARNHEM, 4, "family", "Korenmarkt"),
    ("Schaaktoernooi", GRONINGEN, 5, "gaming", "Denksportcentrum"),
    ("Jazz aan zee", GRONINGEN, 40, "music", "Strandpaviljoen"),
]


@pytest.fixture
async def reader(mill):
    key = await mill.source("club")
    await mill.source("town")
    await shelve(mill, key, *(told(key, *each) for each in WHAT_IS_ON))
    return CardReader(mill.database, mill.clock)


def told(source_id, title, place, days, category, venue):
    made = event(title, source_id, NOON + days * DAY, venue)
    return msgspec.structs.replace(
        made, category=category, latitude=place.latitude, longitude=place.longitude, source_name="club"
    )


async def titles(reader, **which):
    return [card.title for card in await reader.by_date(CardFilter(**which))]


async def test_events_come_by_date(reader):
    assert await titles(reader) == [title for title, *_ in WHAT_IS_ON]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("jazz", ["Jazz in de kerk", "Jazzconcert Élise", "Jazz aan zee"]),
        ("JAZZ KERK", ["Jazz in de kerk"]),
        ("elise", ["Jazzconcert Élise"]),
        ("strandpav", ["Jazz aan zee"]),
        ("kerk jaz", ["Jazz in de kerk"]),
        ("xyz", []),
        ("%", []),
        ("' OR 1=1 --", []),
    ],
)
async def test_words_are_found_in_title_and_venue_and_the_last_may_be_a_beginning(reader, words, found):
    assert await titles(reader, text=words) == found


async def test_filters_narrow_each_other(reader):
    near = Around(ARNHEM, 30)
    assert await titles(reader, around=near) == ["Jazz in de kerk", "Jazzconcert Élise", "Kermis"]
    assert await titles(reader, around=Around(ARNHEM, 5)) == ["Jazz in de kerk", "Kermis"]
    assert await titles(reader, around=near, text="jazz") == ["Jazz in de kerk", "Jazzconcert Élise"]
    assert await titles(reader, around=near, category="family") == ["Kermis"]
    assert await titles(reader, category="music", date_to=NOON + 30 * DAY) == ["Jazz in de kerk", "Jazzconcert Élise"]
    assert await titles(reader, around=Around(ARNHEM, 900), category="gaming") == ["Schaaktoernooi"]
    assert await titles(reader, source="club", date_from=NOON + 4 * DAY, text="jazz") == ["Jazz aan zee"]
    assert await titles(reader, source="town") == []
    assert await titles(reader, source="nobody") == []


@pytest.mark.shows("E4")
@pytest.mark.parametrize("which", [{}, {"text": "jazz"}, {"category": "music"}, {"around": Around(ARNHEM, 300)}])
async def test_pages_go_on_where_the_last_one_ended(reader, which):
    every = await titles(reader, **which)
    paged: list[Any] = []
    after = None
    while found := await reader.by_date(CardFilter(**which), after=after, limit=1):
        paged += [card.title for card in found]
        after = found[-1].cursor
    assert paged == every
    assert len(every) >= 3


@pytest.mark.shows("E4")
async def test_the_feed_ranks_by_what_a_person_cares_about(reader):
    here = FeedPreferences(as_of=NOON, place=GRONINGEN)
    assert (await reader.feed(here, CardFilter()))[0].title == "Schaaktoernooi"
    likes = FeedPreferences(as_of=NOON, tastes={"family": 1.0})
    assert (await reader.feed(likes, CardFilter()))[0].title == "Kermis"
    patient = FeedPreferences(as_of=NOON, place=GRONINGEN, tastes={"music": 1.0}, weights=Weights(time=0))
    assert (await reader.feed(patient, CardFilter()))[0].title == "Jazz aan zee"


@pytest.mark.shows("E4")
async def test_a_place_is_a_wish_and_a_circle_a_limit(reader):
    wish = FeedPreferences(as_of=NOON, place=ARNHEM)
    anywhere = [card.title for card in await reader.feed(wish, CardFilter())]
    assert anywhere[0] == "Jazz in de kerk"
    assert "Schaaktoernooi" in anywhere
    assert "Schaaktoernooi" not in [
        card.title for card in await reader.feed(wish, CardFilter(around=Around(ARNHEM, 30)))
    ]


@pytest.mark.shows("E4")
@pytest.mark.usefixtures("reader")
async def test_what_is_near_is_ranked_however_much_comes_sooner_elsewhere(mill):
    here = FeedPreferences(as_of=NOON, place=GRONINGEN, weights=Weights(time=0))
    hurried = CardReader(mill.database, mill.clock, candidates=2)
    assert (await hurried.feed(here, CardFilter()))[0].title == "Schaaktoernooi"


@pytest.mark.shows("E4")
async def test_the_feed_keeps_its_order_over_its_pages_while_time_passes(reader):
    wish = FeedPreferences(as_of=NOON, place=ARNHEM, tastes={"music": 0.7, "family": 0.2})
    every = await reader.feed(wish, CardFilter())
    assert len(every) == 5
    paged: list[Any] = []
    after = None
    while found := await reader.feed(
        msgspec.structs.replace(wish, as_of=NOON + len(paged) * DAY), CardFilter(), after=after, limit=2
    ):
        paged += found
        last = found[-1]
        after = FeedCursor.parse(FeedCursor(after.as_of if after else NOON, last.score, last.id).text)
    assert [card.id for card in paged] == [card.id for card in every]
    assert [card.score for card in paged] == sorted((card.score for card in every), reverse=True)


async def test_what_is_over_is_not_in_the_feed(reader):
    assert [card.title for card in await reader.feed(FeedPreferences(as_of=NOON + 10 * DAY), CardFilter())] == [
        "Jazz aan zee"
    ]


@pytest.mark.parametrize(
    ("lead", "index"),
    [
        ("date", "ix_event_cards_date"),
        ("category", "ix_event_cards_category"),
        ("squares", "ix_event_cards_square"),
        ("source", "ix_event_links_source"),
    ],
)
async def test_every_search_is_led_by_its_index(sqlite_database, lead, index):
    asked = dict.fromkeys(
        ("category", "source", "north", "east", "shrink", "reach", "each", "most", "date_from", "date_to", "after_date",
         "after_id", "literal")
    ) | {"squares": "[1]", "words": '["a"]', "also": "[]"}  # fmt: skip
    async with sqlite_database.read() as connection:
        plan = await connection.execute(text("EXPLAIN QUERY PLAN " + finding(lead, sqlite=True).text), asked)
        assert any(f"INDEX {index}" in row.detail for row in plan)
