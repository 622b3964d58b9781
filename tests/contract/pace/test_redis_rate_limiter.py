"""What the meter in Redis promises, on a real server: nothing exceeds, whatever becomes of its memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from rig.clock import SettableClock
from rig.redis import RedisServer
from tidemill.core.pacing import Pace
from tidemill.core.services.degradation import Service
from tidemill.engine.clock import RealClock
from tidemill.fetching.http import http_fetcher
from tidemill.fetching.redis_rate_limiter import (
    NOT_INSTALLED,
    RateLimiterNotInstalled,
    RedisRateLimiter,
    open_redis_rate_limiter,
)
from tidemill.pipeline.ports import FetchRequest, WireRequest, WireResponse

pytestmark = pytest.mark.shows("F6")

MINUTE = timedelta(minutes=1)
SLOW = Pace(MINUTE, burst=1, parallel=9)


class Book:
    """Hears how services go."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def report(self, service: Service, trouble: str) -> None:
        assert service is Service.REDIS
        if not self.said or self.said[-1] != trouble:
            self.said.append(trouble)


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
async def shared_limiter(redis: RedisServer, book: Book) -> AsyncIterator[RedisRateLimiter]:
    made = open_redis_rate_limiter(redis.url, RealClock(), book.report)
    assert isinstance(made, RedisRateLimiter)
    await made.charge("first.example", Pace(timedelta(0)), MINUTE)  # its memory begins
    yield made
    await made.close()


async def waits(shared_limiter: RedisRateLimiter, pace: Pace, times: int, host: str = "example.org") -> list[float]:
    """What each of so many requests is told to wait, in minutes."""
    permits = [await shared_limiter.charge(host, pace, MINUTE) for _ in range(times)]
    return [round(permit.wait / MINUTE, 1) for permit in permits if permit is not None]


def remembers_for_long(redis: RedisServer) -> None:
    """Let its memory have begun an hour ago, as a server's usually has."""
    since = redis.say("HGET", "tidemill:pace:memory", "since").split(b"\r\n")[1]
    redis.say("HSET", "tidemill:pace:memory", "since", str(int(since) - 3_600_000_000))


async def test_each_request_is_told_in_the_same_call_how_long_to_wait(
    shared_limiter: RedisRateLimiter, redis: RedisServer
) -> None:
    remembers_for_long(redis)
    assert await waits(shared_limiter, SLOW, 3) == [0.0, 1.0, 2.0]
    assert await waits(shared_limiter, SLOW, 1, "elsewhere.example") == [0.0]


async def test_requests_that_were_sent_already_are_waited_for(
    shared_limiter: RedisRateLimiter, redis: RedisServer
) -> None:
    remembers_for_long(redis)
    await shared_limiter.add("example.org", SLOW, 3)
    assert await waits(shared_limiter, SLOW, 1) == [3.0]
    assert await waits(shared_limiter, SLOW, 1, "elsewhere.example") == [0.0]


async def test_a_burst_goes_at_once_and_the_rest_at_the_pace(
    shared_limiter: RedisRateLimiter, redis: RedisServer
) -> None:
    remembers_for_long(redis)
    assert await waits(shared_limiter, Pace(MINUTE, burst=3, parallel=9), 5) == [0.0, 0.0, 0.0, 1.0, 2.0]


async def test_many_machines_at_once_are_never_told_the_same_moment(redis: RedisServer, book: Book) -> None:
    limiters = [open_redis_rate_limiter(redis.url, RealClock(), book.report) for _ in range(3)]
    permits = await asyncio.gather(*(each.charge("example.org", SLOW, MINUTE) for each in limiters for _ in range(3)))
    for each in limiters:
        await each.close()
    assert sorted(round(permit.wait / MINUTE) for permit in permits if permit) == [1, 2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("loss", ["FLUSHALL", "restart"])
async def test_what_redis_forgot_counts_as_asked_just_before(
    shared_limiter: RedisRateLimiter, redis: RedisServer, loss: str
) -> None:
    remembers_for_long(redis)
    pace = Pace(MINUTE, burst=3, parallel=9)
    assert await waits(shared_limiter, pace, 3) == [0.0, 0.0, 0.0]
    if loss == "restart":
        redis.kill()
        redis.start()
        while await shared_limiter.probe():
            pass  # the connections of before are noticed to be dead one by one
    else:
        redis.say(loss)
    assert await waits(shared_limiter, pace, 2) == [1.0, 2.0]


async def test_a_tab_from_before_another_servers_time_is_not_trusted(
    shared_limiter: RedisRateLimiter, redis: RedisServer
) -> None:
    remembers_for_long(redis)
    assert await waits(shared_limiter, SLOW, 1) == [0.0]
    redis.say("HSET", "tidemill:pace:memory", "server", "abcdef")  # as if an old copy had been restored elsewhere
    assert await waits(shared_limiter, SLOW, 1) == [1.0]


async def test_no_more_are_under_way_than_the_host_allows_and_places_come_back(
    shared_limiter: RedisRateLimiter, redis: RedisServer
) -> None:  # fmt: skip
    remembers_for_long(redis)
    pace = Pace(timedelta(milliseconds=1), parallel=2)
    first, _ = [await shared_limiter.charge("example.org", pace, MINUTE) for _ in range(2)]
    third = asyncio.create_task(shared_limiter.charge("example.org", pace, MINUTE))
    done, _ = await asyncio.wait({third}, timeout=0.05)
    assert not done
    assert first is not None
    await shared_limiter.release("example.org", first)
    assert await third is not None


async def test_a_place_whose_holder_died_is_given_to_others_in_time(
    shared_limiter: RedisRateLimiter, redis: RedisServer
) -> None:
    remembers_for_long(redis)
    pace = Pace(timedelta(milliseconds=1), parallel=1)
    await shared_limiter.charge("example.org", pace, timedelta(milliseconds=30))
    assert await shared_limiter.charge("example.org", pace, MINUTE) is not None


async def test_a_redis_that_is_away_is_told_rested_and_found_again(redis: RedisServer, book: Book) -> None:
    clock = SettableClock()
    shared_limiter = open_redis_rate_limiter(redis.url, clock, book.report)
    redis.kill()
    assert await shared_limiter.charge("example.org", SLOW, MINUTE) is None
    redis.start()
    assert await shared_limiter.charge("example.org", SLOW, MINUTE) is None  # it rests for a second first
    clock.advance(timedelta(seconds=2))
    assert await shared_limiter.charge("example.org", SLOW, MINUTE) is not None
    await shared_limiter.close()
    assert book.said == ["Redis does not answer (ConnectionError)", ""]


async def test_a_probe_says_whether_redis_answers(shared_limiter: RedisRateLimiter, redis: RedisServer) -> None:
    assert await shared_limiter.probe() == ""
    redis.kill()
    assert await shared_limiter.probe() == "Redis does not answer"


async def test_a_missing_extra_is_told_and_leaves_the_pace_to_the_ledger(book: Book) -> None:
    shared_limiter = RateLimiterNotInstalled(book.report)
    assert await shared_limiter.charge("example.org", SLOW, MINUTE) is None
    assert (book.said, await shared_limiter.probe()) == ([NOT_INSTALLED], NOT_INSTALLED)


class Site:
    """Answers whatever it is asked, at once."""

    async def send(self, _request: WireRequest, before_send: Callable[[], Awaitable[None]]) -> WireResponse:
        await before_send()
        return WireResponse(status_code=200, headers={})

    async def close(self) -> None:
        """Nothing to let go of."""


async def test_a_host_with_a_pace_of_its_own_is_charged_apart_from_its_domain(
    shared_limiter: RedisRateLimiter, redis: RedisServer
) -> None:
    remembers_for_long(redis)
    own = {"api.example.org": Pace(MINUTE)}
    fetcher = http_fetcher(RealClock(), transport=Site(), shared_limiter=shared_limiter, own_paces=own)
    for url in ("https://api.example.org/", "https://www.example.org/"):
        request = FetchRequest(url=url, host="example.org", pace=Pace(MINUTE), obey_robots=False)
        assert (await fetcher.fetch(request)).failure is None
    assert await waits(shared_limiter, SLOW, 1, "api.example.org") == await waits(shared_limiter, SLOW, 1) == [1.0]
