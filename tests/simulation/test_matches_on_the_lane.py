"""Matches on the real live lane in virtual time: ball for ball, whatever happens to sites, processes and database."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from rig.match_lane import MatchLanes
from rig.played import SCRIPTED, SEED, START, all_faults_in_turn, at_times, saved, scripted
from tidemill.core.live.polling import PollPolicy
from tidemill.lab.virtual import run_virtual
from tidemill.verticals.matches.lab.faults import KINDS
from tidemill.verticals.matches.lab.sites import FEED
from tidemill.verticals.matches.lab.timeline import dealt

pytestmark = pytest.mark.shows("M1", "M2", "M3", "M6", "B16")
SECOND = timedelta(seconds=1)
HASTY = PollPolicy(on_break=2.5 * SECOND, imminent=2.5 * SECOND, lists=5 * SECOND)
"""At sixty times the speed a break is over within seconds."""


@pytest.fixture
def lanes(migrated_sqlite_url, tmp_path):
    """Run a story of matches at a speed."""
    file = Path(str(make_url(migrated_sqlite_url).database))

    def play(story, matches, speed):
        async def main(clock):
            world = MatchLanes(clock, file, tmp_path, matches, speed)
            try:
                return await story(world)
            finally:
                await world.close()

        return run_virtual(main, START)

    return play


def told_whole(verdicts, matches):
    assert set(verdicts) == {match.played.id for match in matches}
    for match in matches:
        verdict = verdicts[match.played.id]
        assert verdict.is_clean, (match.played.id, verdict)
        assert verdict.balls == len(match.balls), match.played.id


def test_all_matches_at_sixty_times_the_speed_are_told_ball_for_ball(lanes, shared):
    every = [scripted(name) for name in SCRIPTED] + [dealt(each, SEED, START) for each in saved(shared)]
    matches = every[::4]  # all seventeen at once were told whole too, and take a minute

    async def story(world):
        await world.begin()
        world.process("one", polling=HASTY)
        await world.until_played()
        return await world.verdicts()

    told_whole(lanes(story, matches, 60), matches)


@pytest.mark.parametrize("first", [6, 12])
def test_under_every_fault_in_turn_no_ball_is_lost_doubled_or_told_twice(lanes, shared, first):
    matches = ([scripted(name) for name in SCRIPTED] + [dealt(each, SEED, START) for each in saved(shared)])[first::17]

    async def story(world):
        await world.begin(all_faults_in_turn(matches[0]).scheduled)
        world.process("one", polling=HASTY)
        await world.until_played()
        return await world.verdicts()

    told_whole(lanes(story, matches, 10), matches)


def test_kills_freezes_and_outages_of_the_database_lose_and_double_nothing(lanes):
    matches = [scripted("twenty"), scripted("concussion")]

    async def story(world):
        await world.begin(at_times(FEED, "lag", KINDS["lag"](), matches[0]))
        first = world.process("one", polling=HASTY)
        await world.wait(60 * SECOND)
        second = world.process("two", polling=HASTY)
        await world.wait(5 * SECOND)
        await world.kill(first)
        await world.wait(60 * SECOND)
        third = world.process("three", polling=HASTY)
        second.clock.freeze()
        await world.wait(60 * SECOND)
        second.clock.thaw()
        await world.wait(30 * SECOND)
        world.database.is_away = True
        await world.wait(120 * SECOND)
        world.database.is_away = False
        await world.wait(30 * SECOND)
        await world.stop(third)
        await world.until_played()
        return await world.verdicts()

    told_whole(lanes(story, matches, 10), matches)
