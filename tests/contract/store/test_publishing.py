"""What readers see of several sources' events, the same on SQLite and on PostgreSQL."""

import asyncio
from datetime import timedelta

import msgspec
import pytest
from sqlalchemy import select

from rig.clock import NOON
from rig.mill import event
from rig.shelving import shelve
from rig.steps import count_steps, steps_of
from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import upgrade
from tidemill.store.schema import record_changes, sources
from tidemill.verticals.events.candidates import MOST_UNDER_ONE_KEY, Lookup
from tidemill.verticals.events.card import Card
from tidemill.verticals.events.record import EventStatus
from tidemill.verticals.events.store.candidate_rows import find, used_keys
from tidemill.verticals.events.store.publishing import Publisher
from tidemill.verticals.events.store.tables import event_candidates, event_cards, event_links, event_words

pytestmark = pytest.mark.shows("E3")

DAY = timedelta(days=1)
SOON = NOON + 30 * DAY
decode = msgspec.json.Decoder(Card).decode


@pytest.fixture
async def two(mill):
    await mill.source("club", precedence=90)
    await mill.source("town", precedence=40)
    async with mill.database.read() as connection:
        return {row.name: row.id for row in await connection.execute(select(sources.c.name, sources.c.id))}


@pytest.fixture
def publisher(database):
    return Publisher(database)


def told(title, source_id, name, **changes):
    made = msgspec.structs.replace(event(title, source_id, SOON), source_name=name)
    return msgspec.structs.replace(made, **changes)


async def cards(mill):
    return [decode(row["card"]) for row in await mill.rows(event_cards)]


async def test_an_event_of_one_source_is_a_card_of_its_own(mill, two, publisher):
    await shelve(mill, two["club"], told("Jazz", two["club"], "club"), told("Kermis", two["club"], "club"))
    assert await publisher.publish(mill.clock.now()) == 2
    assert [card.event.title for card in await cards(mill)] == ["Jazz", "Kermis"]
    assert await publisher.publish(mill.clock.now()) == 0


async def test_the_same_event_of_two_sources_is_one_card_with_provenance(mill, two, publisher):
    await shelve(mill, two["town"], told("Jazz in de kerk", two["town"], "town", description="Kom ook!"))
    await publisher.publish(mill.clock.now())
    await shelve(mill, two["club"], told("JAZZ IN DE KERK", two["club"], "club"))
    await publisher.publish(mill.clock.now())
    (card,) = await cards(mill)
    assert (card.event.title, card.event.description) == ("JAZZ IN DE KERK", "Kom ook!")
    assert {name: card.provenance[name].source for name in ("title", "description")} == {
        "title": "club",
        "description": "town",
    }
    links = await mill.rows(event_links)
    assert len(links) == 2
    assert len({link["card_id"] for link in links}) == 1


async def test_a_changed_event_changes_its_card_and_the_words_it_is_found_by(mill, two, publisher):
    one = told("Jazz", two["club"], "club")
    await shelve(mill, two["club"], one)
    await publisher.publish(mill.clock.now())
    await shelve(mill, two["club"], msgspec.structs.replace(one, title="Blues", event_date=SOON + DAY))
    await publisher.publish(mill.clock.now())
    (card,) = await cards(mill)
    assert card.event.title == "Blues"
    words = {(row["word"], row["event_date"]) for row in await mill.rows(event_words)}
    assert words == {("blues", SOON + DAY), ("korenmarkt", SOON + DAY)}


async def test_two_events_that_turn_out_to_differ_are_two_cards_again(mill, two, publisher):
    one = told("Jazz", two["club"], "club")
    await shelve(mill, two["club"], one)
    await shelve(mill, two["town"], told("Jazz", two["town"], "town"))
    await publisher.publish(mill.clock.now())
    assert len(await cards(mill)) == 1
    await shelve(mill, two["club"], msgspec.structs.replace(one, title="Toneel voor kinderen"))
    await publisher.publish(mill.clock.now())
    assert sorted(card.event.title for card in await cards(mill)) == ["Jazz", "Toneel voor kinderen"]


async def test_what_one_source_no_longer_shows_stays_while_another_does(mill, two, publisher):
    other = told("Markt", two["club"], "club")
    await shelve(mill, two["club"], told("Jazz", two["club"], "club"), other)
    await shelve(mill, two["town"], told("Jazz", two["town"], "town"))
    await publisher.publish(mill.clock.now())
    for _ in range(2):
        run = await shelve(mill, two["club"], other)
        assert run.complete, run.doubts
    assert run.removed == 1
    await publisher.publish(mill.clock.now())
    kept = {card.event.title: list(card.sources) for card in await cards(mill)}
    assert kept == {"Markt": ["club"], "Jazz": ["town"]}
    for _ in range(2):
        await shelve(mill, two["town"], told("Iets anders", two["town"], "town"))
    await publisher.publish(mill.clock.now())
    assert "Jazz" not in {card.event.title for card in await cards(mill)}
    assert "jazz" not in {row["word"] for row in await mill.rows(event_words)}


async def told_changes(mill):
    return [(row["kind"], row["title"]) for row in await mill.rows(record_changes)]


@pytest.mark.shows("A1")
async def test_followers_are_told_what_becomes_of_cards_in_the_order_of_commits(mill, two, publisher):
    one, other = told("Jazz", two["club"], "club"), told("Kermis", two["club"], "club")
    await shelve(mill, two["club"], one, other)
    await publisher.publish(mill.clock.now())
    await shelve(mill, two["club"], msgspec.structs.replace(one, title="Blues"), other)
    await publisher.publish(mill.clock.now())
    await shelve(mill, two["club"], other, msgspec.structs.replace(one, title="Blues", status=EventStatus.CANCELLED))
    await publisher.publish(mill.clock.now())
    for _ in range(2):
        await shelve(mill, two["club"], other)
    await publisher.publish(mill.clock.now())
    assert await told_changes(mill) == [
        ("new", "Jazz"), ("new", "Kermis"), ("changed", "Blues"), ("cancelled", "Blues"), ("gone", "Blues"),
    ]  # fmt: skip
    rows = await mill.rows(record_changes)
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[2]["changes"] == {"title": ["Jazz", "Blues"]}


async def test_followers_are_told_into_which_card_another_went(mill, two, publisher):
    await shelve(mill, two["club"], told("Jazz", two["club"], "club"))
    town = told("Toneel voor kinderen", two["town"], "town")
    await shelve(mill, two["town"], town)
    await publisher.publish(mill.clock.now())
    await shelve(mill, two["town"], msgspec.structs.replace(town, title="Jazz"))
    await publisher.publish(mill.clock.now())
    kept, merged = (await mill.rows(record_changes))[2:]
    assert (kept["kind"], merged["kind"]) == ("changed", "merged")
    assert merged["changes"] == {"merged_into": [None, kept["record_id"]]}


async def test_a_round_that_changes_nothing_tells_followers_nothing(mill, two, publisher, database):
    await shelve(mill, two["club"], told("Jazz", two["club"], "club"))
    await publisher.publish(mill.clock.now())
    await Publisher(database).publish(mill.clock.now())
    assert len(await told_changes(mill)) == 1


async def test_a_reader_need_not_wait_for_the_next_round(mill, two, publisher):
    await shelve(mill, two["club"], told("Jazz", two["club"], "club"))
    await publisher.catch_up(mill.clock.now())
    assert len(await cards(mill)) == 1


async def crowd(mill, two, count, title="Jazz"):
    """So many events of two sources, each pair of them the same one."""
    for name, key in two.items():
        made = [told(f"{title} {number}", key, name) for number in range(count)]
        await shelve(mill, key, *made)


@pytest.mark.shows("F7")
async def test_two_processes_that_publish_at_once_make_each_card_once(mill, two, database):
    await crowd(mill, two, 400)
    now = mill.clock.now()
    await asyncio.gather(Publisher(database).publish(now), Publisher(database).publish(now))
    await Publisher(database).publish(now)
    made = await cards(mill)
    assert len(made) == 400
    assert all(sorted(card.sources) == ["club", "town"] for card in made)
    assert len(await mill.rows(event_links)) == 800


async def test_a_portion_is_made_again_if_another_was_written_meanwhile(mill, two, publisher, database):
    await shelve(mill, two["town"], told("Jazz", two["town"], "town"))
    late = Publisher(database)
    before = await late._state()
    await publisher.publish(mill.clock.now())
    assert not await late._write(None, before, msgspec.structs.replace(before, round=9), mill.clock.now())
    assert await late.publish(mill.clock.now()) == 0


async def test_a_new_round_begins_where_this_process_looked_last(mill, two, publisher):
    await crowd(mill, two, 400)
    assert await publisher.publish_new(mill.clock.now()) == 800
    assert await publisher.publish_new(mill.clock.now()) == 0
    await shelve(mill, two["club"], told("Kermis", two["club"], "club"))
    assert await publisher.publish_new(mill.clock.now()) == 1


async def test_the_keys_of_an_event_follow_its_changes(mill, two, publisher):
    one = told("Jazz", two["club"], "club")
    await shelve(mill, two["club"], one)
    await publisher.publish(mill.clock.now())
    (before,) = await mill.rows(event_candidates)
    await shelve(mill, two["club"], msgspec.structs.replace(one, title="Blues"))
    await publisher.publish(mill.clock.now())
    (after,) = await mill.rows(event_candidates)
    assert (after["event_id"], after["source_id"]) == (before["event_id"], before["source_id"])
    assert after["key"] != before["key"]
    for _ in range(2):
        await shelve(mill, two["club"], told("Iets anders", two["club"], "club"))
    await publisher.publish(mill.clock.now())
    assert after["key"] not in {row["key"] for row in await mill.rows(event_candidates)}


async def test_a_lookup_reads_the_first_few_under_a_key_and_no_more(migrated_url):
    """The cost of one is the same however many events stand under its key."""
    database = open_database(migrated_url)
    rows = [{"key": 7, "minute": 60, "event_id": key, "source_id": 1} for key in range(3_000)]
    async with database.write() as connection:
        await connection.execute(event_candidates.insert(), rows)
    async with database.read() as connection:
        found = await find(connection, [Lookup(7, 15, 105), Lookup(8, 15, 105), Lookup(7, 0, 0)])
    await database.close()
    assert found == {Lookup(7, 15, 105): [(key, 1) for key in range(MOST_UNDER_ONE_KEY)]}


async def test_only_keys_under_which_something_stands_are_looked_under(migrated_url):
    database = open_database(migrated_url)
    rows = [{"key": key, "minute": 60, "event_id": key, "source_id": 1} for key in (-5, 7, 2**62)]
    async with database.write() as connection:
        await connection.execute(event_candidates.insert(), rows)
    async with database.read() as connection:
        used = await used_keys(connection, [*range(3_000), -5, 2**62, -(2**63)])
        assert await used_keys(connection, []) == set()
    await database.close()
    assert used == {-5, 7, 2**62}


async def test_looking_costs_sqlite_the_same_among_twenty_thousand(sqlite_url):
    database = open_database(sqlite_url)
    await upgrade(database)
    steps: list[int] = []
    count = await count_steps(database)
    for first, last in ((0, 100), (100, 20_000)):
        rows = [{"key": 7, "minute": 60, "event_id": key, "source_id": 1} for key in range(first, last)]
        async with database.write() as connection:
            await connection.execute(event_candidates.insert(), rows)
        async with database.glance() as connection:
            with steps_of(count, steps):
                await find(connection, [Lookup(7, 15, 105)] * 50)
    await database.close()
    assert steps[1] <= 1.1 * steps[0], steps
