"""Real processes that watch matches are killed, frozen and stopped, readers are cut: no ball is lost."""

import signal
from datetime import datetime, timedelta

import aiohttp
import pytest

from rig.match_logs import faults_so_far, logs_of
from rig.match_processes import match_processes

pytestmark = pytest.mark.shows("M6", "X8", "B16")
LEASE = 15
TAKEN_OVER_WITHIN = 20
HANDED_OVER_WITHIN = 5


async def test_kills_freezes_and_handovers_cost_no_ball_and_readers_end_identical(nursery, migrated_postgres_url):
    async with (
        match_processes(
            nursery, migrated_postgres_url, ("twenty", "concussion"), speed=10, under_way=timedelta(minutes=5)
        ) as world,
        aiohttp.ClientSession() as session,
    ):
        await world.begin()
        await world.serve()
        async with world.process() as one:
            await one.until("ChangeLogged")
            async with world.reader(session) as reader, world.process() as two, world.process() as three:
                assert await world.owner([one, two, three]) is one
                await world.polled_for(LEASE + 2)  # the others trust themselves to tell who is dead
                one.signal(signal.SIGKILL)
                second = await world.owner([two, three])
                third = three if second is two else two
                await second.until("ChangeLogged")
                assert world.longest_gap() <= TAKEN_OVER_WITHIN
                await world.restart_web()

                frozen_at = len(world.server.log)
                second.signal(signal.SIGSTOP)
                assert await world.owner([two, three], not_one=second) is third
                await third.until("ChangeLogged")
                assert world.longest_gap(frozen_at) <= TAKEN_OVER_WITHIN
                thawed_at = world.system.clock.now()
                second.signal(signal.SIGCONT)
                for _ in range(5):  # two matches and three lists
                    await second.until("WatchLost")
                logged = [datetime.fromisoformat(said["at"]) for said in second.kinds("ChangeLogged")]
                assert [at for at in logged if at > thawed_at] == []

                world.cut()
                stopped_at = len(world.server.log)
                third.signal(signal.SIGTERM)
                assert await third.ended() == 0
                assert await world.owner([two, three]) is second
                await second.until("ChangeLogged")
                assert world.longest_gap(stopped_at) <= HANDED_OVER_WITHIN
                second.signal(signal.SIGTERM)
                assert await second.ended() == 0
                await world.holds_what_the_server_has(reader)
                assert reader.connections >= 3
                assert reader.follower.resyncs == []  # every cut and restart could be resumed: nothing was missed
        logs = await logs_of(world.system.store.database)
        assert {match.played.title: faults_so_far(match, logs[match.played.title]) for match in world.matches} == {
            match.played.title: [] for match in world.matches
        }
        assert world.troubles == []
