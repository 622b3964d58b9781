"""Homes, sightings, fading and verification, the same on SQLite and on PostgreSQL."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, insert, select, update

from rig.clock import SettableClock
from tidemill.core.freshness import confidence as confidence_in_python
from tidemill.core.job import Job
from tidemill.core.outcome import Stage
from tidemill.core.page import Page
from tidemill.core.quality.verification import Presence, VerificationResult
from tidemill.core.run import RunStatus
from tidemill.core.verdict import Accepted
from tidemill.operations.exporting.exporter import as_it_was
from tidemill.pipeline.checkpoints import AcceptedRecords, Judged
from tidemill.store.database.keys import Ids
from tidemill.store.records.changes import RecordChangeReads
from tidemill.store.records.repository import CompleteRun
from tidemill.store.schema import record_changes, record_history, runs, sources
from tidemill.verticals.listings.exports import listing_dataset
from tidemill.verticals.listings.policy import DECAY
from tidemill.verticals.listings.quality import quality
from tidemill.verticals.listings.record import Listing, RentBasis
from tidemill.verticals.listings.rules import identity_of
from tidemill.verticals.listings.store.fading import confidence as confidence_in_sql
from tidemill.verticals.listings.store.past import PastListings
from tidemill.verticals.listings.store.repository import ListingRepository
from tidemill.verticals.listings.store.tables import listing_sightings, listings, market_configs
from tidemill.verticals.listings.store.verification import Verification
from tidemill.verticals.listings.store.views import ListingViews, cursor_of
from tidemill.verticals.listings.views import ListingFilter

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
HOME = Listing(
    title="The Lofts", url="https://homes.example/1", own_id="1", address="350 W 42nd St #4B", door="350 w 42nd st",
    unit="4b", city="new york", state="ny", postal_code="10036", neighborhood="", rent_low=240_000, rent_high=None,
    rent_basis=RentBasis.UNIT, currency="USD", beds_low=2.0, beds_high=2.0, baths_low=1.0, baths_high=1.0,
    size_low=850, size_high=850, available_on=None, available_text="", kind="", amenities=(), description="",
    images=(), latitude=40.7581, longitude=-73.9920, market_id="nyc", source_id=1, source_name="homes",
    confidence=0.9, quality=0,
)  # fmt: skip
RUN = 900


def home(**changes):
    made = msgspec.structs.replace(HOME, **changes)
    return msgspec.structs.replace(made, quality=quality(made))


def flat(number, **changes):
    return home(own_id=str(number), door=f"{number} elm st", unit="", latitude=None, longitude=None, **changes)


class Shelf:
    """The repository with the least around it."""

    def __init__(self, database, ids):
        self.database = database
        self.ids = ids
        self.repository = ListingRepository(ids)
        self.views = ListingViews(database, DECAY)
        self.verification = Verification(database, ids, DECAY)

    async def put(self, *shown, now=NOW, source=1, run=RUN):
        await self.ids.reserve(50 + 5 * len(shown))
        job = Job(
            id=1, run_id=run, source_id=source, target_id=1, vertical="listings", lane="http", host="homes.example",
            url="https://homes.example", stage=Stage.PERSIST, attempts=0, max_attempts=3, fence=1,
        )  # fmt: skip
        page = Page(
            id=5, url=job.url, final_url=job.url, status_code=200, body=b"", charset="utf-8", content_type="",
            digest=0, fetched_at=now,
        )  # fmt: skip
        told = [msgspec.structs.replace(one, source_id=source) for one in shown]
        accepted = [Accepted(identity_of(one), one, msgspec.json.encode(one)) for one in told]
        harvest = AcceptedRecords(Judged(page, "listings.search@1.0.0", accepted, []), accepted, 0)
        async with self.database.write() as connection:
            return (await self.repository.put(connection, [(job, harvest)], now))[1]

    async def miss(self, since, now, source=1, run=RUN, patience=2):
        await self.ids.reserve(50)
        async with self.database.write() as connection:
            return (await self.repository.miss(connection, [CompleteRun(run, source, since)], now, patience)).get(
                run, 0
            )

    async def rows(self, table=listings):
        async with self.database.read() as connection:
            return (await connection.execute(select(table).order_by(table.c.id))).mappings().all()

    async def say(self, statement):
        async with self.database.write() as connection:
            await connection.execute(statement)


@pytest.fixture
async def repository(database, ids):
    made = Shelf(database, ids)
    for key in (1, 2):
        source: dict[str, Any] = {"id": key, "name": f"homes {key}", "vertical": "listings", "base_url": "https://homes.example",
                  "adapter_id": "listings.search", "fetcher": "http", "tier": "hot", "time_zone": "America/New_York",
                  "language": "en", "city": "", "precedence": 50, "headers": {}, "trust": {}, "adapter_settings": {},
                  "visibility": "ELIGIBLE", "enabled": True, "created_at": NOW, "updated_at": NOW}  # fmt: skip
        await made.say(insert(sources).values(**source))
        run = {"id": RUN + key - 1, "source_id": key, "vertical": "listings", "adapter_id": "x", "trigger": "SCHEDULED",
               "open_jobs": 0, "started_at": NOW, "scope": "nyc"}  # fmt: skip
        await made.say(insert(runs).values(**run))
    return made


@pytest.mark.shows("L1")
async def test_the_nineteen_markets_are_there_from_the_start(database):
    async with database.read() as connection:
        tiers = (await connection.execute(select(market_configs.c.tier))).scalars().all()
    assert (len(tiers), tiers.count("hot"), tiers.count("standard"), tiers.count("cool")) == (19, 4, 6, 9)


@pytest.mark.shows("L4")
async def test_a_new_home_is_inserted_once_and_seen_again_after_that(repository):
    first = await repository.put(home())
    again = await repository.put(home(), now=NOW + HOUR)
    assert (first.inserted, again.inserted, again.updated, again.unchanged) == (1, 0, 0, 1)
    (row,) = await repository.rows()
    assert (row["times_seen"], row["first_seen_at"], row["last_seen_at"]) == (2, NOW, NOW + HOUR)


@pytest.mark.shows("L4")
async def test_two_sources_show_one_home_and_the_richer_speaks(repository):
    await repository.put(home(size_low=None, size_high=None))
    await repository.put(
        home(own_id="zz", url="https://other.example/zz", images=("a", "b", "c")), source=2, run=RUN + 1
    )
    (row,) = await repository.rows()
    told = msgspec.json.decode(row["record"], type=Listing)
    assert (told.size_low, told.images) == (850, ("a", "b", "c"))
    assert len(await repository.rows(listing_sightings)) == 2


@pytest.mark.shows("L4")
async def test_a_home_that_one_source_tells_twice_under_two_ids_stays_two(repository):
    await repository.put(home(unit=""), home(own_id="2", unit=""))
    assert len(await repository.rows()) == 2


@pytest.mark.shows("L4")
async def test_a_rent_that_moves_is_history_and_shown(repository):
    await repository.put(home())
    await repository.put(home(rent_low=225_000), now=NOW + HOUR)
    (found,) = await repository.views.search(ListingFilter(), NOW + HOUR)
    assert (found.previous_rent, found.rent_low, found.rent_note) == (240_000, 225_000, "was $2,400, now $2,250")
    (line,) = await repository.rows(record_history)
    assert line["changes"]["rent_low"] == [240_000, 225_000]


@pytest.mark.shows("B5", "L4")
async def test_a_home_that_was_gone_comes_back_to_life_with_its_new_rent(repository):
    await repository.put(home())
    await repository.say(update(listings).values(is_active=False, gone_at=NOW, gone_reason="gone when looked up"))
    kept = await repository.put(home(rent_low=199_900), now=NOW + 48 * HOUR)
    (row,) = await repository.rows()
    assert (kept.inserted, row["is_active"], row["gone_at"], row["rent_low"]) == (0, True, None, 199_900)
    assert [line["kind"] for line in await repository.rows(record_history)] == ["returned"]


@pytest.mark.shows("B5")
async def test_an_unchanged_page_counts_as_seen_and_revives_too(repository, database):
    await repository.put(home())
    await repository.say(update(listings).values(is_active=False, gone_at=NOW))
    async with database.write() as connection:
        assert await repository.repository.touch(connection, 1, ["ID:1"], NOW + HOUR) == 1
    (row,) = await repository.rows()
    assert (row["is_active"], row["last_seen_at"], row["times_seen"]) == (True, NOW + HOUR, 2)


@pytest.mark.shows("L3")
async def test_a_home_that_two_complete_runs_did_not_see_is_looked_up_before_it_is_gone(repository):
    await repository.put(flat(1, url="https://homes.example/h/1"), flat(2, url="https://homes.example/h/2"))
    for hours in (6, 7):
        assert await repository.miss(NOW + hours * HOUR, NOW + hours * HOUR) == 0
    at = NOW + 7 * HOUR
    there, gone = await repository.verification.due(at, 10)
    assert min(there.confidence, gone.confidence) > 55
    found = [
        VerificationResult(*key_of(there), Presence.THERE, "still shown"),
        VerificationResult(*key_of(gone), Presence.GONE, "answered 404"),
    ]
    assert await repository.verification.record(found, at) == 1
    rows = {row["id"]: row for row in await repository.rows()}
    assert (rows[there.listing_id]["is_active"], rows[there.listing_id]["gone_reason"]) == (True, None)
    assert (rows[gone.listing_id]["is_active"], rows[gone.listing_id]["gone_reason"]) == (False, "gone when looked up")
    assert await repository.verification.due(at + HOUR, 10) == []


async def test_a_home_that_no_list_shows_and_nobody_can_look_up_goes_when_readers_lose_it(repository):
    await repository.put(flat(1, url="https://homes.example/h/1"))
    for hours in (6, 7):
        await repository.miss(NOW + hours * HOUR, NOW + hours * HOUR)
    (check,) = await repository.verification.due(NOW + 7 * HOUR, 10)
    await repository.verification.record(
        [VerificationResult(*key_of(check), Presence.UNKNOWN, "answered 403")], NOW + 7 * HOUR
    )
    assert await repository.verification.end_faded(NOW + 20 * HOUR) == 0
    assert await repository.verification.end_faded(NOW + 21 * HOUR) == 1
    assert [row["gone_at"] for row in await repository.rows()] == [None]


@pytest.mark.shows("X6")
async def test_a_home_without_a_page_of_its_own_is_gone_after_two_complete_runs_without_it(repository):
    await repository.put(flat(1, url="https://homes.example#1"))
    later = NOW + 6 * HOUR
    assert await repository.miss(later, later) == 0
    assert await repository.miss(later + HOUR, later + HOUR) == 1
    (row,) = await repository.rows()
    assert (row["is_active"], row["gone_reason"]) == (False, "not shown any more")


async def test_nothing_is_gone_while_another_source_still_shows_it(repository):
    await repository.put(home())
    await repository.put(home(own_id="zz"), source=2, run=RUN + 1)
    for hours in (6, 12, 18):
        assert await repository.miss(NOW + hours * HOUR, NOW + hours * HOUR) == 0
    assert (await repository.rows())[0]["is_active"]


async def test_nothing_is_gone_that_was_looked_up_since_and_found_there(repository):
    (_, row) = await repository.put(home()), (await repository.rows())[0]
    (sighting,) = await repository.rows(listing_sightings)
    await repository.verification.record(
        [VerificationResult(row["id"], sighting["id"], Presence.THERE, "still shown")], NOW + 5 * HOUR
    )
    for hours in (6, 12, 18):
        assert await repository.miss(NOW + hours * HOUR, NOW + hours * HOUR) == 0
    assert (await repository.rows())[0]["is_active"]


async def test_a_run_over_another_market_misses_nothing_here(repository):
    await repository.put(home(market_id="boston"))
    assert await repository.miss(NOW + 6 * HOUR, NOW + 6 * HOUR, patience=1) == 0
    assert (await repository.rows())[0]["is_active"]


@pytest.mark.shows("L3")
@pytest.mark.parametrize("tier", ["hot", "standard", "cool"])
async def test_confidence_is_the_same_in_python_and_in_sql(repository, database, tier):
    await repository.say(update(market_configs).where(market_configs.c.id == "nyc").values(tier=tier))
    await repository.put(*(flat(number) for number in range(1, 60)))
    rows = await repository.rows()
    for step, row in enumerate(rows):
        seen = NOW - step * timedelta(hours=1, minutes=43, seconds=7, microseconds=step)
        verified = None if step % 3 == 0 else NOW - step * timedelta(minutes=51, microseconds=1)
        await repository.say(
            update(listings).where(listings.c.id == row["id"]).values(last_seen_at=seen, verified_at=verified)
        )
    joined = listings.join(market_configs, market_configs.c.id == listings.c.market_id)
    query = select(listings, confidence_in_sql(DECAY, NOW).label("sure")).select_from(joined)
    async with database.read() as connection:
        found = (await connection.execute(query)).mappings().all()
    rate = DECAY.rate(tier)
    expected = [confidence_in_python(rate, NOW, row["last_seen_at"], row["verified_at"]) for row in found]
    assert [row["sure"] for row in found] == expected
    assert len(set(expected)) > 10


@pytest.mark.shows("L5")
async def test_readers_see_what_is_active_and_sure_enough_and_nothing_else(repository):
    await repository.put(*(flat(number, rent_low=number * 10_000) for number in range(10, 40)))
    visible = await repository.views.search(ListingFilter(), NOW + 20 * HOUR)
    assert len(visible) == 30
    assert visible[0].freshness_confidence == 40
    assert visible[0].badge.text == "May no longer be available"
    assert await repository.views.search(ListingFilter(), NOW + 21 * HOUR) == []


async def test_search_filters_and_pages_without_gaps_or_doubles(repository):
    await repository.put(*(flat(number, rent_low=(number % 7 + 10) * 10_000) for number in range(10, 40)))
    for order in ("newest", "rent"):
        which, seen, after = ListingFilter(order=order), [], None
        while page := await repository.views.search(which, NOW, after=after, limit=7):
            seen += [one.id for one in page]
            after = cursor_of(page[-1], order)
        assert len(seen) == len(set(seen)) == 30
    cheap = await repository.views.search(ListingFilter(rent_to=110_000, market="nyc", beds_from=2), NOW)
    assert {one.rent_low for one in cheap} == {100_000, 110_000}
    assert await repository.views.search(ListingFilter(city="Boston"), NOW) == []
    assert await repository.views.search(ListingFilter(beds_from=3), NOW) == []


@pytest.mark.parametrize(
    ("text", "count"), [("lofts", 1), ("West 42nd Street", 1), ("350 w 42nd", 1), ("Elm", 0), ("%", 0)]
)
async def test_words_are_found_in_a_homes_name_or_its_address_in_any_spelling(repository, text, count):
    await repository.put(home())
    assert len(await repository.views.search(ListingFilter(text=text), NOW)) == count


async def test_a_circle_holds_what_lies_inside_it(repository):
    await repository.put(home())
    assert await repository.views.search(ListingFilter(near=(40.76, -73.99, 1.0)), NOW)
    assert not await repository.views.search(ListingFilter(near=(40.80, -73.99, 1.0)), NOW)


@pytest.mark.shows("L3")
async def test_what_fades_is_looked_up_before_readers_lose_it_and_the_wanted_first(repository):
    await repository.put(flat(1), flat(2), flat(3))
    assert await repository.verification.due(NOW + 15 * HOUR, 10) == []
    rows = {row["title"]: row for row in await repository.rows()}
    assert rows
    last = (await repository.rows())[-1]["id"]
    await repository.views.note_interest(last, saved=True)
    wanted = await repository.verification.due(NOW + 16 * HOUR, 10)
    assert len(wanted) == 3
    assert wanted[0].listing_id == last
    assert wanted[0].confidence < 55


@pytest.mark.shows("L3")
async def test_the_three_answers_of_a_check(repository):
    await repository.put(flat(1), flat(2), flat(3))
    there, gone, unknown = [row["id"] for row in await repository.rows()]
    at = NOW + 16 * HOUR
    sightings = {row["listing_id"]: row["id"] for row in await repository.rows(listing_sightings)}
    looked = [
        VerificationResult(there, sightings[there], Presence.THERE, "still shown"),
        VerificationResult(gone, sightings[gone], Presence.GONE, "answered 404"),
        VerificationResult(unknown, sightings[unknown], Presence.UNKNOWN, "403"),
    ]
    assert await repository.verification.record(looked, at) == 1
    rows = {row["id"]: row for row in await repository.rows()}
    assert (rows[there]["verified_at"], rows[there]["is_active"]) == (at, True)
    assert (rows[gone]["is_active"], rows[gone]["gone_reason"]) == (False, "gone when looked up")
    assert (rows[unknown]["verified_at"], rows[unknown]["is_active"], rows[unknown]["checked_at"]) == (None, True, at)
    assert await repository.verification.due(at, 10) == []
    assert [check.listing_id for check in await repository.verification.due(at + HOUR, 10)] == [unknown]


async def test_a_home_that_one_source_dropped_is_asked_for_at_the_other_before_it_is_gone(repository):
    await repository.put(home(url="https://homes.example/h/1"))
    await repository.put(home(own_id="zz", url="https://other.example/zz"), source=2, run=RUN + 1)
    at = NOW + 16 * HOUR
    (first,) = await repository.verification.due(at, 10)
    assert (
        await repository.verification.record([VerificationResult(*key_of(first), Presence.GONE, "answered 404")], at)
        == 0
    )
    (second,) = await repository.verification.due(at, 10)
    assert {first.url, second.url} == {"https://homes.example/h/1", "https://other.example/zz"}
    (row,) = await repository.rows()
    assert row["is_active"]
    assert (
        await repository.verification.record([VerificationResult(*key_of(second), Presence.GONE, "answered 410")], at)
        == 1
    )
    assert [row["is_active"] for row in await repository.rows()] == [False]


def key_of(check) -> tuple[int, int]:
    return check.listing_id, check.sighting_id


async def test_a_home_that_one_source_dropped_and_no_other_can_tell_of_goes_when_readers_lose_it(repository):
    await repository.put(home(url="https://homes.example/h/1"))
    await repository.put(home(own_id="zz", url="https://other.example/zz"), source=2, run=RUN + 1)
    (first,) = await repository.verification.due(NOW + 16 * HOUR, 10)
    await repository.verification.record(
        [VerificationResult(*key_of(first), Presence.GONE, "answered 404")], NOW + 16 * HOUR
    )
    assert await repository.verification.end_faded(NOW + 20 * HOUR) == 0
    assert await repository.verification.end_faded(NOW + 21 * HOUR) == 1
    (row,) = await repository.rows()
    assert (row["is_active"], row["gone_at"]) == (False, None)


async def test_a_source_that_may_not_be_asked_leaves_it_to_the_other(repository):
    await repository.put(home(url="https://homes.example/h/1"))
    await repository.put(home(own_id="zz", url="https://other.example/zz"), source=2, run=RUN + 1)
    await repository.say(update(sources).where(sources.c.id == 2).values(enabled=False))
    (check,) = await repository.verification.due(NOW + 16 * HOUR, 10)
    assert check.url == "https://homes.example/h/1"


async def test_a_home_without_a_page_of_its_own_is_never_found_there_on_the_list(repository):
    await repository.put(flat(1, url="https://homes.example#1"), flat(2, url="https://homes.example/h/2"))
    assert [check.url for check in await repository.verification.due(NOW + 16 * HOUR, 10)] == [
        "https://homes.example/h/2"
    ]


@pytest.mark.shows("L4")
async def test_two_flats_that_a_source_numbers_apart_stay_two_beside_anothers_one(repository):
    await repository.put(home(unit=""), source=2, run=RUN + 1)
    kept = await repository.put(home(own_id="a", unit=""), home(own_id="b", unit=""))
    assert (kept.inserted, len(await repository.rows())) == (1, 2)


async def test_two_processes_that_put_the_same_new_homes_at_once_make_one_row_of_each(repository, database):
    others = [Shelf(database, Ids(database)) for _ in range(3)]
    homes = [flat(number) for number in range(1, 40)]
    await asyncio.gather(
        repository.put(*homes),
        others[0].put(*reversed(homes)),
        others[1].put(*homes, source=2, run=RUN + 1),
        others[2].put(*reversed(homes), source=2, run=RUN + 1),
        repository.verification.end_faded(NOW),
    )
    rows = await repository.rows()
    assert (len(rows), len(await repository.rows(listing_sightings))) == (39, 78)
    assert {row["times_seen"] for row in rows} == {4}


@pytest.mark.shows("B11")
async def test_however_many_have_faded_all_are_let_go_in_one_round(repository, monkeypatch):
    monkeypatch.setattr("tidemill.verticals.listings.store.verification.AT_ONCE", 2)
    await repository.put(*(flat(number) for number in range(1, 6)))
    assert await repository.verification.end_faded(NOW + 34 * HOUR) == 5


@pytest.mark.shows("L3")
async def test_what_nobody_could_vouch_for_fades_away_and_is_kept(repository):
    await repository.put(flat(1), flat(2))
    assert await repository.verification.end_faded(NOW + 33 * HOUR) == 0
    assert await repository.verification.end_faded(NOW + 34 * HOUR) == 2
    rows = await repository.rows()
    assert [row["is_active"] for row in rows] == [False, False]
    await repository.put(flat(1), now=NOW + 40 * HOUR)
    assert [row["is_active"] for row in await repository.rows()] == [True, False]


@pytest.mark.shows("O8")
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (RunStatus.REFUSED, (None, None, 2)),
        (RunStatus.QUARANTINED, (None, "quarantined", 0)),
        (RunStatus.SUCCESS, (NOW, "completed", 0)),
    ],
)
async def test_a_market_of_which_nothing_was_asked_is_left_as_it_was(repository, database, status, expected):
    async with database.write() as connection:
        await connection.execute(update(market_configs).values(consecutive_failures=2))
        await repository.repository.close_run(connection, "boston", status, NOW)
        columns = ("last_scrape_at", "last_scrape_status", "consecutive_failures")
        query = select(*(market_configs.c[name] for name in columns)).where(market_configs.c.id == "boston")
        assert tuple((await connection.execute(query)).one()) == expected


@pytest.mark.shows("A1")
async def test_followers_are_told_what_becomes_of_homes(repository, database):
    await repository.put(home(), flat(2))
    await repository.put(home(rent_low=225_000), flat(2, title="Elm"), now=NOW + HOUR)
    await repository.verification.end_faded(NOW + 1_000 * HOUR)
    reads = RecordChangeReads(database, "listings")
    found = await reads.after(0, 100)
    kinds = [each.kind for each in found]
    assert kinds[:2] == ["new", "new"]
    assert sorted(kinds[2:4]) == ["changed", "rent_changed"]
    assert kinds[4:] == ["faded", "faded"]
    assert {each.group for each in found} == {"nyc"}
    assert [each.seq for each in found] == [1, 2, 3, 4, 5, 6]
    rent = next(each for each in found if each.kind == "rent_changed")
    assert rent.changes["rent_low"] == [240_000, 225_000]
    assert [each.seq for each in await reads.after(4, 1)] == [5]
    assert (await reads.newest(), await reads.oldest_cursor()) == (6, 0)
    await repository.say(delete(record_changes).where(record_changes.c.seq <= 4))
    assert await reads.oldest_cursor() == 4


async def past_rows(dataset, moment, **filters):
    then = as_it_was(dataset, moment, NOW + 240 * HOUR)
    return [row.values for row in await then.load(dataset.filters(**filters), None, 100)]


async def test_homes_as_they_were_have_the_rent_of_then_and_none_that_came_or_went_later(repository):
    dataset = listing_dataset(repository.views, PastListings(repository.database, DECAY), SettableClock(NOW))
    await repository.put(flat(1), flat(2))
    await repository.put(flat(1, rent_low=250_000), flat(3), now=NOW + 24 * HOUR)

    async def then(moment):
        rows = await past_rows(dataset, moment)
        return sorted((row["record"]["own_id"], row["rent_low"]) for row in rows)

    assert await then(NOW) == [("1", 240_000), ("2", 240_000)]
    assert await then(NOW + 24 * HOUR) == [("1", 250_000), ("3", 240_000)]  # the second one had faded by then
    later = NOW + 12 * HOUR
    assert {row["freshness_confidence"] for row in await past_rows(dataset, later)} == {64}
    assert await then(NOW - 24 * HOUR) == []
    assert await past_rows(dataset, NOW, rent_from=245_000) == []
