"""When a page is paid for, and when a stored one serves."""

import time
from datetime import timedelta

import pytest

from rig.clock import NOON
from rig.hostile_shapes import MARKUP
from tidemill.core.failure import Failure
from tidemill.core.job import Job
from tidemill.core.pacing import Pace
from tidemill.core.policy import AGENDA
from tidemill.core.services.degradation import Service
from tidemill.core.source import FetcherKind, Source
from tidemill.core.target import Target
from tidemill.pipeline.checkpoints import Claimed
from tidemill.pipeline.fallback import LARGEST_NOTICE, MAX_STORED_AGE, Fallback, block_in, paid_sources
from tidemill.pipeline.ports import FetchRequest, FetchResult, FetchStatus, StoredPage

pytestmark = pytest.mark.shows("F2")

URL = "https://town.example/agenda"
PAID = FetchResult(status=FetchStatus.OK, url=URL, fetcher="scrapingbee", body=b"agenda")
NO_QUOTA = FetchResult(
    status=FetchStatus.ERROR, url=URL, fetcher="scrapingbee", failure=Failure.OUT_OF_QUOTA, error="no credits",
    degraded=(Service.SCRAPINGBEE,), retry_at=NOON,
)  # fmt: skip


class Desk:
    """A paid fetcher that answers as told, and a repository with or without a page."""

    def __init__(self, clock, paid=PAID, page=None, how="always"):
        self.paid, self.page = paid, page
        self.asked, self.since = [], None
        self.fallback = Fallback(self, paid_sources(how), self, clock)

    async def fetch(self, request):
        self.asked.append(request)
        return self.paid

    async def close(self):
        pass

    async def fresh(self, target, since):
        del target
        self.since = since
        return self.page

    async def after(self, failure, *, attempts=0, fetcher=FetcherKind.HTTP, page=b"", **settings):
        source = Source(
            id=1, name="town", vertical="events", base_url=URL, adapter_id="a", fetcher=fetcher,
            adapter_settings=settings,
        )  # fmt: skip
        job = Job(
            id=1, run_id=1, source_id=1, target_id=1, vertical="events", lane="http", host="h", url=URL,
            attempts=attempts,
        )  # fmt: skip
        target = Target(id=1, source_id=1, url=URL, canonical_url=URL, host="h", adapter_id="a")
        claimed = Claimed(job=job, source=source, target=target, pace=Pace())
        self.first = FetchResult(
            status=FetchStatus.ERROR if failure else FetchStatus.OK, url=URL, final_url=URL, failure=failure,
            error="as it was", content_type="text/html", body=page,
        )  # fmt: skip
        request = FetchRequest(url=URL, host="h", pace=Pace(), etag='"7"')
        return await self.fallback.apply(claimed, request, self.first, AGENDA)


async def test_a_refusal_is_paid_for_at_once(clock):
    desk = Desk(clock)
    result = await desk.after(Failure.FORBIDDEN)
    assert (result.fetcher, result.body, result.instead_of) == ("scrapingbee", b"agenda", "forbidden: as it was")
    assert desk.asked[0].etag == "", "what another fetcher got is no page of ours to compare with"


@pytest.mark.parametrize("failure", [Failure.RATE_LIMITED, Failure.SERVER_ERROR, Failure.TIMED_OUT])
async def test_other_failures_are_paid_for_when_our_own_tries_are_used_up(clock, failure):
    desk = Desk(clock)
    assert await desk.after(failure, attempts=1) is desk.first
    assert (await desk.after(failure, attempts=2)).fetcher == "scrapingbee"


@pytest.mark.parametrize(
    "failure", [Failure.NOT_FOUND, Failure.ROBOTS_DISALLOWED, Failure.DNS_FAILED, Failure.ADDRESS_REFUSED, None]
)
async def test_nothing_else_is_ever_paid_for(clock, failure):
    desk = Desk(clock)
    assert await desk.after(failure, attempts=2) is desk.first
    assert desk.asked == []


@pytest.mark.parametrize(
    ("how", "said", "pays"),
    [
        ("never", {}, False), ("never", {"paid_fallback": True}, False), ("chosen", {}, False),
        ("chosen", {"paid_fallback": True}, True), ("always", {}, True), ("always", {"paid_fallback": False}, False),
    ],
)  # fmt: skip
async def test_only_what_somebody_chose_costs_money(clock, how, said, pays):
    desk = Desk(clock, how=how)
    await desk.after(Failure.FORBIDDEN, **said)
    assert bool(desk.asked) is pays


@pytest.mark.shows("F4")
async def test_out_of_quota_a_stored_page_serves_and_says_so(clock):
    page = StoredPage(41, NOON - timedelta(hours=3))
    desk = Desk(clock, paid=NO_QUOTA, page=page)
    result = await desk.after(Failure.FORBIDDEN)
    assert (result.stored, result.fetcher, result.failure) == (page, "stored", None)
    assert result.degraded == (Service.SCRAPINGBEE,)
    assert "no credits; the page of 2026-03-02 09:00 UTC serves meanwhile" in result.error
    assert desk.since == NOON - MAX_STORED_AGE


async def test_without_a_stored_page_the_sites_own_answer_stands_and_the_run_is_marked(clock):
    result = await Desk(clock, paid=NO_QUOTA).after(Failure.FORBIDDEN)
    assert (result.failure, result.degraded) == (Failure.FORBIDDEN, (Service.SCRAPINGBEE,))


@pytest.mark.shows("F4")
async def test_a_source_that_always_pays_is_served_from_store_too(clock):
    page = StoredPage(41, NOON)
    desk = Desk(clock, page=page)
    assert (await desk.after(Failure.OUT_OF_QUOTA, fetcher=FetcherKind.SCRAPINGBEE)).stored == page
    assert desk.asked == []


async def test_what_an_actor_did_not_get_is_not_paid_for_elsewhere(clock):
    desk = Desk(clock)
    assert await desk.after(Failure.SERVER_ERROR, attempts=2, fetcher=FetcherKind.APIFY) is desk.first


CAPTCHA = b"<title>Just a moment...</title><h1>Are you a robot?</h1><div class=g-recaptcha></div>"
AGENDA_PAGE = b"<h1>Agenda</h1><p>Wat er te doen is in en om de stad, elke dag opnieuw voor iedereen.</p>"


async def test_a_captcha_with_status_200_is_paid_for_at_once(clock):
    desk = Desk(clock)
    result = await desk.after(None, page=CAPTCHA)
    assert (result.fetcher, result.body) == ("scrapingbee", b"agenda")
    assert result.instead_of == "blocked_page: a captcha"
    assert desk.asked[0].etag == ""


@pytest.mark.parametrize(
    "page",
    [
        AGENDA_PAGE,
        b"",
        b"<script type=application/ld+json>{}</script>" + CAPTCHA,
        CAPTCHA + b"<!--" + b"x" * 200_000 + b"-->",
    ],
)
async def test_a_page_that_may_be_the_page_is_never_paid_for(clock, page):
    desk = Desk(clock)
    assert await desk.after(None, page=page) is desk.first
    assert desk.asked == []


async def test_nobody_pays_for_a_captcha_that_nobody_chose_to_pay_for(clock):
    desk = Desk(clock, how="chosen")
    assert await desk.after(None, page=CAPTCHA) is desk.first
    assert desk.asked == []


async def test_a_captcha_for_money_is_no_better_than_one_for_free(clock):
    paid = FetchResult(
        status=FetchStatus.OK, url=URL, final_url=URL, fetcher="scrapingbee", content_type="text/html", body=CAPTCHA
    )
    desk = Desk(clock, paid=paid)
    assert await desk.after(None, page=CAPTCHA) is desk.first
    assert len(desk.asked) == 1


@pytest.mark.shows("F4")
async def test_out_of_quota_a_stored_page_serves_instead_of_a_captcha(clock):
    page = StoredPage(41, NOON - timedelta(hours=3))
    assert (await Desk(clock, paid=NO_QUOTA, page=page).after(None, page=CAPTCHA)).stored == page


@pytest.mark.shows("P3")
@pytest.mark.parametrize("shape", MARKUP)
def test_a_look_for_a_notice_is_short_whatever_a_small_page_holds(shape: str) -> None:
    """It is taken on the event loop; 30 ms are the most that any of these took."""
    size = 100
    while len(body := MARKUP[shape](size).encode()) < LARGEST_NOTICE and size < LARGEST_NOTICE:
        size *= 2
    page = FetchResult(status=FetchStatus.OK, url=URL, final_url=URL, fetcher="http", content_type="text/html",
                       body=body[:LARGEST_NOTICE])  # fmt: skip
    began = time.process_time()
    block_in(page)
    assert time.process_time() - began < 0.5
