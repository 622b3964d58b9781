"""What becomes of records that are seen again, change, or are seen no more; the same on both databases."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from rig.mill import accept, at_stage, event, harvest
from tidemill.core.failure import Failure
from tidemill.core.identity import signed_checksum
from tidemill.core.outcome import Advance, Fail, Stage
from tidemill.core.pacing import Pace
from tidemill.core.run import RunStatus
from tidemill.pipeline.checkpoints import Judged
from tidemill.pipeline.ports import StoreError
from tidemill.store.database.batches import AT_ONCE
from tidemill.store.records.repository import CompleteRun
from tidemill.store.schema import record_history, rejected_records, runs
from tidemill.verticals.events.store.repository import EventRepository
from tidemill.verticals.events.store.tables import events

SECOND = timedelta(seconds=1)
POLITE = Pace()


@pytest.mark.shows("F7")
async def test_seen_again_updates_every_record_of_an_unchanged_page_and_writes_no_history(mill):
    key = await mill.source()
    worker = await mill.worker()
    await mill.enqueue(key)
    (claimed,) = await mill.claim(worker)
    await mill.carry(claimed, ["Kermis", "Markt"])
    await mill.ledger.runs.close(claimed.job.run_id, mill.clock.now())
    later = mill.clock.advance(timedelta(days=1))
    await mill.enqueue(key)
    (claimed,) = await mill.claim(worker)
    await mill.commit((claimed, mill.unchanged(claimed)))
    rows = await mill.rows(events)
    assert [(row["last_seen_at"], row["times_seen"]) for row in rows] == [(later, 2), (later, 2)]
    assert await mill.rows(record_history) == []
    summary = await mill.ledger.runs.close(claimed.job.run_id, mill.clock.now())
    assert summary.counts.records_seen_again == 2


async def scrape(mill, key, worker, titles, body):
    """One whole run over a source's single page."""
    await mill.enqueue(key)
    (claimed,) = await mill.claim(worker)
    await mill.carry(claimed, titles, body)
    summary = await mill.ledger.runs.close(claimed.job.run_id, mill.clock.now())
    mill.clock.advance(timedelta(days=1))
    return summary


@pytest.mark.shows("X6")
async def test_what_two_complete_runs_did_not_see_is_gone_and_comes_back_when_seen(mill):
    key, worker = await mill.source(), await mill.worker()
    await scrape(mill, key, worker, ["Kermis", "Markt"], b"1")
    first = await scrape(mill, key, worker, ["Markt"], b"2")
    second = await scrape(mill, key, worker, ["Markt"], b"3")
    assert (first.removed, second.removed) == (0, 1)
    kermis, markt = await mill.rows(events)
    assert kermis["gone_at"] is not None
    assert markt["gone_at"] is None
    back = await scrape(mill, key, worker, ["Kermis", "Markt"], b"4")
    assert back.counts.records_updated == 1
    assert (await mill.rows(events))[0]["gone_at"] is None
    assert [row["kind"] for row in await mill.rows(record_history)] == ["gone", "returned"]


@pytest.mark.shows("X6")
async def test_a_run_that_was_not_complete_removes_nothing(mill):
    key, worker = await mill.source(pages=2), await mill.worker()
    await mill.enqueue(key)
    for each, titles in zip(await mill.claim(worker), (["Kermis"], ["Markt"]), strict=True):
        await mill.carry(each, titles)
        await mill.ledger.runs.close(each.job.run_id, mill.clock.now())
    for body in (b"2", b"3", b"4"):
        mill.clock.advance(timedelta(days=1))
        await mill.enqueue(key)
        good, bad = await mill.claim(worker)
        await mill.carry(good, ["Kermis"], body)
        await mill.commit((bad, Fail(Failure.LAYOUT_CHANGED, "redesigned")))
        summary = await mill.ledger.runs.close(bad.job.run_id, mill.clock.now())
        assert not summary.complete
        assert summary.status is RunStatus.PARTIAL
        assert summary.removed == 0
    assert await mill.scalar("SELECT count(*) FROM events WHERE gone_at IS NOT NULL") == 0


@pytest.mark.shows("N4")
async def test_a_change_is_history_field_by_field(mill):
    key, worker = await mill.source(), await mill.worker()
    await scrape(mill, key, worker, ["Kermis"], b"1")
    await mill.enqueue(key)
    (claimed,) = await mill.claim(worker)
    outcome = mill.fetched(claimed, b"2")
    page = outcome.produced.page
    await mill.commit((claimed, outcome))
    await mill.commit((at_stage(claimed, Stage.PARSE, page.id), mill.parsed(page, ["Kermis"])))
    moved = mill.judged(page, ["Kermis"], claimed.source)
    moved.produced.accepted[0] = accept("Kermis", event("Kermis", key, venue="Markt"))
    await mill.commit((at_stage(claimed, Stage.NORMALIZE, page.id), moved))
    await mill.commit((at_stage(claimed, Stage.PERSIST, page.id), harvest(moved.produced)))
    (change,) = await mill.rows(record_history)
    assert change["changes"]["venue_name"] == ["Korenmarkt", "Markt"]
    assert len(await mill.rows(events)) == 1


@pytest.mark.shows("N4")
async def test_one_identity_on_two_pages_of_a_batch_is_one_record(mill):
    key, worker = await mill.source(pages=2), await mill.worker()
    await mill.enqueue(key)
    batch = []
    for each in await mill.claim(worker):
        outcome = mill.fetched(each)
        page = outcome.produced.page
        await mill.commit((each, outcome))
        await mill.commit((at_stage(each, Stage.PARSE, page.id), mill.parsed(page, ["Kermis"])))
        judged = mill.judged(page, ["Kermis"], each.source)
        await mill.commit((at_stage(each, Stage.NORMALIZE, page.id), judged))
        batch.append((at_stage(each, Stage.PERSIST, page.id), harvest(judged.produced)))
    _, done = await mill.commit(*batch)
    assert len(await mill.rows(events)) == 1
    assert sorted((kept.inserted, kept.unchanged) for kept in done.kept.values()) == [(0, 1), (1, 0)]


async def test_an_event_whose_hash_another_has_is_refused_and_harms_nobody(mill):
    key, worker = await mill.source(), await mill.worker()
    await scrape(mill, key, worker, ["Kermis"], b"1")
    async with mill.database.write() as connection:
        await connection.execute(events.update().values(identity_hash=signed_checksum(b"Markt")))
    await mill.enqueue(key)
    (claimed,) = await mill.claim(worker)
    with pytest.raises(StoreError, match=r"(?i)unique"):
        await mill.carry(claimed, ["Markt"], b"2")
    assert [row["title"] for row in await mill.rows(events)] == ["Kermis"]


@pytest.mark.shows("N1")
async def test_every_rejected_record_is_kept_with_its_reason_and_counted(mill):
    await mill.enqueue(await mill.source())
    (claimed,) = await mill.claim(await mill.worker())
    outcome = mill.fetched(claimed)
    page = outcome.produced.page
    await mill.commit((claimed, outcome))
    await mill.commit((at_stage(claimed, Stage.PARSE, page.id), mill.parsed(page, ["Kermis", "?", "?"])))
    judged = mill.judged(page, ["Kermis"], claimed.source, dropped=["one", "two"])
    await mill.commit((at_stage(claimed, Stage.NORMALIZE, page.id), judged))
    kept = await mill.rows(rejected_records)
    assert [(row["verdict"], row["reason"], row["detail"]) for row in kept] == [
        ("dropped", "NO_DATE", "one"),
        ("dropped", "NO_DATE", "two"),
    ]
    (run,) = await mill.rows(runs)
    assert (run["records_read"], run["records_accepted"], run["records_dropped"]) == (3, 1, 2)


@pytest.mark.shows("E2")
async def test_the_two_hours_of_the_night_when_clocks_go_back_are_kept_apart(mill):
    await mill.enqueue(await mill.source())
    (held,) = await mill.claim(await mill.worker())
    page = mill.fetched(held).produced.page
    half_past_two = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Amsterdam"))
    hours = {"first": half_past_two, "second": half_past_two.replace(fold=1)}
    accepted = [accept(name, event(name, held.source.id, starts=hour)) for name, hour in hours.items()]
    judged = Advance(Stage.PERSIST, Judged(page, "events.generic@1.0.0", accepted, []))
    await mill.commit((at_stage(held, Stage.PERSIST, page.id), harvest(judged.produced)))
    kept = {row["title"]: row["event_date"] for row in await mill.rows(events)}
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert kept == {"first": first, "second": first + timedelta(hours=1)}


async def test_however_much_runs_did_not_see_all_of_it_counts(mill):
    key = await mill.source()
    await mill.enqueue(key)
    (held,) = await mill.claim(await mill.worker())
    await mill.ids.reserve(20_000)
    await mill.carry(held, [f"Kermis {number}" for number in range(AT_ONCE + 7)])
    await mill.ledger.runs.close(held.job.run_id, mill.clock.now())
    mill.clock.advance(timedelta(hours=1))
    await mill.enqueue(key)
    (later,) = await mill.claim(await mill.worker())
    over = [CompleteRun(later.job.run_id, key, mill.clock.now())]
    async with mill.database.write() as connection:
        gone = await EventRepository(mill.ids).miss(connection, over, mill.clock.now(), 1)
    assert gone == {later.job.run_id: AT_ONCE + 7}
    assert all(row["gone_at"] and row["missed_runs"] == 1 for row in await mill.rows(events))
    assert len(await mill.rows(record_history, kind="gone")) == AT_ONCE + 7
