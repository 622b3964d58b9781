"""The book of services: what one process says of them, every process reads."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.core.outcome import Stage
from tidemill.core.services.degradation import FALLBACKS, Service, ServiceState
from tidemill.pipeline.happenings import Happening, ServiceDegraded, ServiceRestored, StageDone, StoreTrouble
from tidemill.store.database.database import open_database
from tidemill.store.services.status import FORGOTTEN_AFTER, TOLD_AGAIN, Services

pytestmark = pytest.mark.shows("R3")


class Office:
    """Two processes with a book each, on one database and one clock."""

    def __init__(self, database, clock):
        self.clock = clock
        self.announced: list[Happening] = []
        self.ours = Services(database, clock, self.announced.append, {Service.APIFY: ""})
        self.theirs = Services(database, clock, self.announced.append)

    async def status(self, service, book=None):
        found = {each.service: each for each in await (book or self.theirs).statuses()}
        assert list(found) == list(Service)
        return found[service]


@pytest.fixture
def office(database, clock):
    return Office(database, clock)


async def test_a_service_of_which_nobody_has_complained_works(office):
    assert (await office.status(Service.REDIS)).state is ServiceState.WORKS
    assert office.ours.state_of(Service.REDIS) is ServiceState.WORKS
    assert office.announced == []


async def test_a_service_that_is_not_set_up_is_off_and_says_what_to_set(office):
    status = await office.status(Service.APIFY, office.ours)
    assert (status.state, status.since) == (ServiceState.OFF, None)
    assert "apify_token" in status.reason
    assert status.fallback == FALLBACKS[Service.APIFY].fallback
    assert office.ours.state_of(Service.APIFY) is ServiceState.OFF


async def test_what_one_process_complains_of_every_process_sees(office):
    await office.ours.degraded(Service.SCRAPINGBEE, "answered 503")
    status = await office.status(Service.SCRAPINGBEE)
    assert (status.state, status.since, status.reason) == (ServiceState.DEGRADED, NOON, "answered 503")
    assert office.announced == [
        ServiceDegraded(NOON, Service.SCRAPINGBEE, "answered 503", FALLBACKS[Service.SCRAPINGBEE].fallback)
    ]


async def test_saying_it_again_changes_nothing_and_since_stays(office):
    await office.ours.degraded(Service.LLM, "answered 503")
    office.clock.advance(TOLD_AGAIN / 2)
    await office.ours.degraded(Service.LLM, "answered 502")
    assert (await office.status(Service.LLM)).reason == "answered 503", "nothing was written"
    office.clock.advance(TOLD_AGAIN)
    await office.ours.degraded(Service.LLM, "answered 502")
    await office.theirs.degraded(Service.LLM, "answered 502")
    status = await office.status(Service.LLM)
    assert (status.since, status.reason) == (NOON, "answered 502")
    assert len(office.announced) == 1


async def test_a_service_that_answers_again_is_restored_and_announced_once(office):
    await office.ours.degraded(Service.REDIS, "connection refused")
    later = office.clock.advance(timedelta(minutes=3))
    for _ in range(3):
        await office.ours.works(Service.REDIS)
    assert (await office.status(Service.REDIS)).state is ServiceState.WORKS
    assert office.announced[1:] == [ServiceRestored(later, Service.REDIS, NOON)]


async def test_a_process_that_comes_after_a_crash_clears_what_the_crashed_one_left(office):
    await office.ours.degraded(Service.GEOCODER, "timed out")
    await office.theirs.works(Service.GEOCODER)
    assert (await office.status(Service.GEOCODER)).state is ServiceState.WORKS


async def test_trouble_that_another_process_took_for_over_is_written_again(office):
    await office.ours.degraded(Service.REDIS, "connection refused")
    await office.theirs.works(Service.REDIS)
    office.clock.advance(TOLD_AGAIN)
    await office.ours.degraded(Service.REDIS, "connection refused")
    assert (await office.status(Service.REDIS)).state is ServiceState.DEGRADED


async def test_the_periodic_look_restores_what_its_probe_finds_well_and_keeps_what_it_does_not(office):
    answers = {Service.REDIS: "", Service.BROWSER: "no Chromium"}
    for service in answers:
        await office.ours.degraded(service, "gone")
        office.theirs.register_probe(service, probe_of(answers, service))
    assert await office.theirs.look_again() == ["redis"]
    assert (await office.status(Service.REDIS)).state is ServiceState.WORKS
    assert (await office.status(Service.BROWSER)).state is ServiceState.DEGRADED
    answers[Service.BROWSER] = ""
    assert await office.theirs.look_again() == ["browser"]


def probe_of(answers, service):
    async def probe():
        return answers[service]

    return probe


async def test_what_nobody_can_probe_is_given_a_new_chance_once_the_last_complaint_is_old(office):
    await office.ours.degraded(Service.SLACK, "answered 500")
    office.clock.advance(FORGOTTEN_AFTER)
    assert await office.theirs.look_again() == []
    office.clock.advance(timedelta(seconds=1))
    assert await office.theirs.look_again() == ["slack"]


async def test_only_what_every_run_needs_weighs_on_all(office):
    assert office.ours.degraded_for_all_runs() == ()
    await office.ours.degraded(Service.APIFY, "answered 503")
    assert office.ours.degraded_for_all_runs() == ()
    await office.ours.degraded(Service.REDIS, "gone")
    assert office.ours.degraded_for_all_runs() == (Service.REDIS,)


async def test_a_database_in_trouble_is_kept_in_mind_until_a_stage_is_safe_again(office):
    later = NOON + timedelta(seconds=9)
    office.ours.hear(StoreTrouble(NOON, "the disk is full"))
    office.ours.hear(StoreTrouble(later, "the disk is full"))
    assert office.ours.degraded_for_all_runs() == (Service.DATABASE,)
    office.ours.hear(StageDone(later, 1, 1, 1, Stage.FETCH))
    assert office.ours.degraded_for_all_runs() == ()
    assert [type(each) for each in office.announced] == [ServiceDegraded, ServiceRestored]


async def test_a_lost_database_never_stops_whoever_complains_and_hears_of_it_later(database_url, clock):
    announced: list[Happening] = []
    lost = open_database(database_url)  # it has no tables yet, so that nothing can be written
    book = Services(lost, clock, announced.append)
    try:
        await book.degraded(Service.REDIS, "gone")
        assert book.state_of(Service.REDIS) is ServiceState.DEGRADED
        assert len(announced) == 1
        await book.works(Service.REDIS)
        assert book.state_of(Service.REDIS) is ServiceState.WORKS
    finally:
        await lost.close()
