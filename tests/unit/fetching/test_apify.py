"""The actor fetcher against a stand-in that speaks Apify's API."""

from datetime import timedelta

import msgspec
import pytest

from rig.memory_services import MemoryActorRuns, MemoryServiceRegistry, MemorySpending, UnreachableTransport
from tidemill.core.failure import Failure
from tidemill.core.gates import Gate, refuse
from tidemill.core.pacing import Pace
from tidemill.core.services.budget import Budget
from tidemill.core.services.degradation import Service
from tidemill.fetching.apify import GRACE, RUN_TIMEOUT, ApifyFetcher
from tidemill.fetching.budget import Account
from tidemill.lab.standins.apify import Apify
from tidemill.lab.standins.talk import StandinFault, StandinTransport
from tidemill.pipeline.ports import FetchRequest, FetchStatus

pytestmark = pytest.mark.shows("F2")

URL = "https://homes.example/boston"
TOKEN = "apify_s3cret"  # noqa: S105 -- the stand-in's own, it opens nothing
OPTIONS = {"apify": {"actor": "lab/homes", "input": {"city": "{city}", "urls": ["{url}"]}, "max_dollars": 0.5}}
CENT = 10_000
NO_LIMIT = Budget()


class Rig:
    """A fetcher, its stand-in, and what was written down of the runs."""

    def __init__(self, clock, budget=NO_LIMIT, token=TOKEN):
        self.clock = clock
        self.inputs = []
        self.items = [{"id": number} for number in range(3)]
        self.apify = Apify({"lab~homes": self.find}, TOKEN, takes=timedelta(seconds=20))
        self.book, self.purse, self.runs = MemoryServiceRegistry(), MemorySpending(), MemoryActorRuns()
        self.budget, self.token = budget, token
        self.fetcher = self.another()

    def another(self):
        """A fetcher of a process that starts anew."""
        transport = StandinTransport({"https://api.apify.com": self.apify}, self.clock, UnreachableTransport())
        account = Account(self.purse, Service.APIFY, self.budget, self.clock)
        return ApifyFetcher(
            transport, "https://api.apify.com", self.token, account, self.runs, self.book, self.clock
        )  # fmt: skip

    def find(self, given):
        self.inputs.append(given)
        return self.items

    async def fetch(self, attempt=0, options=OPTIONS, **terms):
        request = FetchRequest(
            url=URL, host="homes.example", pace=Pace(), job_id=7, attempt=attempt, options=options,
            parameters={"city": "Boston"}, **terms,
        )  # fmt: skip
        return await self.fetcher.fetch(request)

    async def to_the_end(self, **terms):
        """Come back as often as asked to; answers the last word."""
        result = await self.fetch(**terms)
        while result.failure is Failure.HELD_BACK and "at work" in result.error:
            self.clock.set(result.retry_at)
            result = await self.fetch(**terms)
        return result


@pytest.fixture
def rig(clock):
    return Rig(clock)


async def test_the_items_of_an_actor_are_the_page(rig):
    result = await rig.to_the_end()
    assert (result.status, result.fetcher, result.failure) == (FetchStatus.OK, "apify", None)
    assert (result.content_type, msgspec.json.decode(result.body)) == ("application/json", rig.items)
    assert (result.url, result.final_url) == (URL, URL)
    assert rig.runs.over == [(7, "SUCCEEDED")]


async def test_the_input_is_filled_in_with_the_target(rig):
    await rig.fetch()
    assert rig.inputs == [{"city": "Boston", "urls": [URL]}]


async def test_nobody_waits_for_an_actor(rig):
    before = rig.clock.now()
    result = await rig.fetch()
    assert (result.failure, result.degraded) == (Failure.HELD_BACK, ())
    assert result.retry_at > rig.clock.now() == before
    assert rig.clock.slept_until == []


async def test_a_process_that_comes_after_a_crash_goes_on_with_the_run_that_was_paid_for(rig):
    await rig.fetch()
    rig.fetcher = rig.another()
    assert (await rig.to_the_end()).failure is None
    assert len(rig.apify.started) == 1


async def test_many_items_are_paged_through(rig):
    rig.items = [{"id": number} for number in range(2_500)]
    result = await rig.to_the_end()
    assert msgspec.json.decode(result.body) == rig.items


async def test_more_than_the_size_cap_is_too_large(rig):
    rig.items = [{"id": number, "text": "x" * 100} for number in range(3_000)]
    result = await rig.to_the_end(max_bytes=200_000)
    assert (result.status, result.failure) == (FetchStatus.TOO_LARGE, Failure.TOO_LARGE)
    assert len(result.body) <= 200_000


async def test_what_a_run_may_cost_is_put_aside_and_what_it_cost_is_kept(rig):
    await rig.fetch()
    assert rig.purse.amount == 50 * CENT
    await rig.to_the_end()
    assert rig.purse.amount == 5 * CENT


async def test_a_budget_that_is_spent_starts_nothing(clock):
    rig = Rig(clock, Budget(hour=40 * CENT))
    result = await rig.fetch()
    assert (result.failure, result.degraded) == (Failure.OUT_OF_QUOTA, (Service.APIFY,))
    assert "$0.4 a hour" in result.error
    assert rig.apify.started == []


@pytest.mark.shows("F3")
async def test_the_first_try_has_600_seconds_and_the_second_twice_as_long(rig):
    rig.apify.takes = timedelta(hours=2)
    for attempt, seconds in ((0, 600), (1, 1_200), (2, 1_200)):
        result = await rig.to_the_end(attempt=attempt)
        assert result.failure is Failure.TIMED_OUT
        assert rig.apify.started[-1].timeout == timedelta(seconds=seconds)
    assert len(rig.apify.started) == 3


async def test_a_run_that_outstays_its_time_is_aborted(rig):
    await rig.fetch()
    rig.apify.started[0].timeout = rig.apify.takes = timedelta(days=1)
    rig.apify.started[0].ends_at += timedelta(days=1)
    rig.clock.advance(RUN_TIMEOUT + GRACE + timedelta(seconds=1))
    assert (await rig.fetch()).failure is Failure.TIMED_OUT
    assert rig.apify.aborted == [rig.apify.started[0].id]
    assert rig.runs.under_way == {}


async def test_a_run_that_fails_is_the_jobs_failure_and_the_next_try_starts_another(rig):
    rig.apify.fails = "the site has changed"
    result = await rig.to_the_end()
    assert (result.failure, result.degraded) == (Failure.SERVER_ERROR, ())
    assert "the site has changed" in result.error
    rig.apify.fails = ""
    assert (await rig.to_the_end(attempt=1)).failure is None
    assert len(rig.apify.started) == 2


async def test_a_run_that_apify_has_forgotten_is_begun_anew(rig):
    await rig.fetch()
    rig.apify._runs.clear()
    assert (await rig.fetch()).failure is Failure.SERVER_ERROR
    assert (await rig.to_the_end(attempt=1)).failure is None


async def test_runs_whose_jobs_are_gone_are_aborted(rig):
    await rig.fetch()
    rig.runs.without_job = list(rig.runs.under_way.values())
    assert await rig.fetcher.abort_orphans() == 1
    assert rig.apify.aborted == [rig.apify.started[0].id]
    assert rig.runs.over == [(7, "ORPHANED")]


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (StandinFault.DOWN, Failure.CONNECTION_LOST),
        (StandinFault.HANGS, Failure.TIMED_OUT),
        (StandinFault.BROKEN, Failure.SERVER_ERROR),
        (StandinFault.GARBAGE, Failure.SERVER_ERROR),
        (StandinFault.RATE_LIMITED, Failure.RATE_LIMITED),
        (StandinFault.OUT_OF_QUOTA, Failure.OUT_OF_QUOTA),
        (StandinFault.BAD_KEY, Failure.HELD_BACK),
    ],
)
async def test_its_own_trouble_is_told_and_costs_nothing(rig, fault, failure):
    rig.apify.fault = fault
    result = await rig.fetch()
    assert (result.failure, result.degraded) == (failure, (Service.APIFY,))
    assert rig.book.reports[-1][1]
    assert rig.purse.amount == 0
    assert TOKEN not in f"{result} {rig.book.reports} {await rig.fetcher.probe()}"


@pytest.mark.parametrize(
    "fault", [StandinFault.DOWN, StandinFault.BROKEN, StandinFault.GARBAGE, StandinFault.RATE_LIMITED]
)
async def test_trouble_in_the_middle_does_not_lose_the_run(rig, fault):
    await rig.fetch()
    rig.apify.fault = fault
    assert (await rig.fetch()).failure is not None
    rig.apify.fault = StandinFault.NONE
    assert (await rig.to_the_end()).failure is None
    assert len(rig.apify.started) == 1


async def test_a_probe_tells_when_it_answers_again(rig):
    rig.apify.fault = StandinFault.BROKEN
    assert "503" in await rig.fetcher.probe()
    rig.apify.fault = StandinFault.NONE
    assert await rig.fetcher.probe() == ""


async def test_without_a_token_it_says_which_setting_to_set(clock):
    rig = Rig(clock, token="")
    result = await rig.fetch()
    assert (result.failure, result.degraded) == (Failure.HELD_BACK, (Service.APIFY,))
    assert "`apify_token`" in result.error


async def test_a_source_without_an_actor_is_told_how_to_name_one(rig):
    result = await rig.fetch(options={})
    assert result.failure is Failure.CLIENT_ERROR
    assert "actor: OWNER/NAME" in result.error


async def test_a_worker_that_was_away_for_longer_than_its_lease_starts_nothing(rig):
    assert (await rig.fetch(holds_lease=lambda: False)).failure is Failure.WORKER_DIED
    assert rig.apify.started == []


@pytest.mark.shows("B8")
async def test_a_source_that_was_switched_off_meanwhile_starts_nothing(rig):
    async def recheck():
        return refuse(Gate.SOURCE, "switched off by a person", Failure.SOURCE_OFF)

    assert (await rig.fetch(recheck=recheck)).failure is Failure.SOURCE_OFF
    assert (rig.apify.started, rig.purse.amount) == ([], 0)
