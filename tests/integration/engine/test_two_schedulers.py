"""Two schedulers at once: each due target once per window, each piece of periodic work once per slot."""

from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from rig.clock import NOON
from rig.works import the_works
from tidemill.core.run import Trigger
from tidemill.store.schema import jobs, runs, targets, tick_slots

pytestmark = pytest.mark.shows("B12")

ROUNDS = 12


@pytest.mark.shows("O2")
async def test_two_schedulers_enqueue_each_due_target_once_per_window(nursery, site, works):
    for name, paths in (("odd", site.paths[::2]), ("even", site.paths[1::2])):
        await works.source(site, name, paths)
    async with two_schedulers(nursery, works) as pair:
        for number in range(1, ROUNDS + 1):
            await works.make_due()
            await both(pair, "dispatch")
            found = await works.rows(jobs)
            assert len(found) == len(site.paths) * number
            assert await works.count(runs) == 2 * number
            assert {row["next_due_at"] > works.system.clock.now() for row in await works.rows(targets)} == {True}
            await works.say("UPDATE pipeline_jobs SET status = 'done' WHERE status = 'ready'")
    answers = [said for child in pair for said in child.kinds("dispatched")]
    assert [said for said in answers if "trouble" in said] == []
    assert sum(said["answer"]["jobs"] for said in answers) == len(site.paths) * ROUNDS


async def test_two_schedulers_do_each_piece_of_periodic_work_once_per_slot(nursery, works):
    async with two_schedulers(nursery, works) as pair:
        await both(pair, "maintenance")
        await both(pair, "compact_pages")
    answers = [[said["answer"] for said in child.kinds("dispatched")] for child in pair]
    slots = await works.rows(tick_slots)
    assert [row["status"] for row in slots] == ["ok"] * len(slots)
    assert sum(answer == "ok" for one in answers for answer in one) == len(slots)


def two_schedulers(nursery, works):
    """Two processes that are ready to dispatch at a word."""
    return _Pair(nursery, works.url)


class _Pair(AsyncExitStack):
    def __init__(self, nursery, url):
        super().__init__()
        self._nursery = nursery
        self._url = url

    async def __aenter__(self):
        await super().__aenter__()
        pair = [
            await self.enter_async_context(self._nursery.child("dispatch", settings={"database": self._url}))
            for _ in range(2)
        ]
        for child in pair:
            await child.until("ready")
        return pair


async def both(pair, word):
    """Tell both at once, and wait for both."""
    for child in pair:
        child.tell(word)
    for child in pair:
        await child.until("dispatched")


async def test_a_scheduler_that_is_slow_to_write_does_not_turn_a_targets_time_back(site, migrated_url, clock):
    async with the_works(migrated_url, clock) as works:
        await works.source(site)
        dispatcher, agenda = works.system.dispatcher, works.system.store.agenda
        stale = await agenda.due(clock.now(), 100)
        for _ in range(2):
            await dispatcher.dispatch()
            await works.say("UPDATE pipeline_jobs SET status = 'done' WHERE status = 'ready'")
            clock.advance(timedelta(days=1, hours=1))
        before = [row["next_due_at"] for row in await works.rows(targets)]
        clock.set(NOON)  # when the slow one looked
        late, _ = await dispatcher.enqueue(stale, Trigger.SCHEDULED)
        assert late.jobs == 0
        assert [row["next_due_at"] for row in await works.rows(targets)] == before
