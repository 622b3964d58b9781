"""The paid fetcher against a stand-in that speaks ScrapingBee's API."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from rig.memory_services import MemoryServiceRegistry, MemorySpending, UnreachableTransport
from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.core.services.budget import Budget
from tidemill.core.services.degradation import Service
from tidemill.fetching.budget import Account
from tidemill.fetching.http import http_fetcher
from tidemill.fetching.scrapingbee import ScrapingBeeFetcher
from tidemill.lab.standins.scrapingbee import ScrapingBee, SitePage
from tidemill.lab.standins.talk import StandinFault, StandinTransport
from tidemill.pipeline.ports import FetchRequest, FetchStatus

pytestmark = pytest.mark.shows("F2")

BASE = "https://app.scrapingbee.com/api/v1"
KEY = "s3cret/key"
SITE = "https://town.example"
NO_LIMIT = Budget()


class Rig:
    """A fetcher, its stand-in, and a small web behind that."""

    def __init__(self, clock, budget=NO_LIMIT, key=KEY):
        self.clock = clock
        self.pages = {"/agenda": SitePage(body=b"<p>agenda</p>", headers={"content-type": "text/html", "etag": '"7"'})}
        self.forwarded = {}
        self.bee = ScrapingBee(self.web, KEY)
        self.book, self.purse = MemoryServiceRegistry(), MemorySpending()
        transport = StandinTransport({"https://app.scrapingbee.com": self.bee}, clock, UnreachableTransport())
        account = Account(self.purse, Service.SCRAPINGBEE, budget, clock)
        http = http_fetcher(clock, transport=UnreachableTransport())
        self.fetcher = ScrapingBeeFetcher(http, transport, BASE, key, account, self.book, clock)

    async def web(self, url, headers):
        self.forwarded = dict(headers)
        return self.pages.get(url.removeprefix(SITE), SitePage(404, b"not here"))

    async def fetch(self, path="/agenda", **terms):
        request = FetchRequest(url=SITE + path, host="town.example", pace=Pace(timedelta(0)), **terms)
        return await self.fetcher.fetch(request)


@pytest.fixture
def rig(clock):
    return Rig(clock)


async def test_a_page_comes_with_the_sites_own_status_and_headers(rig):
    result = await rig.fetch()
    assert (result.status, result.status_code, result.body) == (FetchStatus.OK, 200, b"<p>agenda</p>")
    assert (result.fetcher, result.final_url, result.failure) == ("scrapingbee", f"{SITE}/agenda", None)
    assert (result.content_type, result.headers["etag"]) == ("text/html", '"7"')
    assert rig.book.reports == [(Service.SCRAPINGBEE, "")]


async def test_robots_txt_is_asked_for_first_and_obeyed(rig):
    rig.pages["/robots.txt"] = SitePage(body=b"User-agent: *\nDisallow: /agenda")
    result = await rig.fetch()
    assert (result.status, result.failure) == (FetchStatus.ROBOTS_BLOCKED, Failure.ROBOTS_DISALLOWED)
    assert rig.bee.asked == [f"{SITE}/robots.txt"]


async def test_what_it_costs_is_counted_by_its_own_word(rig):
    await rig.fetch(options={"scrapingbee": {"render_js": True, "premium_proxy": True}})
    assert rig.purse.amount == rig.bee.used_credit == 1 + 25, "robots.txt is never rendered"


async def test_a_redirect_that_it_followed_is_judged_too_and_paid_for_once(rig):
    rig.pages["/agenda"] = SitePage(body=b"moved", url=f"{SITE}/nieuw")
    result = await rig.fetch()
    assert (result.final_url, result.body) == (f"{SITE}/nieuw", b"moved")
    assert rig.bee.asked == [f"{SITE}/robots.txt", f"{SITE}/agenda"]


async def test_a_redirect_to_where_robots_txt_forbids_brings_nothing(rig):
    rig.pages["/robots.txt"] = SitePage(body=b"User-agent: *\nDisallow: /geheim")
    rig.pages["/agenda"] = SitePage(body=b"moved", url=f"{SITE}/geheim")
    assert (await rig.fetch()).failure is Failure.ROBOTS_DISALLOWED


async def test_a_redirect_to_an_address_that_is_not_public_brings_nothing(rig):
    rig.pages["/agenda"] = SitePage(body=b"secrets", url="http://169.254.169.254/latest")
    result = await rig.fetch()
    assert (result.failure, result.body) == (Failure.ADDRESS_REFUSED, b"")


async def test_the_sites_refusal_stays_the_sites(rig):
    rig.pages["/agenda"] = SitePage(403, b"go away")
    result = await rig.fetch()
    assert (result.status_code, result.failure, result.degraded) == (403, Failure.FORBIDDEN, ())
    assert rig.book.reports == [(Service.SCRAPINGBEE, "")], "ScrapingBee itself did its work"


async def test_the_sources_own_headers_are_forwarded_and_only_those(rig):
    await rig.fetch(headers={"Accept-Language": "nl"})
    assert rig.forwarded == {"accept-language": "nl"}


async def test_a_size_cap_holds(rig):
    rig.pages["/agenda"] = SitePage(body=b"x" * 5_000)
    assert (await rig.fetch(max_bytes=1_000)).failure is Failure.TOO_LARGE


@pytest.mark.parametrize(
    ("fault", "failure", "words"),
    [
        (StandinFault.DOWN, Failure.HELD_BACK, "cannot be reached"),
        (StandinFault.HANGS, Failure.HELD_BACK, "cannot be reached"),
        (StandinFault.BROKEN, Failure.HELD_BACK, "answered 503"),
        (StandinFault.GARBAGE, Failure.HELD_BACK, "answered 200"),
        (StandinFault.OUT_OF_QUOTA, Failure.OUT_OF_QUOTA, "no credits left"),
        (StandinFault.BAD_KEY, Failure.HELD_BACK, "refuses our key"),
    ],
)
async def test_its_own_trouble_makes_the_job_wait_and_is_told(rig, fault, failure, words):
    rig.bee.fault = fault
    result = await rig.fetch(obey_robots=False)
    assert (result.failure, result.degraded) == (failure, (Service.SCRAPINGBEE,))
    assert result.retry_at > rig.clock.now()
    assert words in rig.book.reports[-1][1]
    assert rig.purse.amount == 0, "nothing was paid"


async def test_a_limit_of_concurrency_is_waited_for_and_is_no_degradation(rig):
    rig.bee.fault = StandinFault.RATE_LIMITED
    result = await rig.fetch(obey_robots=False)
    assert (result.failure, result.degraded) == (Failure.HELD_BACK, ())
    assert rig.book.reports == []


@pytest.mark.shows("H8")
@pytest.mark.parametrize("fault", list(StandinFault))
async def test_the_key_is_in_no_word_that_leaves(rig, fault):
    rig.bee.fault = fault
    result = await rig.fetch(obey_robots=False)
    told = f"{result} {rig.book.reports} {await rig.fetcher.probe()}"
    assert KEY not in told
    assert "s3cret%2Fkey" not in told


async def test_while_it_is_unwell_it_is_left_alone_until_a_probe_finds_it_well(rig):
    rig.bee.fault = StandinFault.OUT_OF_QUOTA
    await rig.fetch(obey_robots=False)
    rig.bee.fault = StandinFault.NONE
    assert (await rig.fetch(obey_robots=False)).failure is Failure.OUT_OF_QUOTA
    assert rig.bee.asked == []
    assert await rig.fetcher.probe() == ""
    assert (await rig.fetch(obey_robots=False)).failure is None


async def test_a_probe_tells_of_credits_that_are_used_up(rig):
    rig.bee.used_credit = rig.bee.max_credit
    assert "1000 credits" in await rig.fetcher.probe()


async def test_our_own_budget_stops_us_before_anything_is_asked(clock):
    rig = Rig(clock, Budget(day=3))
    options = {"scrapingbee": {"render_js": True}}
    result = await rig.fetch(obey_robots=False, options=options)
    assert (result.failure, result.degraded) == (Failure.OUT_OF_QUOTA, (Service.SCRAPINGBEE,))
    assert result.retry_at == NOON.replace(hour=0) + timedelta(days=1)
    assert "3 credits a day" in result.error
    assert (rig.bee.asked, rig.purse.amount) == ([], 0)


async def test_without_a_key_it_says_which_setting_to_set(clock):
    rig = Rig(clock, key="")
    result = await rig.fetch()
    assert (result.failure, result.degraded) == (Failure.HELD_BACK, (Service.SCRAPINGBEE,))
    assert "`scrapingbee_key`" in result.error
    assert rig.bee.asked == []


async def test_settings_that_make_no_sense_are_named(rig):
    result = await rig.fetch(options={"scrapingbee": {"render_js": "perhaps"}})
    assert result.failure is Failure.CLIENT_ERROR
    assert "render_js" in result.error
