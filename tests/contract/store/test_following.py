"""Lists over several pages, the same on SQLite and on PostgreSQL."""

from datetime import timedelta

import msgspec
import pytest

from rig.mill import at_stage, harvest
from tidemill.core.failure import Failure
from tidemill.core.outcome import Advance, Fail, Stage
from tidemill.core.pagination import FOLLOWED, onward_addresses
from tidemill.core.run import Trigger
from tidemill.store.schema import hosts, jobs, runs, target_pages, targets
from tidemill.verticals.events.store.tables import events

FIRST = "https://arnhem.test/agenda/0"


def page_of(number):
    return f"{FIRST}?page={number}"


@pytest.fixture
async def source(mill):
    return await mill.source()


@pytest.fixture
async def worker(mill, source):
    await mill.enqueue(source)
    return await mill.worker()


async def read_page(mill, claimed, titles, next_url=None, body=b"<p>agenda</p>"):
    """Carry a page through, its list going on at `next_url`; answers the commit of its reading."""
    outcome = mill.fetched(claimed, body)
    await mill.commit((claimed, outcome))
    page = outcome.produced.page
    parsed = mill.parsed(page, titles).produced
    found = msgspec.structs.replace(parsed.found, next_url=next_url)
    reading = Advance(Stage.NORMALIZE, msgspec.structs.replace(parsed, found=found))
    _, committed = await mill.commit((at_stage(claimed, Stage.PARSE, page.id), reading))
    judged = msgspec.structs.replace(mill.judged(page, titles, claimed.source).produced, next_url=next_url)
    await mill.commit((at_stage(claimed, Stage.NORMALIZE, page.id), Advance(Stage.PERSIST, judged)))
    await mill.commit((at_stage(claimed, Stage.PERSIST, page.id), harvest(judged)))
    return committed


async def read_three(mill, worker):
    (one,) = await mill.claim(worker)
    await read_page(mill, one, ["Kermis"], page_of(2), b"one")
    (two,) = await mill.claim(worker)
    await read_page(mill, two, ["Markt"], page_of(3), b"two")
    (three,) = await mill.claim(worker)
    await read_page(mill, three, ["Fanfare"], None, b"three")
    (run, *_) = sorted(await mill.rows(runs), key=lambda row: -row["id"])
    return await mill.ledger.runs.close(run["id"], mill.clock.now())


async def test_a_page_that_leads_on_makes_a_job_in_the_same_run(mill, worker):
    (claimed,) = await mill.claim(worker)
    committed = await read_page(mill, claimed, ["Kermis"], page_of(2))
    assert committed.followed == 1
    first, second = await mill.rows(jobs)
    assert (second["url"], second["page_number"], second["status"]) == (page_of(2), 2, "ready")
    same = ("run_id", "target_id", "due_at", "lane", "host", "rank", "trigger", "adapter_id")
    assert [first[name] for name in same] == [second[name] for name in same]
    assert [row["open_jobs"] for row in await mill.rows(runs)] == [1]
    assert [row["has_work"] for row in await mill.rows(hosts)] == [True]


@pytest.mark.shows("X6")
async def test_a_list_is_read_to_its_end_and_the_run_is_complete(mill, worker):
    summary = await read_three(mill, worker)
    assert summary.complete, summary.doubts
    assert summary.counts.urls_succeeded == 3
    assert sorted(row["title"] for row in await mill.rows(events)) == ["Fanfare", "Kermis", "Markt"]


@pytest.mark.shows("R4")
async def test_asking_twice_for_a_page_makes_one_job(mill, worker):
    (claimed,) = await mill.claim(worker)
    outcome = mill.fetched(claimed)
    await mill.commit((claimed, outcome))
    page = outcome.produced.page
    parsed = mill.parsed(page, ["Kermis"]).produced
    found = msgspec.structs.replace(parsed.found, next_url=page_of(2))
    reading = Advance(Stage.NORMALIZE, msgspec.structs.replace(parsed, found=found))
    for _ in range(2):  # as after a crash that hid the first commit from its worker
        await mill.commit((at_stage(claimed, Stage.PARSE, page.id), reading))
    assert len(await mill.rows(jobs)) == 2
    (run,) = await mill.rows(runs)
    assert (run["open_jobs"], run["pages_followed"]) == (2, 1)


async def test_a_list_that_leads_back_ends_there(mill, worker):
    (one,) = await mill.claim(worker)
    await read_page(mill, one, ["Kermis"], page_of(2))
    (two,) = await mill.claim(worker)
    committed = await read_page(mill, two, ["Markt"], FIRST)
    assert committed.followed == 0
    (run,) = await mill.rows(runs)
    assert (run["open_jobs"], run["truncated_pages"]) == (0, 0)


@pytest.mark.shows("X6")
async def test_a_list_longer_than_its_source_allows_is_not_complete(mill):
    await mill.enqueue(await mill.source(max_pages=2))
    worker = await mill.worker()
    (one,) = await mill.claim(worker)
    await read_page(mill, one, ["Kermis"], page_of(2))
    (two,) = await mill.claim(worker)
    await read_page(mill, two, ["Markt"], page_of(3))
    assert await mill.claim(worker) == []
    (run,) = await mill.rows(runs)
    summary = await mill.ledger.runs.close(run["id"], mill.clock.now())
    assert not summary.complete
    assert summary.doubts == ("truncated: 1 pages were cut short",)


async def test_a_next_page_on_another_site_is_not_asked_for(mill, worker):
    (one,) = await mill.claim(worker)
    await read_page(mill, one, ["Kermis"], "https://elsewhere.test/agenda?page=2")
    assert len(await mill.rows(jobs)) == 1
    (run,) = await mill.rows(runs)
    assert run["truncated_pages"] == 1


@pytest.mark.shows("X6")
async def test_a_further_page_that_dies_leaves_the_target_well_and_the_run_in_doubt(mill, worker):
    (one,) = await mill.claim(worker)
    await read_page(mill, one, ["Kermis"], page_of(2))
    (two,) = await mill.claim(worker)
    await mill.commit((two, Fail(Failure.NOT_FOUND, "404")))
    (target,) = await mill.rows(targets)
    assert (target["last_status"], target["consecutive_failures"]) == ("SUCCESS", 0)
    (run,) = await mill.rows(runs)
    summary = await mill.ledger.runs.close(run["id"], mill.clock.now())
    assert summary.doubts == ("pages: 1 of 2 pages answered",)


async def test_every_page_has_a_last_good_page_of_its_own(mill, source, worker):
    await read_three(mill, worker)
    mill.clock.advance(timedelta(days=1))
    await mill.enqueue(source)
    (one,) = await mill.claim(worker)
    await mill.commit((one, mill.unchanged(one, b"one")))
    (two,) = await mill.claim(worker)
    good = {row["page_number"]: row["good_page_id"] for row in await mill.rows(target_pages)}
    assert sorted(good) == [2, 3]
    assert (two.job.page_number, two.target.good_page_id) == (2, good[2])
    assert one.target.good_page_id not in good.values()


async def test_unchanged_pages_lead_on_and_everything_on_them_is_seen_again(mill, source, worker):
    await read_three(mill, worker)
    mill.clock.advance(timedelta(days=1))
    await mill.enqueue(source)
    now = mill.clock.now()
    for body in (b"one", b"two", b"three"):
        (claimed,) = await mill.claim(await mill.worker())
        await mill.commit((claimed, mill.unchanged(claimed, body)))
    assert [row["last_seen_at"] for row in await mill.rows(events)] == [now] * 3
    run = max(await mill.rows(runs), key=lambda row: row["id"])
    summary = await mill.ledger.runs.close(run["id"], now)
    assert summary.complete, summary.doubts
    assert (summary.counts.pages_unchanged, summary.counts.records_seen_again) == (3, 3)


async def test_a_page_in_the_middle_that_changed_is_read_while_its_neighbours_are_only_seen(mill, source, worker):
    await read_three(mill, worker)
    mill.clock.advance(timedelta(days=1))
    await mill.enqueue(source)
    (one,) = await mill.claim(worker)
    await mill.commit((one, mill.unchanged(one, b"one")))
    (two,) = await mill.claim(worker)
    await read_page(mill, two, ["Markt", "Nachtmarkt"], page_of(3), b"two, and more")
    (three,) = await mill.claim(worker)
    assert three.job.url == page_of(3)
    await mill.commit((three, mill.unchanged(three, b"three")))
    assert "Nachtmarkt" in {row["title"] for row in await mill.rows(events)}


async def test_a_page_that_moved_is_not_taken_for_what_stood_in_its_place(mill, source, worker):
    await read_three(mill, worker)
    mill.clock.advance(timedelta(days=1))
    await mill.enqueue(source)
    (one,) = await mill.claim(worker)
    await read_page(mill, one, ["Kermis"], f"{FIRST}?after=9", b"one again")
    (two,) = await mill.claim(worker)
    assert (two.job.url, two.target.good_page_id, two.target.etag) == (f"{FIRST}?after=9", None, "")


async def test_a_dead_further_page_comes_back_as_the_page_it_was(mill, worker):
    (one,) = await mill.claim(worker)
    await read_page(mill, one, ["Kermis"], page_of(2))
    (two,) = await mill.claim(worker)
    await mill.commit((two, Fail(Failure.NOT_FOUND, "404")))
    async with mill.database.write() as connection:  # retention has taken the job meanwhile
        await connection.execute(jobs.delete().where(jobs.c.id == two.job.id))
    letter = await mill.scalar("SELECT id FROM dead_letter_queue")
    assert [run.jobs for run in await mill.letters.retry([letter], mill.clock.now())] == [1]
    (again,) = await mill.claim(worker)
    assert (again.job.page_number, again.job.url, again.job.trigger) == (2, page_of(2), Trigger.RETRY)


async def test_a_page_that_leads_to_several_makes_a_job_for_each_once(mill, worker):
    (claimed,) = await mill.claim(worker)
    onward = onward_addresses(None, [page_of(7), page_of(8), f"{page_of(7)}#again", "https://elsewhere.test/"])
    committed = await read_page(mill, claimed, ["Kermis"], onward)
    assert committed.followed == 2
    first, *followed = await mill.rows(jobs)
    assert first["page_number"] == 1
    assert sorted(row["url"] for row in followed) == [page_of(7), page_of(8)]
    assert all(row["page_number"] >= FOLLOWED for row in followed)
    assert [row["open_jobs"] for row in await mill.rows(runs)] == [2]
    (seven,) = await mill.claim(worker, 1)
    assert (await read_page(mill, seven, ["Markt"], onward_addresses(None, [page_of(8)]))).followed == 0
