"""Records as they were at a moment: equal to what was answered then, on both databases."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from rig.clock import NOON, SettableClock
from rig.mill import event
from rig.shelving import shelve
from rig.shopfront import Market, product_page
from rig.streamed import VERTICAL, TallyWriter
from tidemill.operations.exporting.dataset import ExportDataset
from tidemill.operations.exporting.exporter import as_it_was
from tidemill.operations.exporting.past_differences import UNCOMPARED, DifferenceKind, differences
from tidemill.operations.mistakes import Mistake
from tidemill.store.database.database import Database
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.verticals.events.exports import event_datasets
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.past import PastEvents
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import CardFilter, CardView
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.store.tables import prices

DAY = timedelta(days=1)
LEFT_OUT = {"product_id", "last_seen_at", "updated_at", "times_seen", "gone_at", "availability", *UNCOMPARED} - {
    "record"
}


async def all_rows(dataset: ExportDataset, **filters: Any) -> dict[Any, dict[str, Any]]:
    """Every row by its key, without what no history tells."""
    which = dataset.filters(**filters)
    found: dict[Any, dict[str, Any]] = {}
    cursor = None
    while page := await dataset.load(which, cursor, 2):
        found |= {
            row.values[dataset.key]: {name: value for name, value in row.values.items() if name not in LEFT_OUT}
            for row in page
        }
        if len(page) < 2:
            break
        cursor = page[-1].cursor
    return found


def dataset_of(mill) -> ExportDataset:
    database, clock = mill.database, mill.clock
    return event_datasets(EventViews(database), PastEvents(database), CardReader(database, clock), clock)[0]


def told(title: str, key: int, **changes: Any) -> Any:
    """An event that stays the same one whatever changes about it."""
    return msgspec.structs.replace(event(title, key), fingerprint=title.partition(" ")[0], **changes)


def cards_of(mill) -> ExportDataset:
    database, clock = mill.database, mill.clock
    return event_datasets(EventViews(database), PastEvents(database), CardReader(database, clock), clock)[1]


async def lived(mill) -> list[tuple[Any, dict[Any, dict[str, Any]]]]:
    """Some days in the life of a source's events, and what was answered at the end of each."""
    key, dataset = await mill.source(), dataset_of(mill)
    days = [
        [told("Kermis", key), told("Markt", key), told("Film", key)],
        [told("Kermis", key), told("Markt op het plein", key, venue_name="Plein"), told("Film", key)],
        [told("Kermis", key), told("Markt", key, category=Category.MUSIC), told("Concert", key)],
        [told("Kermis", key, description="Nu met reuzenrad"), told("Markt", key)],
        [told("Kermis", key), told("Film terug", key), told("Markt", key, organizer="Gilde")],
    ]
    answered = []
    for day in days:
        await shelve(mill, key, *day)
        await CardReader(mill.database, mill.clock).by_date(CardFilter())  # publishes them
        answered.append((mill.clock.now(), await all_rows(dataset)))
    return answered


async def test_events_as_they_were_are_what_was_answered_then(mill):
    answered = await lived(mill)
    dataset = dataset_of(mill)
    mill.clock.advance(DAY)
    assert len({frozenset(rows) for _, rows in answered}) > 1
    for moment, rows in answered:
        assert await all_rows(as_it_was(dataset, moment, mill.clock.now())) == rows, moment
    before = as_it_was(dataset, answered[0][0] - timedelta(seconds=1), mill.clock.now())
    assert await all_rows(before) == {}


async def test_cards_as_they_were_are_what_readers_saw_then(mill):
    key, cards = await mill.source(), CardReader(mill.database, mill.clock)
    asked = CardFilter(), CardFilter(text="kerm"), CardFilter(text="markt plein"), CardFilter(category="x")
    answered: list[tuple[datetime, CardFilter, list[CardView]]] = []
    for day in (
        [told("Kermis", key), told("Markt", key)],
        [told("Kermis", key, description="Nu met reuzenrad"), told("Film", key)],
        [told("Film terug", key)],
        [told("Film", key), told("Markt", key, venue_name="Plein")],
    ):
        await shelve(mill, key, *day)
        answered += [(mill.clock.now(), which, await cards.by_date(which)) for which in asked]
        mill.clock.advance(timedelta(hours=3))
    assert len({len(found) for _, which, found in answered if which == CardFilter()}) > 1
    for moment, which, found in answered:
        assert await cards.by_date(which, as_of=moment) == found, (moment, which)
        assert await cards.by_date(which, as_of=moment + timedelta(hours=2)) == found, (moment, which)
        whole = await cards.past.by_key(which, moment)
        assert sorted(whole, key=lambda card: card.cursor.text) == sorted(found, key=lambda card: card.cursor.text)
    first = answered[0][2]
    assert await cards.by_date(CardFilter(), as_of=answered[0][0], limit=1) == first[:1]
    assert await cards.by_date(CardFilter(), as_of=answered[0][0], after=first[0].cursor) == first[1:]


async def test_the_past_is_filtered_by_what_it_was(mill):
    answered = await lived(mill)
    then = as_it_was(dataset_of(mill), answered[2][0], mill.clock.now())
    assert [row["title"] for row in (await all_rows(then, category=Category.MUSIC)).values()] == ["Markt"]
    assert await all_rows(then, text="gilde") == {}
    assert await all_rows(then, source="nobody") == {}


async def test_what_happened_between_two_moments_is_told_row_by_row(mill):
    answered = await lived(mill)
    found = [each async for each in differences(dataset_of(mill), {}, answered[0][0], answered[4][0], mill.clock.now())]
    by_kind = {kind: [each.title for each in found if each.kind is kind] for kind in DifferenceKind}
    assert by_kind == {
        DifferenceKind.APPEARED: [],  # the concert came and went in between
        DifferenceKind.CHANGED: ["Markt", "Film terug"],
        DifferenceKind.VANISHED: [],
    }
    changed = next(each for each in found if each.title == "Film terug")
    assert changed.changes["title"] == ["Film", "Film terug"]
    assert {"gone", "returned"} <= {cause.kind for cause in changed.causes}
    runs = {cause.run_id for each in found for cause in each.causes}
    assert runs
    assert 0 not in runs
    cards = [each async for each in differences(cards_of(mill), {}, answered[0][0], mill.clock.now(), mill.clock.now())]
    assert {each.title for each in cards if each.causes} >= {"Film terug"}


async def test_moments_that_mean_nothing_are_refused(mill):
    dataset, now = dataset_of(mill), mill.clock.now()
    with pytest.raises(Mistake, match="has not come yet"):
        as_it_was(dataset, now + DAY, now)
    with pytest.raises(Mistake, match="is not kept"):
        as_it_was(replace(dataset, load_past=None), now, now)
    with pytest.raises(Mistake, match="must lie before"):
        [each async for each in differences(dataset, {}, now, now, now)]


@pytest.fixture
async def market(database: Database, clock: SettableClock, tmp_path: Path) -> AsyncIterator[Market]:
    made = Market(database, clock, tmp_path)
    yield made
    await made.system.close()


async def test_offers_as_they_were_have_the_price_and_the_corrections_of_then(market: Market) -> None:
    await market.shop(
        "acme", [product_page(price="14.95"), product_page(sku="B-2", price="20.00")], visibility="ELIGIBLE"
    )
    dataset = market.system.actions.exporter.find("offers")
    answered = []

    async def note() -> None:
        answered.append((market.clock.now(), await all_rows(dataset)))
        market.clock.advance(timedelta(hours=1))

    await market.run("acme")
    await note()
    market.show("acme", 0, product_page(price="13.95", name="Harrow 9mm, another name"))
    await market.run("acme")
    await note()
    wrong = next(row["id"] for row in await price_rows(market) if row["price_cents"] == 1395)
    await market.system.part(PricesParts).corrections.correct(wrong, 1295, "ann", "typed")
    await note()
    assert {row["price_cents"] for row in answered[2][1].values()} == {1295, 2000}
    for moment, rows in answered:
        assert await all_rows(as_it_was(dataset, moment, market.clock.now())) == rows, moment
    assert {row["price_cents"] for row in answered[0][1].values()} == {1495, 2000}
    assert {row["price_cents"] for row in answered[1][1].values()} == {1395, 2000}


async def price_rows(market: Market) -> list[Any]:
    async with market.system.store.database.read() as connection:
        return list((await connection.execute(select(prices))).mappings())


async def test_a_thing_as_it_was_is_made_from_its_log(database: Database) -> None:
    writer, reads = TallyWriter(database), SnapshotReads(database)
    states = []
    for points in range(1, 6):
        at = NOON + points * timedelta(minutes=1)
        await writer.score("a", points, at)
        states.append((at, dict(writer.states["a"])))
    found = await reads.latest(VERTICAL, "a")
    assert found is not None
    for number, (at, state) in enumerate(states, 1):
        past = await reads.states_at([found.thing_id], at)
        assert (past[found.thing_id].state, past[found.thing_id].seq) == (state, number)
    assert await reads.states_at([found.thing_id], NOON) == {}
