"""A host with a pace of its own is asked at it, whoever asks and however they came there."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from rig.clock import SettableClock
from tidemill.core.gates import Gate, GateAnswer
from tidemill.core.pacing import Pace, has_own_pace, own_host, pace_key
from tidemill.fetching.http import HttpFetcher, http_fetcher
from tidemill.pipeline.ports import FetchRequest, WireRequest, WireResponse

pytestmark = pytest.mark.shows("F6")

SECOND = timedelta(seconds=1)
SLOW = Pace(10 * SECOND)
QUICK = Pace(SECOND)
OWN = {"api.example.org": QUICK}
API, WWW = "https://api.example.org/list", "https://www.example.org/agenda"


class Web:
    """Answers every page, or sends it on; remembers when it was asked for what."""

    def __init__(self, clock: SettableClock, moved: dict[str, str] | None = None) -> None:
        self._clock = clock
        self._moved = moved or {}
        self.asked: list[tuple[datetime, str]] = []

    async def send(self, request: WireRequest, depart: Callable[[], Awaitable[None]]) -> WireResponse:
        await depart()
        self.asked.append((self._clock.now(), request.url))
        if request.url in self._moved:
            return WireResponse(status_code=302, headers={"location": self._moved[request.url]})
        return WireResponse(status_code=200, headers={"content-type": "text/html"}, body=b"<p>hoi</p>")

    async def close(self) -> None:
        pass

    def gap(self) -> timedelta:
        """The time between the last two requests."""
        return self.asked[-1][0] - self.asked[-2][0]


def fetcher_of(web: Web, clock: SettableClock) -> HttpFetcher:
    return http_fetcher(clock, transport=web, own_paces=OWN)


def asking(url: str, host: str = "example.org", **terms: object) -> FetchRequest:
    return FetchRequest(url=url, host=host, pace=SLOW, obey_robots=False, **terms)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("api.example.org", "api.example.org"),
        ("www.example.org", "example.org"),
        ("v2.api.example.org", "example.org"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_only_the_names_in_the_settings_are_counted_by_themselves(host: str, key: str) -> None:
    assert pace_key(host, OWN) == key
    assert has_own_pace(key) == (key == "api.example.org")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.org:8443/list", "api.example.org"),
        ("https://API.example.org/list", "api.example.org"),
        ("https://www.example.org/list", ""),
        ("http://[oops/secret", ""),
        ("file:///etc/passwd", ""),
    ],
)
def test_a_host_with_a_pace_of_its_own_is_known_by_any_of_its_addresses(url: str, host: str) -> None:
    assert own_host(url, OWN) == host
    assert own_host(url, {}) == ""


async def test_who_does_not_know_that_a_host_has_its_own_pace_asks_it_at_that_pace_all_the_same(
    clock: SettableClock,
) -> None:
    web = Web(clock)
    fetcher = fetcher_of(web, clock)
    await fetcher.fetch(asking(API))
    await fetcher.fetch(asking(API))
    assert web.gap() == SECOND


async def test_the_domain_and_the_host_do_not_wait_for_each_other(clock: SettableClock) -> None:
    web = Web(clock)
    fetcher = fetcher_of(web, clock)
    await fetcher.fetch(asking(WWW))
    await fetcher.fetch(asking(API))
    assert web.gap() == timedelta(0)
    await fetcher.fetch(asking(WWW))
    assert web.gap() == 10 * SECOND


async def test_a_redirect_from_the_host_to_its_domain_counts_against_the_domain(clock: SettableClock) -> None:
    web = Web(clock, {API: WWW})
    fetcher = fetcher_of(web, clock)
    await fetcher.fetch(asking(WWW))
    await fetcher.fetch(asking(API, host="api.example.org"))
    assert [url for _, url in web.asked] == [WWW, API, WWW]
    assert web.asked[2][0] - web.asked[0][0] == 10 * SECOND


async def test_a_redirect_from_the_domain_to_the_host_counts_against_the_host(clock: SettableClock) -> None:
    web = Web(clock, {WWW: API})
    fetcher = fetcher_of(web, clock)
    await fetcher.fetch(asking(WWW))
    assert web.gap() == timedelta(0)
    await fetcher.fetch(asking(API))
    assert web.gap() == SECOND


async def test_a_source_that_counts_by_host_visits_the_domain_when_it_is_sent_there(clock: SettableClock) -> None:
    west = "https://west.example.org/"
    web = Web(clock, {west: WWW})
    fetcher = fetcher_of(web, clock)
    await fetcher.fetch(asking(WWW))
    await fetcher.fetch(asking(west, host="west.example.org"))
    assert web.asked[1][0] == web.asked[0][0]
    assert web.gap() == 10 * SECOND


async def test_the_gate_says_that_the_host_is_counted_apart(clock: SettableClock) -> None:
    said: list[GateAnswer] = []
    await fetcher_of(Web(clock), clock).fetch(asking(API, on_gate_answer=said.append))
    [pace] = [answer.words for answer in said if answer.gate is Gate.PACE]
    assert pace.startswith("api.example.org (counted apart from its domain): one request per 1 s")
