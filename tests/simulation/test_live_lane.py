"""The live lane in virtual time: what it polls, what it writes, who holds a watch, and what it does in trouble."""

from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise

import pytest

from rig.clock import NOON
from rig.live_world import all_rows, json_response
from tidemill.core.failure import Failure
from tidemill.core.live.lifecycle import Lifecycle, LifecyclePolicy
from tidemill.core.pacing import Pace
from tidemill.pipeline.happenings import BreakerMoved, ChangesCaughtUp, LifeMoved, WatchLost
from tidemill.pipeline.ports import WireFailure, WireResponse
from tidemill.store.schema import jobs, live_moves, live_pages, live_things, pages, runs, sources

pytestmark = pytest.mark.shows("M2", "M6")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
MILLISECOND = timedelta(milliseconds=1)


@asynccontextmanager
async def away(world):
    world.database.is_away = True
    yield
    world.database.is_away = False


def in_order(rows):
    return [row["seq"] for row in rows] == list(range(1, len(rows) + 1))


def test_a_listed_thing_is_found_watched_and_every_change_is_logged_in_order(live):
    async def story(world):
        world.sites.steady("a", 10 * SECOND, NOON)
        await world.store.source()
        process = world.process()
        await world.until(5 * MINUTE)
        rows = await world.log()
        assert in_order(rows)
        assert await world.points() == list(range(30))
        assert [move.after for move in process.of(LifeMoved)] == ["DISCOVERED", "ACTIVE"]
        assert await world.life() == Lifecycle.ACTIVE
        waits = [row["logged_at"] - row["changed_at"] for row in rows]
        assert max(waits) < SECOND
        evidence = {row["id"] for row in await all_rows(world.database, pages)}
        assert evidence == {row["page_id"] for row in rows if row["kind"] == "delta"}

    live(story)


@pytest.mark.inventory(47)
def test_a_thing_in_play_is_polled_every_two_and_a_half_seconds_and_unchanged_polls_write_no_row(live):
    async def story(world):
        world.sites.steady("a", timedelta(hours=1), NOON)
        await world.store.source()
        world.process()
        await world.until(2 * MINUTE)
        before, polls = world.database.writes, len(world.sites.polls("/tally/a"))
        await world.until(12 * MINUTE)
        times = world.sites.polls("/tally/a")[polls:]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert max(gaps) < 2.6 * SECOND
        assert len(times) == 240
        # Two lists a minute aside, only the lane's own heartbeats (4 s) and notes (15 s) touch a row each.
        beats, notes = 150, 40
        assert world.database.writes - before <= beats + notes * 3 + 2
        assert len(await world.log()) == 2

    live(story)


def test_pages_that_are_due_within_a_moment_are_polled_in_one_turn_and_stay_together(live):
    async def story(world):
        for number in range(10):
            world.sites.steady(f"t{number}", timedelta(hours=9), NOON)
        await world.store.source()
        process = world.process()
        await world.until(61 * SECOND)
        now = world.clock.now()
        for place, page in enumerate(page for watch in process.lane.watches for page in watch.pages):
            page.be_due(now + 2 * SECOND + 10 * place * MILLISECOND)  # 100 ms from the first to the last
        world.sites.asked.clear()
        await world.until(2 * MINUTE)
        times = [at for at, _, path in world.sites.asked if path.startswith("/tally")]
        turns = len(set(times)) / (len(times) / 10)
        assert turns <= 3  # in 100 ms there is room for two, and a third may begin
        for number in range(10):
            gaps = [later - earlier for earlier, later in pairwise(world.sites.polls(f"/tally/t{number}"))]
            assert 2.45 * SECOND <= min(gaps) <= max(gaps) < 2.6 * SECOND

    live(story)


def test_a_page_that_fails_is_not_asked_a_moment_before_its_time(live):
    async def story(world):
        world.sites.steady("a", timedelta(hours=9), NOON)
        world.sites.steady("b", timedelta(hours=9), NOON)
        world.sites.faults.append(lambda page, _: json_response({}, 500) if page.endswith("/a") else None)
        await world.store.source()
        process = world.process(lives=LifecyclePolicy(failures_to_pause=10_000))
        due = {}
        for second in range(60, 180):
            await world.until(second * SECOND)
            pages = {page.claimed.target.url: page for watch in process.lane.watches for page in watch.pages}
            failing, good = (next(page for url, page in pages.items() if url.endswith(name)) for name in "ab")
            good.be_due(world.clock.now())
            if not failing.in_flight:
                due[failing.due_at] = True
        asked = world.sites.polls("/tally/a")
        assert len(due) > 10
        for moment in due:
            assert not [at for at in asked if moment - 50 * MILLISECOND <= at < moment]

    live(story)


def test_a_killed_process_is_followed_by_another_within_20_seconds_without_a_gap_in_the_log(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        first = world.process("first")
        await world.until(MINUTE)
        second = world.process("second")
        await world.until(2 * MINUTE)
        assert second.lane.watches == []
        await world.kill(first)
        killed = world.clock.now()
        await world.until(3 * MINUTE)
        after = [at for at in world.sites.polls("/tally/a") if at > killed]
        assert after[0] - killed < 20 * SECOND
        rows = await world.log()
        assert in_order(rows)
        assert (await world.points())[-1] == 35
        assert sorted(await world.points()) == sorted(set(await world.points()))

    live(story)


@pytest.mark.inventory(60)
def test_a_process_that_ends_in_good_order_hands_over_within_5_seconds(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        first = world.process("first")
        await world.until(MINUTE)
        world.process("second")
        await world.until(90 * SECOND)
        await world.stop(first)
        await world.until(2 * MINUTE)
        times = world.sites.polls("/tally/a")
        assert max(later - earlier for earlier, later in pairwise(times)) < 5 * SECOND
        assert in_order(await world.log())

    live(story)


def test_a_frozen_process_that_wakes_writes_nothing_and_lets_go(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        first = world.process("first")
        await world.until(MINUTE)
        second = world.process("second")
        await world.until(90 * SECOND)
        first.clock.freeze()
        await world.until(3 * MINUTE)
        assert len(second.lane.watches) == 2
        first.clock.thaw()
        await world.until(4 * MINUTE)
        assert first.lane.watches == []
        rows = await world.log()
        assert in_order(rows)
        assert sorted(await world.points()) == sorted(set(await world.points()))

    live(story)


def test_while_the_database_is_away_polling_goes_on_and_all_is_written_afterwards_once(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        process = world.process(most_waiting=10)
        await world.until(MINUTE)
        before = len(await world.log())
        async with away(world):
            began = len(world.sites.polls("/tally/a"))
            await world.until(3 * MINUTE)
            assert len(world.sites.polls("/tally/a")) - began >= 40
            status = process.lane.status()
            assert status.waiting_changes >= 20
            assert status.is_spilling
            assert status.store_away_since is not None
            assert list(world.folder.glob("live-changes-*"))
        await world.until(4 * MINUTE)
        rows = await world.log()
        assert len(rows) > before + 20
        assert in_order(rows)
        assert await world.points() == list(range(48))
        assert not list(world.folder.glob("live-changes-*"))
        assert process.of(WatchLost) == []
        [told] = process.of(ChangesCaughtUp)
        assert told.changes >= 20
        assert 115 <= told.away_seconds <= 130

    live(story)


def test_what_waits_in_memory_is_saved_when_the_process_ends_and_written_by_the_next(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        first = world.process("first")
        await world.until(MINUTE)
        async with away(world):
            await world.until(2 * MINUTE)
            await world.stop(first)
        world.process("second")
        await world.until(3 * MINUTE)
        assert in_order(await world.log())
        points = await world.points()
        assert points[:24] == list(range(24))  # all that was read, nothing twice; then the lease had to run out
        assert points == sorted(set(points))
        assert points[-1] == 35

    live(story)


@pytest.mark.inventory(71, 72)
def test_five_failures_pause_a_thing_for_five_minutes_then_one_try_and_its_site_goes_on(live):
    async def story(world):
        for name in ("a", "b"):
            world.sites.steady(name, 5 * SECOND, NOON)
        await world.store.source()
        dead = WireResponse(status_code=500, headers={})
        world.sites.faults.append(
            lambda where, at: dead if where.endswith("/tally/a") and MINUTE < at - NOON < 9 * MINUTE else None
        )
        process = world.process()
        await world.until(12 * MINUTE)
        moves = [(move.after, move.at - NOON) for move in process.of(LifeMoved) if move.key == "a"]
        assert [after for after, _ in moves] == ["DISCOVERED", "ACTIVE", "PAUSED", "ACTIVE"]
        paused = moves[2][1]
        failed = [at - NOON for at in world.sites.polls("/tally/a") if MINUTE < at - NOON < 9 * MINUTE]
        assert len([at for at in failed if at <= paused]) == 5
        tries = [at for at in failed if at > paused]
        assert len(tries) == 1
        assert tries[0] - paused >= timedelta(seconds=300)
        assert len([at for at in world.sites.polls("/tally/b") if at - NOON > MINUTE]) > 250
        assert len(process.health.tries) == 6

    live(story)


def test_a_site_that_fails_as_a_whole_opens_its_breaker_for_a_minute(live):
    async def story(world):
        for name in ("a", "b", "c"):
            world.sites.steady(name, 5 * SECOND, NOON)
        await world.store.source()
        lost = WireFailure(failure=Failure.CONNECTION_LOST, detail="cut")
        world.sites.faults.append(lambda _, at: lost if MINUTE < at - NOON < 90 * SECOND else None)
        process = world.process()
        await world.until(5 * MINUTE)
        moves = [(move.after, move.at - NOON) for move in process.of(BreakerMoved)]
        assert (moves[0][0], moves[-1][0]) == ("OPEN", "CLOSED")
        asked = [at - NOON for at, _, _ in world.sites.asked]
        opened = moves[0][1]
        quiet = [at for at in asked if opened + 3 * SECOND < at < opened + 55 * SECOND]
        assert quiet == []
        assert max(later - earlier for (_, earlier), (_, later) in pairwise(moves)) < 3 * MINUTE
        assert (await world.points("b"))[-1] >= 57

    live(story)


def test_things_that_are_absent_from_two_lists_are_completed_and_come_back(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        process = world.process()
        await world.until(MINUTE + SECOND)
        world.sites.listed["arena.test"].clear()
        await world.until(3 * MINUTE + 10 * SECOND)
        assert await world.life() == Lifecycle.COMPLETED
        world.sites.asked.clear()
        await world.until(4 * MINUTE)
        assert len(world.sites.polls("/tally/a")) <= 1
        world.sites.listed["arena.test"].add("a")
        await world.until(6 * MINUTE)
        assert await world.life() == Lifecycle.ACTIVE
        assert [move.after for move in process.of(LifeMoved)] == ["DISCOVERED", "ACTIVE", "COMPLETED", "ACTIVE"]
        told = [row["moved_to"] for row in await world.log() if row["kind"] == "status"]
        assert told == ["ACTIVE", "COMPLETED", "ACTIVE"]

    live(story)


@pytest.mark.inventory(74, 101)
def test_a_thing_that_has_ended_is_polled_every_five_minutes_archived_later_and_watched_no_more(live):
    async def story(world):
        world.sites.steady("a", timedelta(days=9), NOON)
        world.sites.phases["a"] = "completed"
        await world.store.source()
        process = world.process(lives=LifecyclePolicy(archive_after=timedelta(minutes=20)))
        await world.until(timedelta(minutes=19))
        assert 4 <= len(world.sites.polls("/tally/a")) <= 5
        await world.until(timedelta(minutes=22))
        assert await world.life() == Lifecycle.ARCHIVED
        assert [watch for watch in process.lane.watches if watch.thing is not None] == []
        moved = [row["moved_to"] for row in await all_rows(world.database, live_moves)]
        assert moved == ["DISCOVERED", "COMPLETED", "ARCHIVED"]

    live(story)


def test_each_hour_has_its_own_run_with_its_counts_and_polling_does_not_stop_for_it(live):
    async def story(world):
        world.sites.steady("a", 30 * SECOND, NOON)
        await world.store.source()
        world.process()
        await world.until(timedelta(hours=1, minutes=2))
        made = [row for row in await all_rows(world.database, jobs) if row["url"].endswith("/tally/a")]
        assert [(row["due_at"] - NOON) // timedelta(hours=1) for row in made] == [0, 1]
        assert [row["status"] for row in made] == ["done", "leased"]
        counts = {row["id"]: row for row in await all_rows(world.database, runs)}
        full = counts[made[0]["run_id"]]
        assert 235 <= full["urls_attempted"] == full["urls_succeeded"] <= 240
        assert 20 <= full["records_updated"] <= 21
        times = world.sites.polls("/tally/a")
        assert max(later - earlier for earlier, later in pairwise(times)) < 3 * SECOND
        assert in_order(await world.log())

    live(story, NOON + timedelta(minutes=50))


def test_a_pace_that_does_not_suffice_is_never_exceeded_ages_are_level_and_the_debt_is_shown(live):
    async def story(world):
        names = [f"t{number:02}" for number in range(40)]
        for name in names:
            world.sites.steady(name, timedelta(minutes=20), NOON)
        pace = Pace(timedelta(seconds=0.5), 1, 1)
        await world.store.source(pace=pace)
        process = world.process()
        await world.until(5 * MINUTE)
        asked = sorted(at for at, _, _ in world.sites.asked)
        gaps = [later - earlier for earlier, later in pairwise(asked)]
        assert min(gaps) >= pace.interval
        assert len([at for at in asked if at - NOON > MINUTE]) > 0.9 * 4 * 60 * 2
        now = world.clock.now()
        status = [page for page in process.lane.status().pages if page.thing is not None]
        ages = sorted(now - page.checked_at for page in status)
        assert ages[-1] < 40 * SECOND
        assert max(page.debt for page in status) > 10 * SECOND
        lists = [at for at in world.sites.polls("/live") if at - NOON > MINUTE]
        assert len(lists) > 60  # the list goes first: it tells of all scores

    live(story)


def test_what_a_list_shows_to_have_moved_is_asked_before_what_has_not(live):
    async def story(world):
        names = [f"t{number:02}" for number in range(40)]
        for name in names:
            world.sites.steady(name, timedelta(hours=9), NOON)
        await world.store.source(pace=Pace(timedelta(seconds=0.5), 1, 1))
        world.process()
        await world.until(5 * MINUTE)
        world.sites.scores["t17"] = lambda _: 1
        world.sites.asked.clear()
        await world.until(5 * MINUTE + 8 * SECOND)
        assert await world.points("t17") == [0, 1]

    live(story)


def test_two_processes_share_a_host_without_exceeding_its_pace_also_while_the_database_is_away(live):
    async def story(world):
        for number in range(20):
            world.sites.steady(f"t{number:02}", timedelta(minutes=20), NOON)
        await world.store.source(pace=Pace(timedelta(seconds=0.5), 1, 1))
        first, second = world.process("first", most_watches=11), world.process("second", most_watches=11)
        await world.until(3 * MINUTE)
        assert min(len(first.lane.watches), len(second.lane.watches)) >= 9
        async with away(world):
            await world.until(5 * MINUTE)
        await world.until(6 * MINUTE)
        for begin in range(60, 330, 10):
            window = [at for at, _, _ in world.sites.asked if begin <= (at - NOON).total_seconds() < begin + 10]
            assert len(window) <= 21
        outage = [at for at, _, _ in world.sites.asked if 190 <= (at - NOON).total_seconds() < 290]
        assert len(outage) > 100

    live(story)


@pytest.mark.inventory(98)
def test_a_source_that_is_switched_off_is_not_asked_any_more_and_asked_again_when_it_is_on(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        world.process()
        await world.until(MINUTE)
        await switch(world, on=False)
        await world.until(MINUTE + 3 * SECOND)
        world.sites.asked.clear()
        await world.until(2 * MINUTE)
        assert world.sites.asked == []
        await switch(world, on=True)
        await world.until(3 * MINUTE)
        assert len(world.sites.polls("/tally/a")) > 20
        assert await world.life() == Lifecycle.ACTIVE

    live(story)


async def switch(world, *, on):
    async with world.database.write() as connection:
        await connection.execute(sources.update().values(enabled=on))


@pytest.mark.inventory(61, 103)
def test_errors_slow_polling_down_and_a_scrape_takes_45_seconds_at_most(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        hang = WireFailure(failure=Failure.TIMED_OUT, detail="nothing came")
        world.sites.faults.append(
            lambda where, at: hang if where.endswith("/a") and MINUTE < at - NOON < 3 * MINUTE else None
        )
        process = world.process()
        await world.until(3 * MINUTE)
        failed = [each.at - NOON for each in process.health.tries]
        assert len(failed) >= 4
        assert failed[2] - failed[0] < 45 * SECOND

    live(story)


def test_caps_are_kept_and_shown(live):
    async def story(world):
        for number in range(5):
            world.sites.steady(f"t{number}", MINUTE, NOON)
        await world.store.source()
        process = world.process(most_watches=3)
        await world.until(2 * MINUTE)
        assert len(process.lane.watches) == 3
        other = world.process("other")
        await world.until(3 * MINUTE)
        assert len(other.lane.watches) == 3

    live(story)


def test_garbage_is_a_failure_of_the_page_and_the_next_good_page_is_read(live):
    async def story(world):
        world.sites.steady("a", 5 * SECOND, NOON)
        await world.store.source()
        garbage = json_response("?")
        broken = WireResponse(status_code=200, headers={}, body=b"<html>")
        world.sites.faults.append(
            lambda where, at: (
                (garbage if at.second % 2 else broken)
                if where.endswith("/a") and MINUTE < at - NOON < MINUTE + 8 * SECOND
                else None
            )
        )
        process = world.process()
        await world.until(2 * MINUTE)
        assert {each.failure for each in process.health.tries} <= {Failure.LAYOUT_CHANGED, Failure.BUG}
        assert (await world.points())[-1] == 23
        assert in_order(await world.log())
        (page,) = await all_rows(world.database, live_pages)
        assert page["checked_at"] - NOON > 100 * SECOND

    live(story)


def test_a_lane_with_nothing_to_watch_rests_and_asks_nobody(live):
    async def story(world):
        process = world.process()
        await world.running.pop(process)
        assert world.clock.now() == NOON
        world.sites.steady("a", 5 * SECOND, NOON)
        source = await world.store.source()
        again = world.process("again")
        await world.until(MINUTE)
        assert len(again.lane.watches) == 2
        async with world.database.write() as connection:
            await connection.execute(sources.update().values(enabled=False))
            await connection.execute(live_things.update().values(lifecycle=Lifecycle.ARCHIVED))
            await connection.execute(jobs.update().values(status="done", fence=jobs.c.fence + 1))
        await world.until(3 * MINUTE)
        assert world.running.pop(again).done()
        assert source.enabled

    live(story)
