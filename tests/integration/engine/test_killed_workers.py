"""kill -9 in the middle of every stage: nothing lost, nothing doubled, done stages not redone."""

import signal

import pytest

from rig.works import STAGES, stages_done
from tidemill.core.job import LONE_DEATHS, SUSPECT_AFTER
from tidemill.store.schema import dead_letters, jobs, pages, raw_records, record_history, runs, sources, staged_records
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("B1", "O6")

IN_A_STAGE = ["read", "judge", "persist write"]
IN_A_COMMIT = [f"{stage} {moment}" for stage in STAGES for moment in ("commit", "committed")]
ELSEWHERE = ["claim commit", "claim committed"]


@pytest.mark.parametrize("point", [*IN_A_STAGE, *IN_A_COMMIT, *ELSEWHERE])
async def test_a_worker_killed_at_any_point_leaves_its_work_to_be_finished_once(nursery, site, works, point):
    await works.enqueue(await works.source(site))
    async with nursery.child("drain", settings={"database": works.url}, die_at=point, die_count=2) as victim:
        assert await victim.ended() == -signal.SIGKILL
    left = await works.stages()
    seen = len(site.asked)
    async with heir_of(nursery, works) as heir:
        assert await heir.ended() == 0
    assert [said["status"] for said in heir.kinds("TickRan")] == ["ok", "ok"]
    await assert_all_done_once(works)
    assert_nothing_redone(left, site.asked[seen:], victim, heir)


@pytest.mark.parametrize("point", ["close commit", "close committed"])
async def test_a_run_whose_worker_died_between_its_last_job_and_its_summary_is_closed_once(nursery, site, works, point):
    await works.enqueue(await works.source(site))
    async with nursery.child("drain", settings={"database": works.url}, die_at=point) as victim:
        assert await victim.ended() == -signal.SIGKILL
    assert {row["status"] for row in await works.rows(jobs)} == {"done"}
    async with heir_of(nursery, works) as heir:
        assert await heir.ended() == 0
    assert len(heir.kinds("RunClosed")) == (1 if point == "close commit" else 0)
    await assert_all_done_once(works)
    (source,) = await works.rows(sources)
    assert source["historical_count"] == 18


async def test_a_worker_killed_while_a_site_keeps_it_waiting_is_replaced(nursery, site, works):
    await works.enqueue(await works.source(site))
    gate = site.hold("/agenda/3")
    async with nursery.child("drain", settings={"database": works.url}) as victim:
        await gate.arrived.wait()
        victim.signal(signal.SIGKILL)
        assert await victim.ended() == -signal.SIGKILL
    gate.opened.set()
    left = await works.stages()
    seen = len(site.asked)
    assert left["/agenda/3"] == "fetch"
    async with heir_of(nursery, works) as heir:
        assert await heir.ended() == 0
    await assert_all_done_once(works)
    assert_nothing_redone(left, site.asked[seen:], victim, heir)


async def test_a_job_that_takes_its_worker_down_each_time_ends_as_a_dead_letter(nursery, site, works):
    await works.enqueue(await works.source(site, paths=["/agenda/0"]))
    for lives in range(SUSPECT_AFTER + LONE_DEATHS):
        orders = {"settings": {"database": works.url}, "first": ["rescue"], "ahead_seconds": lives * 100}
        async with nursery.child("drain", **orders, die_at="read") as victim:
            assert await victim.ended() == -signal.SIGKILL
    async with heir_of(nursery, works, ahead_seconds=500) as heir:
        assert await heir.ended() == 0
    (letter,) = await works.rows(dead_letters)
    assert (letter["stage"], letter["error_type"]) == ("parse", "worker_died")
    (run,) = await works.rows(runs)
    assert (run["status"], run["urls_failed"], run["open_jobs"]) == ("FAILED", 1, 0)


def heir_of(nursery, works, ahead_seconds=100):
    """A second process, to which the first one's lease has run out."""
    return nursery.child(
        "drain", settings={"database": works.url}, ahead_seconds=ahead_seconds, first=["rescue"], last=["close_runs"]
    )


async def assert_all_done_once(works):
    """Six pages, three events each, seen once; and a run that counts them so."""
    assert {row["status"] for row in await works.rows(jobs)} == {"done"}
    assert [await works.count(table) for table in (pages, raw_records, staged_records)] == [6, 6, 6]
    found = await works.rows(events)
    assert len(found) == 18
    assert {row["times_seen"] for row in found} == {1}
    assert await works.count(record_history) == await works.count(dead_letters) == 0
    (run,) = await works.rows(runs)
    assert (run["status"], run["open_jobs"], run["complete"]) == ("SUCCESS", 0, True)
    assert (run["urls_attempted"], run["urls_succeeded"], run["urls_failed"]) == (6, 6, 0)
    assert (run["records_read"], run["records_accepted"], run["records_inserted"]) == (18, 18, 18)


def assert_nothing_redone(left, asked, victim, heir):
    """What the first worker had written down, the second one took from there; each stage was done once."""
    unfetched = {path for path, stage in left.items() if stage == "fetch"}
    unread = {path for path, stage in left.items() if stage in {"fetch", "parse"}}
    unjudged = {path for path, stage in left.items() if stage in {"fetch", "parse", "normalize"}}
    assert {path for path in asked if path != "/robots.txt"} == unfetched
    assert {path_of(said) for said in heir.kinds("read")} == unread
    assert {path_of(said) for said in heir.kinds("judge")} == unjudged
    done = stages_done(victim.said, heir.said)
    assert set(done.values()) == {1}


def path_of(said):
    return "/agenda" + said["url"].partition("/agenda")[2]
