"""Text search by index finds what looking at every row finds, whatever has changed since."""

import pytest
from sqlalchemy import delete, text, update

from rig.clock import NOON
from tidemill.store.database import text_search
from tidemill.store.database.database import open_database
from tidemill.store.database.text_search import few_with_text
from tidemill.verticals.listings.policy import DECAY
from tidemill.verticals.listings.store.tables import listings
from tidemill.verticals.listings.store.views import ListingViews
from tidemill.verticals.listings.views import ListingFilter

pytestmark = pytest.mark.shows("A1")

TITLES = ["Elm Court", "Old Mill", "Haus am Käfer-Platz", "100% Riverside", "100 Riverside", "Elm_Court", "Ox"]


async def filled(url):
    database = open_database(url)
    rows = [
        {
            "id": number, "market_id": "nyc", "title": title, "url": "https://a.test/", "currency": "USD",
            "quality": 50,
            "address_key": f"{number} beacon st|4b|10036|2/1", "record": b"{}", "provenance": {},
            "first_seen_at": NOON, "last_seen_at": NOON, "updated_at": NOON,
        }
        for number, title in enumerate(TITLES, 1)
    ]  # fmt: skip
    async with database.write() as connection:
        await connection.execute(listings.insert(), rows)
    return database


async def titles(database, words):
    return sorted(home.title for home in await ListingViews(database, DECAY).search(ListingFilter(text=words), NOON))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("elm court", ["Elm Court"]), ("OURT", ["Elm Court", "Elm_Court"]), ("käfer", ["Haus am Käfer-Platz"]),
        ("% riv", ["100% Riverside"]), ("m_c", ["Elm_Court"]), ("ox", ["Ox"]), ("3 beacon", ["Haus am Käfer-Platz"]),
        ("nothing", []), ("beacon street", sorted(TITLES)), ("%%%", []),
    ],
)  # fmt: skip
async def test_any_part_of_a_name_or_an_address_is_found(migrated_url, words, found):
    database = await filled(migrated_url)
    try:
        assert await titles(database, words) == found
    finally:
        await database.close()


async def test_what_was_renamed_or_removed_is_found_as_it_is_now(migrated_url):
    database = await filled(migrated_url)
    try:
        async with database.write() as connection:
            await connection.execute(update(listings).where(listings.c.id == 1).values(title="Oak House"))
            await connection.execute(update(listings).where(listings.c.id == 3).values(quality=60))
            await connection.execute(delete(listings).where(listings.c.id == 2))
        assert await titles(database, "elm c") == []
        assert await titles(database, "old mill") == []
        assert await titles(database, "oak") == ["Oak House"]
        assert await titles(database, "haus") == ["Haus am Käfer-Platz"]
    finally:
        await database.close()


async def test_a_text_of_many_rows_or_of_two_letters_is_not_looked_up(migrated_sqlite_url, monkeypatch):
    monkeypatch.setattr(text_search, "FEW", 2)
    database = await filled(migrated_sqlite_url)
    try:
        async with database.read() as connection:
            assert await few_with_text(connection, listings, {"title": "elm"}) == [1, 6]
            assert await few_with_text(connection, listings, {"title": "riv", "address_key": "beacon"}) is None
            assert await few_with_text(connection, listings, {"title": "ox"}) is None
            plan = await connection.execute(
                text("EXPLAIN QUERY PLAN SELECT rowid FROM listings_text WHERE title LIKE '%elm%'")
            )
            assert "VIRTUAL TABLE INDEX 0:L0" in str(plan.all())
        assert len(await titles(database, "beacon street")) == len(TITLES)
    finally:
        await database.close()


async def test_postgresql_has_an_index_for_it(migrated_postgres_url):
    database = await filled(migrated_postgres_url)
    try:
        async with database.write() as connection:
            await connection.execute(text("SET LOCAL enable_seqscan = off"))
            plan = await connection.execute(
                text("EXPLAIN SELECT id FROM listings WHERE lower(title) LIKE '%elm court%'")
            )
            assert "ix_listings_title_text" in str(plan.all())
    finally:
        await database.close()
