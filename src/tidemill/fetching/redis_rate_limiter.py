"""The rate limit in Redis: every request of every machine, charged by Redis' own clock.

One script charges a request and returns how long to wait, so that no two machines are given the same moment. What
Redis does not remember counts as asked up to the moment at which its memory begins: after a flush, a restart or a
change of server nobody is granted what another may have used up. The ledger in the database holds throughout, so that
a Redis that is away costs precision between clocks and nothing else.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any

from tidemill.core.pacing import Pace
from tidemill.core.services.degradation import Service
from tidemill.pipeline.ports import Clock, RequestPermit

MICROSECOND = timedelta(microseconds=1)
PREFIX = "tidemill:pace"
TIMEOUT_SECONDS = 1.0  # what Redis may take to answer; a request must not wait for it for long
FIRST_BACKOFF = timedelta(seconds=1)
LONGEST_BACKOFF = timedelta(seconds=30)
FULL_WAIT = timedelta(milliseconds=100)
MOST_TRIES = 40
NOT_INSTALLED = "the extra `redis` is not installed (pip install 'tidemill[redis]')"

Report = Callable[[Service, str], Awaitable[None]]

CHARGE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, burst, parallel = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

-- Since when this server remembers: a flush forgets it, another server's is not ours.
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
local memory = redis.call('HMGET', KEYS[3], 'server', 'since')
local since = tonumber(memory[2])
if memory[1] ~= server or not since then
    since = now
    redis.call('HSET', KEYS[3], 'server', server, 'since', string.format('%.0f', since))
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= parallel then
    return -1
end

-- The booking: until when requests are booked. One from before `since` is not to be trusted.
local booking = tonumber(redis.call('GET', KEYS[1])) or 0
booking = math.max(booking, since + burst * interval)
local leaves = math.max(now, booking - (burst - 1) * interval)
booking = math.max(booking, leaves) + interval
redis.call('SET', KEYS[1], string.format('%.0f', booking), 'PX', math.ceil((booking - now) / 1000) + 1000)

local ends = leaves + tonumber(ARGV[5])
redis.call('ZADD', KEYS[2], string.format('%.0f', ends), ARGV[4])
redis.call('PEXPIRE', KEYS[2], math.ceil((ends - now) / 1000) + 1000)
return string.format('%.0f', leaves - now)
"""
"""KEYS: the host's booking, its requests under way, the memory. ARGV: interval, burst, parallel, ticket, stay."""


ADD = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = tonumber(ARGV[1])
local booking = math.max(tonumber(redis.call('GET', KEYS[1])) or 0, now) + interval * tonumber(ARGV[2])
redis.call('SET', KEYS[1], string.format('%.0f', booking), 'PX', math.ceil((booking - now) / 1000) + 1000)
return 1
"""
"""KEYS: the host's booking. ARGV: interval, requests."""


class RedisRateLimiter:
    """Charges requests in Redis; while Redis is away it reports so and retries after a backoff."""

    def __init__(self, client: Any, clock: Clock, report: Report) -> None:
        """Made by `open_redis_rate_limiter`; `report` is called at each change between working and not."""
        self._client = client
        self._clock = clock
        self._report = report
        self._charge_script = client.register_script(CHARGE)
        self._add_script = client.register_script(ADD)
        self._backoff = FIRST_BACKOFF
        self._retry_at: datetime | None = None

    async def charge(self, host: str, pace: Pace, stay: timedelta) -> RequestPermit | None:
        """Count one request and take a place among those under way; return None when Redis does not answer."""
        if self._retry_at is not None and self._clock.now() < self._retry_at:
            return None
        ticket = token_hex(8)
        arguments = [pace.interval // MICROSECOND, pace.burst, pace.parallel, ticket, stay // MICROSECOND]
        for _ in range(MOST_TRIES):
            answer = await self._ask_redis(self._charge_script(keys=_keys(host), args=arguments))
            if answer is None:
                return None
            if int(answer) >= 0:
                return RequestPermit(ticket, int(answer) * MICROSECOND)
            await self._clock.sleep_until(self._clock.now() + FULL_WAIT)
        return RequestPermit(ticket, FULL_WAIT * MOST_TRIES * 2)  # longer than anybody waits: another time

    async def add(self, host: str, pace: Pace, requests: int) -> None:
        """Count requests that have been sent already; while Redis is away, only the ledger counts them."""
        if self._retry_at is None:
            await self._ask_redis(self._add_script(keys=_keys(host)[:1], args=[pace.interval // MICROSECOND, requests]))

    async def release(self, host: str, permit: RequestPermit) -> None:
        """Free the place of a request that is over."""
        if self._retry_at is None:
            await self._ask_redis(self._client.zrem(_keys(host)[1], permit.ticket))

    async def probe(self) -> str:
        """Return '' when Redis answers, else what is wrong."""
        self._retry_at = None
        answer = await self._ask_redis(self._client.ping())
        return "" if answer is not None else "Redis does not answer"

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _ask_redis(self, command: Awaitable[Any]) -> Any:
        """Return Redis' answer, or None when it is away; it is then reported and left alone for the backoff."""
        from redis.exceptions import RedisError  # noqa: PLC0415 - an extra; whoever is here has it

        try:
            answer = await command
        except (RedisError, OSError, TimeoutError) as error:
            self._retry_at = self._clock.now() + self._backoff
            self._backoff = min(LONGEST_BACKOFF, self._backoff * 2)
            await self._report(Service.REDIS, f"Redis does not answer ({type(error).__name__})")
            return None
        self._retry_at, self._backoff = None, FIRST_BACKOFF
        await self._report(Service.REDIS, "")
        return answer


class RateLimiterNotInstalled:
    """Stands in where Redis is set up but its extra is not installed: reports so, and leaves counting to the ledger."""

    def __init__(self, report: Report) -> None:
        """`report` is called with what is missing."""
        self._report = report

    async def charge(self, _host: str, _pace: Pace, _stay: timedelta) -> RequestPermit | None:
        """Charge nothing, and report what is missing."""
        await self._report(Service.REDIS, NOT_INSTALLED)
        return None

    async def add(self, _host: str, _pace: Pace, _requests: int) -> None:
        """Count nothing."""

    async def release(self, _host: str, _lease: RequestPermit) -> None:
        """Free nothing: no place was taken."""

    async def probe(self) -> str:
        """Return what is wrong."""
        return NOT_INSTALLED

    async def close(self) -> None:
        """Close nothing."""


def open_redis_rate_limiter(url: str, clock: Clock, report: Report) -> RedisRateLimiter | RateLimiterNotInstalled:
    """Return the rate limiter on the Redis at `url`, without connecting yet."""
    try:
        from redis.asyncio import Redis  # noqa: PLC0415 - an extra
        from redis.asyncio.retry import Retry  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415
    except ImportError:
        return RateLimiterNotInstalled(report)
    client = Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        max_connections=16,
    )
    return RedisRateLimiter(client, clock, report)


def _keys(host: str) -> list[str]:
    return [f"{PREFIX}:tab:{host}", f"{PREFIX}:under-way:{host}", f"{PREFIX}:memory"]
