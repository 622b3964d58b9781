import gzip
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
import xxhash

from rig.clock import NOON, SettableClock
from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.fetching.http import HttpFetcher, digest_of, http_fetcher
from tidemill.pipeline.ports import FetchRequest, FetchStatus, WireFailure, WireRequest, WireResponse

HOME = "https://example.org/agenda"
ANSWER_TAKES = timedelta(milliseconds=100)

Answer = WireResponse | WireFailure


def page(body: str = "<p>hoi</p>", code: int = 200, **headers: str) -> WireResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return WireResponse(status_code=code, headers={"content-type": "text/html", **named}, body=body.encode())


class Web:
    """A web in memory: answers by address, everything else is 404; keeps what it was sent and when."""

    def __init__(self, clock: SettableClock, answers: dict[str, Answer]) -> None:
        self._clock = clock
        self.answers = answers
        self.sent: list[tuple[datetime, WireRequest]] = []
        self.is_closed = False

    async def send(self, request: WireRequest, before_send: Callable[[], Awaitable[None]]) -> Answer:
        await before_send()
        self.sent.append((self._clock.now(), request))
        self._clock.advance(ANSWER_TAKES)
        return self.answers.get(request.url, page("", 404))

    async def close(self) -> None:
        self.is_closed = True

    @property
    def urls(self) -> list[str]:
        return [request.url for _, request in self.sent]


def fetcher_of(web: Web, clock: SettableClock) -> HttpFetcher:
    return http_fetcher(clock, transport=web, user_agent="Tidemill/0.1 (+https://example.net/bot)")


def asking(url: str = HOME, **terms: object) -> FetchRequest:
    return FetchRequest(**{"url": url, "host": "example.org", "pace": Pace(), **terms})  # type: ignore[arg-type]


@pytest.mark.shows("F1")
async def test_a_page_comes_back_with_everything_known_about_it(clock: SettableClock) -> None:
    body = "<p>café</p>"
    web = Web(clock, {HOME: page(body, content_type="text/html; charset=utf-8", etag='"1"')})
    result = await fetcher_of(web, clock).fetch(asking(HOME + "#top"))
    assert (result.status, result.status_code, result.failure, result.error) == (FetchStatus.OK, 200, None, "")
    assert (result.url, result.final_url) == (HOME + "#top", HOME)
    assert (result.body, result.wire_body, result.content_encoding) == (body.encode(), body.encode(), "")
    assert (result.charset, result.headers["etag"], result.fetcher) == ("utf-8", '"1"', "http")
    assert result.digest == digest_of(body.encode())
    assert result.requests == 2  # robots.txt counts
    assert result.requested_at == NOON + timedelta(seconds=2)
    assert result.duration == ANSWER_TAKES


def test_a_digest_is_xxh3_as_a_signed_number() -> None:
    for body in (b"", b"a", b"b", b"c", b"d"):
        assert digest_of(body) % (1 << 64) == xxhash.xxh3_64_intdigest(body)
        assert -(1 << 63) <= digest_of(body) < 1 << 63


@pytest.mark.shows("F1")
async def test_every_request_names_us_honestly_and_carries_the_sources_own_headers(clock: SettableClock) -> None:
    web = Web(clock, {HOME: page()})
    await fetcher_of(web, clock).fetch(asking(headers={"Accept-Language": "nl"}))
    for _, request in web.sent:
        assert request.headers["User-Agent"] == "Tidemill/0.1 (+https://example.net/bot)"
        assert request.headers["Accept-Language"] == "nl"


async def test_a_sources_own_header_replaces_ours_whatever_its_case(clock: SettableClock) -> None:
    web = Web(clock, {HOME: page()})
    await fetcher_of(web, clock).fetch(asking(headers={"accept": "application/json"}))
    assert {name: value for name, value in web.sent[-1][1].headers.items() if name.lower() == "accept"} == {
        "accept": "application/json"
    }


async def test_a_compressed_page_is_decoded_and_kept_as_it_came(clock: SettableClock) -> None:
    wire = gzip.compress(b"<p>hoi</p>")
    answer = WireResponse(status_code=200, headers={"content-encoding": "gzip"}, body=wire)
    result = await fetcher_of(Web(clock, {HOME: answer}), clock).fetch(asking())
    assert (result.body, result.wire_body, result.content_encoding) == (b"<p>hoi</p>", wire, "gzip")


async def test_a_gzip_page_without_its_end_is_truncated_and_what_came_is_evidence(clock: SettableClock) -> None:
    answer = WireResponse(status_code=200, headers={"content-encoding": "gzip"}, body=gzip.compress(b"<p>hoi</p>")[:-4])
    result = await fetcher_of(Web(clock, {HOME: answer}), clock).fetch(asking())
    assert (result.status, result.failure, result.body) == (FetchStatus.ERROR, Failure.TRUNCATED_BODY, b"<p>hoi</p>")


@pytest.mark.shows("F1")
async def test_a_part_that_nobody_asked_for_is_not_taken_for_the_page(clock: SettableClock) -> None:
    answer = page("<p>ho", 206, content_range="bytes 0-4/5000")
    result = await fetcher_of(Web(clock, {HOME: answer}), clock).fetch(asking())
    assert (result.status, result.failure, result.body) == (FetchStatus.ERROR, Failure.TRUNCATED_BODY, b"<p>ho")


@pytest.mark.shows("F1")
async def test_a_page_that_unfolds_beyond_the_cap_is_too_large(clock: SettableClock) -> None:
    answer = WireResponse(status_code=200, headers={"content-encoding": "gzip"}, body=gzip.compress(bytes(5000)))
    result = await fetcher_of(Web(clock, {HOME: answer}), clock).fetch(asking(max_bytes=1000))
    assert (result.status, result.failure, len(result.body)) == (FetchStatus.TOO_LARGE, Failure.TOO_LARGE, 1000)


@pytest.mark.shows("F1")
@pytest.mark.parametrize("cut", [Failure.TOO_LARGE, Failure.TRUNCATED_BODY, Failure.TIMED_OUT, Failure.CONNECTION_LOST])
async def test_a_body_cut_on_the_wire_is_a_failure_with_what_came(clock: SettableClock, cut: Failure) -> None:
    answer = WireResponse(status_code=200, headers={}, body=b"<p>ho", cut=cut)
    result = await fetcher_of(Web(clock, {HOME: answer}), clock).fetch(asking())
    assert (result.failure, result.body, result.status_code) == (cut, b"<p>ho", 200)


@pytest.mark.parametrize(
    "failure", [Failure.TIMED_OUT, Failure.DNS_FAILED, Failure.TLS_FAILED, Failure.CONNECTION_LOST]
)
async def test_no_answer_at_all_is_a_failure_with_its_reason(clock: SettableClock, failure: Failure) -> None:
    web = Web(clock, {HOME: WireFailure(failure=failure, detail="why")})
    result = await fetcher_of(web, clock).fetch(asking())
    assert (result.failure, result.error, result.status_code) == (failure, "why", 0)


@pytest.mark.shows("F3")
async def test_an_error_page_is_kept_as_evidence_and_its_wish_to_wait_is_heard(clock: SettableClock) -> None:
    web = Web(clock, {HOME: page("slow down", 429, retry_after="90")})
    result = await fetcher_of(web, clock).fetch(asking())
    assert (result.status, result.failure, result.body) == (FetchStatus.BLOCKED, Failure.RATE_LIMITED, b"slow down")
    assert result.retry_after == timedelta(seconds=90)
    assert result.error == "the server answered 429"


@pytest.mark.shows("F7")
async def test_a_page_that_has_not_changed_says_so(clock: SettableClock) -> None:
    web = Web(clock, {HOME: page("", 304)})
    fetcher = fetcher_of(web, clock)
    result = await fetcher.fetch(asking(etag='W/"1"', last_modified="Mon, 02 Mar 2026 11:00:00 GMT"))
    assert (result.status, result.not_modified, result.failure) == (FetchStatus.OK, True, None)
    assert web.sent[-1][1].headers["If-None-Match"] == 'W/"1"'
    assert web.sent[-1][1].headers["If-Modified-Since"] == "Mon, 02 Mar 2026 11:00:00 GMT"
    unasked = await fetcher.fetch(asking())
    assert (unasked.not_modified, unasked.failure) == (False, Failure.CLIENT_ERROR)


@pytest.mark.parametrize("etag", ['"é"', '"\r\nX-Evil: 1"', '"\udc80"'])
async def test_a_validator_that_cannot_be_sent_back_is_left_out(clock: SettableClock, etag: str) -> None:
    web = Web(clock, {HOME: page()})
    assert (await fetcher_of(web, clock).fetch(asking(etag=etag))).failure is None
    assert "If-None-Match" not in web.sent[-1][1].headers


@pytest.mark.shows("F6")
async def test_redirects_are_followed_and_each_is_paced(clock: SettableClock) -> None:
    answers = {HOME: page("", 301, location="/nieuw#x"), "https://example.org/nieuw": page("", 302, location="a/b")}
    web = Web(clock, {**answers, "https://example.org/a/b": page("there")})
    result = await fetcher_of(web, clock).fetch(asking())
    assert (result.final_url, result.body, result.requests) == ("https://example.org/a/b", b"there", 4)
    moments = [moment for moment, _ in web.sent]
    assert [later - earlier for earlier, later in pairwise(moments)] == [timedelta(seconds=2)] * 3


async def test_more_than_ten_redirects_are_too_many(clock: SettableClock) -> None:
    web = Web(clock, {HOME: page("", 302, location=HOME)})
    result = await fetcher_of(web, clock).fetch(asking())
    assert result.failure is Failure.TOO_MANY_REDIRECTS
    assert web.urls.count(HOME) == 11


async def test_redirects_share_one_time_limit(clock: SettableClock) -> None:
    web = Web(clock, {HOME: page("", 302, location=HOME)})
    result = await fetcher_of(web, clock).fetch(asking(timeout=timedelta(milliseconds=250)))
    assert (result.status, result.failure) == (FetchStatus.TIMEOUT, Failure.TIMED_OUT)
    assert [request.timeout.total_seconds() for _, request in web.sent if request.url == HOME] == [0.25, 0.15, 0.05]


@pytest.mark.shows("F8")
@pytest.mark.parametrize(
    ("location", "failure"),
    [
        ("http://169.254.169.254/latest/meta-data/", Failure.ADDRESS_REFUSED),
        ("http://0x7f.1/", Failure.ADDRESS_REFUSED),
        ("file:///etc/passwd", Failure.ADDRESS_REFUSED),
        ("https://user:secret@example.org/", Failure.ADDRESS_REFUSED),
        ("http://[broken", Failure.BAD_URL),
    ],
)
async def test_a_redirect_to_where_we_never_go_ends_the_fetch(
    clock: SettableClock, location: str, failure: Failure
) -> None:
    web = Web(clock, {HOME: page("", 302, location=location)})
    result = await fetcher_of(web, clock).fetch(asking())
    assert result.failure is failure
    assert web.urls == ["https://example.org/robots.txt", HOME]


async def test_a_redirect_without_a_location_is_an_error(clock: SettableClock) -> None:
    result = await fetcher_of(Web(clock, {HOME: page("moved", 302)}), clock).fetch(asking())
    assert (result.failure, result.body) == (Failure.CLIENT_ERROR, b"moved")


@pytest.mark.shows("B9")
async def test_a_redirect_elsewhere_is_checked_against_that_hosts_robots_and_told_no_secrets(
    clock: SettableClock,
) -> None:
    web = Web(clock, {HOME: page("", 302, location="https://other.example/x"),
                      "https://other.example/robots.txt": page("User-agent: *\nDisallow: /x")})  # fmt: skip
    fetcher = fetcher_of(web, clock)
    result = await fetcher.fetch(asking(headers={"Authorization": "Bearer secret", "Cookie": "a=b"}))
    assert (result.status, result.failure) == (FetchStatus.ROBOTS_BLOCKED, Failure.ROBOTS_DISALLOWED)
    assert result.final_url == "https://other.example/x"
    assert web.urls == ["https://example.org/robots.txt", HOME, "https://other.example/robots.txt"]
    assert "Authorization" in web.sent[1][1].headers
    assert set(web.sent[2][1].headers) == {"User-Agent", "Accept", "Accept-Encoding"}


@pytest.mark.shows("F6")
async def test_a_redirect_elsewhere_counts_against_that_host_at_our_most_careful_pace(clock: SettableClock) -> None:
    free = Pace(timedelta(0), parallel=8)
    web = Web(clock, {HOME: page("", 302, location="https://other.example/x"), "https://other.example/x": page()})
    await fetcher_of(web, clock).fetch(asking(pace=free))
    moments = dict(zip(web.urls, (moment for moment, _ in web.sent), strict=True))
    assert moments[HOME] - moments["https://example.org/robots.txt"] == ANSWER_TAKES
    gap = moments["https://other.example/x"] - moments["https://other.example/robots.txt"]
    assert gap == Pace().interval


@pytest.mark.shows("F5")
async def test_a_page_that_robots_txt_disallows_is_never_asked_for(clock: SettableClock) -> None:
    web = Web(clock, {"https://example.org/robots.txt": page("User-agent: Tidemill\nDisallow: /agenda"), HOME: page()})
    result = await fetcher_of(web, clock).fetch(asking())
    assert (result.status, result.failure) == (FetchStatus.ROBOTS_BLOCKED, Failure.ROBOTS_DISALLOWED)
    assert result.error == "robots.txt says 'Disallow: /agenda'"
    assert HOME not in web.urls


async def test_robots_txt_is_left_unread_when_the_request_says_so(clock: SettableClock) -> None:
    web = Web(clock, {"https://example.org/robots.txt": page("User-agent: *\nDisallow: /"), HOME: page()})
    assert (await fetcher_of(web, clock).fetch(asking(obey_robots=False))).status is FetchStatus.OK
    assert web.urls == [HOME]


@pytest.mark.shows("F5")
async def test_an_unavailable_robots_txt_blocks_until_it_is_tried_again(clock: SettableClock) -> None:
    web = Web(clock, {"https://example.org/robots.txt": page("", 503), HOME: page()})
    result = await fetcher_of(web, clock).fetch(asking())
    assert (result.status, result.failure) == (FetchStatus.ROBOTS_BLOCKED, Failure.ROBOTS_DISALLOWED)
    assert (result.requests, result.error) == (3, "robots.txt is unknown: robots.txt answered 503")
    assert result.retry_at == clock.now() + timedelta(minutes=5)


async def test_a_host_that_dns_does_not_know_is_told_as_that_and_not_as_robots(clock: SettableClock) -> None:
    web = Web(clock, {"https://example.org/robots.txt": WireFailure(failure=Failure.DNS_FAILED, detail="no such name")})
    result = await fetcher_of(web, clock).fetch(asking())
    assert (result.status, result.failure) == (FetchStatus.ERROR, Failure.DNS_FAILED)


async def test_robots_txt_is_decoded_and_its_redirects_followed_within_the_guard(clock: SettableClock) -> None:
    squeezed = WireResponse(
        status_code=200, headers={"content-encoding": "gzip"}, body=gzip.compress(b"User-agent: *\nDisallow: /agenda")
    )
    web = Web(clock, {"https://example.org/robots.txt": page("", 301, location="https://www.example.org/robots.txt"),
                      "https://www.example.org/robots.txt": squeezed})  # fmt: skip
    assert (await fetcher_of(web, clock).fetch(asking())).failure is Failure.ROBOTS_DISALLOWED
    trap = Web(clock, {"https://example.org/robots.txt": page("", 301, location="http://127.0.0.1/robots.txt")})
    assert (await fetcher_of(trap, clock).fetch(asking())).failure is Failure.ADDRESS_REFUSED


@pytest.mark.shows("F5")
async def test_a_crawl_delay_slows_the_pace_and_is_reported(clock: SettableClock) -> None:
    web = Web(clock, {"https://example.org/robots.txt": page("User-agent: *\nCrawl-delay: 7"), HOME: page()})
    fetcher = fetcher_of(web, clock)
    results = [await fetcher.fetch(asking()) for _ in range(3)]
    assert results[0].crawl_delay == timedelta(seconds=7)
    moments = [moment for moment, request in web.sent if request.url == HOME]
    assert [later - earlier for earlier, later in pairwise(moments)] == [timedelta(seconds=7)] * 2


async def test_what_is_no_address_is_a_bad_url_and_asks_nobody(clock: SettableClock) -> None:
    web = Web(clock, {})
    result = await fetcher_of(web, clock).fetch(asking("htp:/example"))
    assert (result.status, result.failure, result.requests) == (FetchStatus.ERROR, Failure.BAD_URL, 0)
    assert "is not a web address" in result.error
    assert web.sent == []


async def test_closing_the_fetcher_closes_its_transport(clock: SettableClock) -> None:
    web = Web(clock, {})
    await fetcher_of(web, clock).close()
    assert web.is_closed


async def test_nothing_is_asked_for_a_job_that_was_lost_while_it_waited(clock: SettableClock) -> None:
    web = Web(clock, {HOME: page(), HOME + "robots.txt": page("")})
    ours = [True, False]
    result = await fetcher_of(web, clock).fetch(asking(holds_lease=lambda: ours.pop(0)))
    assert result.failure is Failure.WORKER_DIED
    assert [url.rpartition("/")[2] for url in web.urls] == ["robots.txt"]
