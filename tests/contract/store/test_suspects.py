"""Jobs whose page was being read when workers died: taken last and alone, and buried only if they die so."""

from datetime import timedelta

import pytest

from rig.mill import at_stage, harvest
from tidemill.core.failure import Failure
from tidemill.core.job import LONE_DEATHS, SUSPECT_AFTER
from tidemill.core.outcome import Snooze, Stage
from tidemill.store.ledger.suspects import PATIENCE
from tidemill.store.schema import dead_letters, jobs, runs, sources, targets

pytestmark = pytest.mark.shows("O6", "P3")

OVER_A_LEASE = timedelta(seconds=90)


async def to_parse(mill, claimed):
    """Let the job's page be there to be read."""
    if claimed.job.stage is Stage.FETCH:
        outcome = mill.fetched(claimed)
        await mill.commit((claimed, outcome))
        return at_stage(claimed, Stage.PARSE, outcome.produced.page.id)
    return claimed


async def let_die(mill, limit=100):
    """A worker takes jobs, has their pages before it, and dies; answers the jobs."""
    held = await mill.claim(await mill.worker("victim"), limit)
    for each in held:
        await to_parse(mill, each)
    mill.clock.advance(OVER_A_LEASE)
    await mill.workers.rescue(mill.clock.now())
    return [each.job.id for each in held]


async def finish(mill, claimed):
    """Carry a resumed job to its end."""
    page = mill.page(url=claimed.job.url)
    judged = mill.judged(page, ["Kermis"], claimed.source)
    await mill.commit((claimed, mill.parsed(page, ["Kermis"])))
    await mill.commit((at_stage(claimed, Stage.NORMALIZE, page.id), judged))
    await mill.commit((at_stage(claimed, Stage.PERSIST, page.id), harvest(judged.produced)))


async def test_a_death_counts_against_the_job_whose_page_was_being_read_and_nobody_else(mill):
    await mill.enqueue(await mill.source(pages=2))
    reading, fetching = await mill.claim(await mill.worker("victim"))
    await to_parse(mill, reading)
    mill.clock.advance(OVER_A_LEASE)
    (rescued,) = await mill.workers.rescue(mill.clock.now())
    assert rescued.jobs == 2
    rows = {row["id"]: row for row in await mill.rows(jobs)}
    assert (rows[reading.job.id]["deaths"], rows[fetching.job.id]["deaths"]) == (1, 0)
    assert {(row["status"], row["attempts"]) for row in rows.values()} == {("ready", 0)}
    assert {row["consecutive_failures"] for row in await mill.rows(targets)} == {0}
    assert {row["consecutive_failures"] for row in await mill.rows(sources)} == {0}


async def test_suspects_are_claimed_last_and_one_at_a_time(mill):
    await mill.enqueue(await mill.source(pages=3))
    suspects = await let_die(mill)
    assert await let_die(mill) == suspects, "after one death all are resumed together"
    assert {row["status"] for row in await mill.rows(jobs)} == {"waiting"}
    await mill.enqueue(await mill.source("ede", pages=1))
    worker, other = await mill.worker(), await mill.worker("other")
    (fresh,) = await mill.claim(worker)
    assert fresh.job.id not in suspects
    assert await mill.claim(worker) == [], "its hands are not free"
    (second,) = await mill.claim(other)
    assert (second.job.id, second.job.deaths, second.job.stage) == (suspects[0], 2, Stage.PARSE)
    await mill.carry(fresh)
    (first,) = await mill.claim(worker)
    assert first.job.id == suspects[1]
    await mill.enqueue(await mill.source("breda", pages=1))
    assert await mill.claim(worker) == [], "nothing is taken beside a suspect"
    await finish(mill, first)
    (news,) = await mill.claim(worker)
    assert news.job.id not in suspects, "what is no suspect goes first"


async def test_when_only_suspects_wait_a_worker_looks_again_soon(mill):
    await mill.enqueue(await mill.source(pages=1))
    for _ in range(SUSPECT_AFTER):
        await let_die(mill)
    moment = await mill.ledger.next_moment(mill.clock.now(), "http")
    assert moment == mill.clock.now() + timedelta(seconds=1)
    assert await mill.ledger.next_moment(mill.clock.now(), "browser") is None


async def test_only_the_one_that_dies_alone_is_buried_and_it_counts_against_nobody(mill):
    await mill.enqueue(await mill.source(pages=3))
    for _ in range(SUSPECT_AFTER):
        guilty, *innocent = await let_die(mill)
    for _ in range(LONE_DEATHS):
        assert await mill.rows(dead_letters) == []
        assert await let_die(mill) == [guilty]
    worker = await mill.worker()
    for expected in innocent:
        (claimed,) = await mill.claim(worker)
        assert claimed.job.id == expected
        await finish(mill, claimed)
    assert await mill.claim(worker) == []
    (letter,) = await mill.rows(dead_letters)
    assert (letter["job_id"], letter["error_type"], letter["stage"]) == (guilty, Failure.WORKER_DIED, "parse")
    assert letter["error_message"] == "5 workers died while they had its page, the last 3 of them alone with it"
    assert [row["status"] for row in await mill.rows(jobs)] == ["dead", "done", "done"]
    assert {row["consecutive_failures"] for row in await mill.rows(targets)} == {0}
    assert {row["consecutive_failures"] for row in await mill.rows(sources)} == {0}
    (run,) = await mill.rows(runs)
    assert (run["open_jobs"], run["urls_failed"], run["urls_succeeded"]) == (0, 1, 2)


async def test_a_worker_that_never_runs_out_of_work_frees_its_hands_for_suspects_in_the_end(mill):
    await mill.enqueue(await mill.source(pages=1))
    for _ in range(SUSPECT_AFTER):
        (suspect,) = await let_die(mill)
    await mill.enqueue(await mill.source("ede", pages=3))
    busy = await mill.worker()
    (first,) = await mill.claim(busy, 1)
    (second,) = await mill.claim(busy, 1)
    mill.clock.advance(PATIENCE)
    assert await mill.claim(busy) == []
    for each in (first, second):
        await mill.carry(each)
    (claimed,) = await mill.claim(busy)
    assert claimed.job.id == suspect


async def test_a_suspect_that_waited_or_was_handed_back_is_a_suspect_still(mill):
    await mill.enqueue(await mill.source(pages=2))
    for _ in range(SUSPECT_AFTER):
        await let_die(mill)
    worker = await mill.worker()
    (claimed,) = await mill.claim(worker)
    await mill.commit((claimed, Snooze(mill.clock.now() + timedelta(minutes=1), "later")))
    (other,) = await mill.claim(worker)
    assert other.job.id != claimed.job.id
    await mill.workers.sign_off(worker, mill.clock.now())
    mill.clock.advance(timedelta(minutes=2))
    heir = await mill.worker("heir")
    assert len(await mill.claim(heir)) == 1
    assert await mill.claim(heir) == []
    assert {(row["status"], row["deaths"]) for row in await mill.rows(jobs)} == {("leased", 2), ("waiting", 2)}


async def test_a_letter_of_a_suspect_is_tried_again_alone(mill):
    await mill.enqueue(await mill.source(pages=1))
    for _ in range(SUSPECT_AFTER + LONE_DEATHS):
        await let_die(mill)
    (letter,) = await mill.rows(dead_letters)
    assert [run.jobs for run in await mill.letters.retry([letter["id"]], mill.clock.now())] == [1]
    (row,) = await mill.rows(jobs)
    assert (row["status"], row["deaths"], row["not_before"]) == ("waiting", SUSPECT_AFTER, None)
    (claimed,) = await mill.claim(await mill.worker())
    assert claimed.job.stage is Stage.PARSE


async def test_a_page_that_a_browser_renders_is_in_danger_while_it_is_fetched(mill):
    await mill.enqueue(await mill.source(pages=1))
    async with mill.database.write() as connection:
        await connection.execute(jobs.update().values(lane="browser"))
    for _ in range(SUSPECT_AFTER):
        await mill.ids.reserve(100)
        (claimed,) = await mill.ledger.claim("browser", 10, await mill.worker("victim"), mill.clock.now())
        mill.clock.advance(OVER_A_LEASE)
        await mill.workers.rescue(mill.clock.now())
    (row,) = await mill.rows(jobs)
    assert (row["status"], row["deaths"], row["current_stage"]) == ("waiting", 2, "fetch")
    (claimed,) = await mill.ledger.claim("browser", 10, await mill.worker(), mill.clock.now())
    assert claimed.job.deaths == SUSPECT_AFTER
