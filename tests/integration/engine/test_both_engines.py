"""The same cases on both engines: one process by itself, and Celery's workers and beat over Redis and PostgreSQL."""

import signal
from collections import Counter

import pytest

from rig.engines import a_cluster, until
from rig.works import the_works
from tidemill.core.services.degradation import Service, ServiceState
from tidemill.store.schema import dead_letters, jobs, runs, tick_slots, workers
from tidemill.verticals.events.store.tables import events


@pytest.fixture
async def works(migrated_postgres_url, redis):
    async with the_works(migrated_postgres_url, broker=redis.url) as view:
        yield view


@pytest.fixture
async def cluster(nursery, works, redis, tmp_path):
    settings = {"database": works.url, "broker": redis.url, "look_again_seconds": 2}
    async with a_cluster(nursery, tmp_path, **settings) as made:
        yield made


@pytest.fixture(params=["embedded", "celery"])
async def engine(request, cluster):
    """The name of an engine, whose periodic work is under way."""
    if request.param == "celery":
        for _ in range(2):
            await cluster.start("beat")
    return request.param


async def all_done(works):
    rows = await works.rows(jobs)
    return bool(rows) and {row["status"] for row in rows} == {"done"}


@pytest.mark.shows("D2", "B12")
async def test_due_targets_are_scraped_once_and_each_slot_is_done_once(engine, cluster, works, site):
    await works.source(site)
    await works.make_due()
    for _ in range(2):
        await cluster.start_worker(engine)
    await until(lambda: all_done(works), "every job is done")
    assert Counter(path for path in site.asked if path != "/robots.txt") == dict.fromkeys(site.paths, 1)
    assert await works.count(events) == 18
    assert await works.count(runs) == 1
    await until(lambda: went_well(works, "maintenance"), "maintenance went well")
    assert await works.count(tick_slots, name="maintenance") == 1
    assert await works.count(tick_slots, status="failed") == 0


@pytest.mark.shows("D2", "B1")
async def test_what_a_killed_worker_held_is_done_once_by_another(engine, cluster, works, site):
    gate = site.hold("/agenda/3")
    await works.enqueue(await works.source(site))
    victim = await cluster.start_worker(engine)
    await gate.arrived.wait()
    victim.signal(signal.SIGKILL)
    assert await victim.ended() == -signal.SIGKILL
    gate.opened.set()
    await cluster.start_worker(engine)
    await until(lambda: all_done(works), "every job is done")
    assert await works.count(events) == 18
    assert await works.count(dead_letters) == 0


@pytest.mark.shows("D2", "R6")
async def test_a_worker_that_is_stopped_finishes_what_it_holds(engine, cluster, works, site):
    gate = site.hold("/agenda/3")
    await works.enqueue(await works.source(site))
    worker = await cluster.start_worker(engine)
    await gate.arrived.wait()
    worker.signal(signal.SIGTERM)
    gate.opened.set()
    assert await worker.ended() == 0
    rows = await works.rows(jobs)
    assert [row["status"] for row in rows if row["url"].endswith("/agenda/3")] == ["done"]
    assert {row["status"] for row in rows} <= {"done", "ready"}  # what it had not claimed yet is left for the next
    await cluster.start_worker(engine)
    await until(lambda: all_done(works), "every job is done")
    assert Counter(path for path in site.asked if path != "/robots.txt") == dict.fromkeys(site.paths, 1)


@pytest.mark.shows("D2", "R6")
async def test_a_worker_that_is_stopped_as_it_starts_ends_in_good_order(engine, cluster, works):
    """As soon as it is registered: Celery listens for signals only some milliseconds later."""
    worker = await cluster.start_worker(engine)

    async def is_registered():
        return await works.count(workers) == 1

    await until(is_registered, "the worker is registered")
    worker.signal(signal.SIGTERM)
    assert await worker.ended() == 0


@pytest.mark.shows("D2", "B1")
async def test_a_worker_that_was_frozen_past_its_lease_writes_nothing(engine, cluster, works, site):
    gate = site.hold("/agenda/3")
    await works.enqueue(await works.source(site))
    frozen = await cluster.start_worker(engine)
    await gate.arrived.wait()
    frozen.signal(signal.SIGSTOP)
    await cluster.start_worker(engine)
    await until(lambda: all_done(works), "every job is done by the other")
    gate.opened.set()
    frozen.signal(signal.SIGCONT)
    frozen.signal(signal.SIGTERM)
    assert await frozen.ended() == 0
    seen = [row["times_seen"] for row in await works.rows(events)]
    assert seen == [await works.count(runs)] * 18  # written once in each run, however often the page was got
    assert await works.count(dead_letters) == 0


@pytest.mark.shows("D2", "B8")
async def test_a_source_that_was_switched_off_after_its_jobs_were_enqueued_is_not_asked(engine, cluster, works, site):
    await works.enqueue(await works.source(site))
    await works.system.actions.sources.disable("agenda", "test")
    await cluster.start_worker(engine)
    await until(lambda: all_refused(works), "every job is refused")
    assert site.asked == []


@pytest.mark.shows("D2", "L1")
async def test_a_dead_broker_costs_time_and_nothing_else(cluster, works, site, redis):
    await cluster.start("beat")
    await cluster.start("worker")
    await until(lambda: went_well(works, "dispatch"), "beat is heard")
    redis.kill()
    await until(lambda: service_is(works, Service.BROKER, ServiceState.DEGRADED), "the broker is reported unasked")
    source = await works.source(site)
    await works.make_due()
    await until(lambda: all_done(works), "every job is done without a broker")
    assert await works.count(runs, source_id=source) == 1
    redis.start()
    await until(lambda: service_is(works, Service.BROKER, ServiceState.WORKS), "the broker is back")


@pytest.mark.shows("D2", "B2")
async def test_beats_that_are_gone_are_told_of_until_one_is_back(cluster, works):
    await cluster.start("worker")
    await until(lambda: service_is(works, Service.BEAT, ServiceState.DEGRADED), "beat is missed")
    await cluster.start("beat")
    await until(lambda: service_is(works, Service.BEAT, ServiceState.WORKS), "beat is heard")


async def all_refused(works):
    return {(row["status"], row["failure"]) for row in await works.rows(jobs)} == {("refused", "source_off")}


async def went_well(works, name):
    return bool(await works.rows(tick_slots, name=name, status="ok"))


async def service_is(works, service, state):
    return any(one.service is service and one.state is state for one in await works.system.services.statuses())
