"""A Redis that may be away: what it is asked is then answered with None, at once, and it is asked again later."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from tidemill.core.services.degradation import Service
from tidemill.pipeline.ports import Clock

TIMEOUT_SECONDS = 1.0
FIRST_BACKOFF = timedelta(seconds=1)
LONGEST_BACKOFF = timedelta(seconds=15)

Report = Callable[[Service, str], Awaitable[None]]


class RedisConnection:
    """Commands to one Redis; trouble is reported, never raised."""

    def __init__(self, client: Any, clock: Clock, report: Report) -> None:
        """Made by `open_redis`."""
        self.client = client
        self._clock = clock
        self._report = report
        self._backoff = FIRST_BACKOFF
        self._retry_at: datetime | None = None

    @property
    def is_away(self) -> bool:
        """Whether it is left alone because it did not answer just now."""
        return self._retry_at is not None and self._clock.now() < self._retry_at

    async def ask(self, command: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the answer to a command, None when Redis is away."""
        from redis.exceptions import RedisError  # noqa: PLC0415 - an extra; whoever is here has it

        if self.is_away:
            return None
        try:
            answer = await command(self.client)
        except (RedisError, OSError, TimeoutError) as error:
            self._retry_at = self._clock.now() + self._backoff
            self._backoff = min(LONGEST_BACKOFF, self._backoff * 2)
            await self._report(Service.REDIS, f"Redis does not answer ({type(error).__name__})")
            return None
        if self._retry_at is not None:
            self._retry_at, self._backoff = None, FIRST_BACKOFF
            await self._report(Service.REDIS, "")
        return answer

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()


def open_redis(url: str, clock: Clock, report: Report) -> RedisConnection | None:
    """Return a connection to the Redis at `url`, without connecting yet; None where its client is not installed."""
    try:
        from redis.asyncio import Redis  # noqa: PLC0415 - an extra
        from redis.asyncio.retry import Retry  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415
    except ImportError:
        return None
    client = Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        max_connections=16,
    )
    return RedisConnection(client, clock, report)
