"""Whoever lost a job writes nothing, even before somebody else has it: the fence is raised when it is lost."""

from datetime import timedelta

import pytest

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.store.schema import jobs, pages

pytestmark = pytest.mark.shows("B1")


async def test_rescue_itself_shuts_out_the_worker_that_was_taken_for_dead(mill):
    await mill.enqueue(await mill.source())
    sleeper = await mill.worker("sleeper")
    (held,) = await mill.claim(sleeper)
    mill.clock.advance(timedelta(seconds=90))
    await mill.workers.rescue(mill.clock.now())
    _, late = await mill.commit((held, mill.fetched(held, b"late")))
    assert late.still_leased == frozenset()
    assert await mill.rows(pages) == []
    (job,) = await mill.rows(jobs)
    assert job["fence"] > held.job.fence


async def test_each_claim_has_a_fence_of_its_own(mill):
    await mill.enqueue(await mill.source())
    fences = []
    for _ in range(2):
        (held,) = await mill.claim(await mill.worker())
        fences.append(held.job.fence)
        mill.clock.advance(timedelta(seconds=90))
        await mill.workers.rescue(mill.clock.now())
    assert fences[0] < fences[1]


async def test_letting_go_of_a_job_shuts_out_whoever_held_it(mill):
    """The answer of a fetch that was put off comes after all: nobody holds the job, and nothing is written."""
    await mill.enqueue(await mill.source())
    (held,) = await mill.claim(await mill.worker())
    _, first = await mill.commit((held, Fail(Failure.TIMED_OUT, "no answer")))
    assert first.still_leased == {held.job.id}
    _, late = await mill.commit((held, mill.fetched(held, b"late")))
    assert late.still_leased == frozenset()
    assert await mill.rows(pages) == []
