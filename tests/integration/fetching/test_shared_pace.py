"""Three worker processes on one server: as it sees them, no registrable domain is asked too fast or by too many.

Robots.txt, two hosts of one domain and redirects from another domain all count; Redis may be flushed and killed in
the middle, or not be there at all.
"""

import asyncio
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from rig.processes import Child, Nursery
from rig.redis import RedisServer
from rig.turnstile import Turnstile, a_turnstile
from rig.works import Works, the_works
from tidemill.core.job import OPEN
from tidemill.core.urls import registrable_domain
from tidemill.store.schema import hosts, jobs, pages, runs

pytestmark = pytest.mark.shows("F6", "B10")

INTERVAL = 0.2
JITTER = INTERVAL / 4
"""Seconds by which the server may see an arrival late, or the one before it: it shares two processors with the workers.

What the workers wrote down themselves is held to the pace exactly.
"""
SOURCES = {
    "single": ("www.alfa.test", {"interval_seconds": INTERVAL, "burst": 1, "parallel": 1}),
    "second host": ("agenda.alfa.test", {"interval_seconds": INTERVAL, "burst": 1, "parallel": 1}),
    "parallel": ("www.beta.test", {"interval_seconds": INTERVAL, "burst": 1, "parallel": 2}),
    "redirecting": ("www.gamma.test", {"interval_seconds": INTERVAL, "burst": 1, "parallel": 2}),
}
PAGES = {"single": 4, "second host": 3, "parallel": 7, "redirecting": 3}
DOMAINS = {"alfa.test": 1, "beta.test": 2, "gamma.test": 2}
PAGES_OF = {"alfa.test": 10, "beta.test": 7, "gamma.test": 3}
REDIRECTS = {"www.gamma.test": "http://www.alfa.test"}

Meanwhile = Callable[[Turnstile], Awaitable[None]]


async def brought_in(works: Works) -> None:
    """Every source with its pages, and a run for each."""
    entries = [
        {"name": name, "vertical": "events", "base_url": f"http://{host}", "adapter": "events.generic", "pace": pace,
         "targets": [{"url": f"http://{host}/{number}", "schedule": "0 6 * * *"} for number in range(PAGES[name])]}
        for name, (host, pace) in SOURCES.items()
    ]  # fmt: skip
    done = await works.system.actions.importer.source_entries(entries, "test")
    assert not done.problems, done.problems
    for name in SOURCES:
        await works.enqueue((await works.system.actions.sources.find(name)).id)


@asynccontextmanager
async def three_workers(nursery: Nursery, settings: dict[str, Any]) -> AsyncIterator[list[Child]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(nursery.child("supervise", settings=settings)) for _ in range(3)]


class Seen(NamedTuple):
    """What became of it: as the server saw it, as the workers wrote it down, and as the ledger charged it."""

    turnstile: Turnstile
    began: datetime
    departures: Mapping[str, Sequence[datetime]]
    charged_until: Mapping[str, datetime]

    def spacing(self, domain: str) -> list[float]:
        """The seconds between any two departures in a row for pages of a domain, whichever process sent them."""
        return [(later - sooner).total_seconds() for sooner, later in pairwise(self.departures.get(domain, ()))]

    def shortest(self, domain: str, gaps: int) -> float:
        """The shortest stretch of so many gaps that the server saw.

        An arrival that was held up on its way comes long after the one before it and shortly before the next, which
        left when it should: by as much as it may have been late, the stretch after it is longer than it looks.
        """
        seen = [INTERVAL, *self.turnstile.gaps(domain)]
        stretches = range(1, len(seen) - gaps + 1)
        return min((sum(seen[at : at + gaps]) + max(0.0, seen[at - 1] - INTERVAL) for at in stretches), default=9.0)

    def charged(self, domain: str) -> float:
        """The seconds that the ledger had the domain pay for, from the beginning on."""
        return (self.charged_until[domain] - self.began).total_seconds()


async def worked_off(nursery: Nursery, url: str, meanwhile: Meanwhile | None = None, **settings: Any) -> Seen:
    """Let three processes do all the work."""
    async with a_turnstile(REDIRECTS) as turnstile:
        names = turnstile.addresses(*(host for host, _ in SOURCES.values()))
        told = {"database": url, "host_addresses": names, "look_again_seconds": 0.3, **settings}
        async with the_works(url, host_addresses=names) as works, three_workers(nursery, told) as workers:
            began = works.system.clock.now()
            await brought_in(works)
            if meanwhile is not None:
                await meanwhile(turnstile)
            await until_done(works)
            for worker in workers:
                worker.signal(signal.SIGTERM)
            assert [await worker.ended() for worker in workers] == [0, 0, 0]
            assert {row["status"] for row in await works.rows(jobs)} == {"done"}
            assert {row["urls_failed"] for row in await works.rows(runs)} == {0}
            kept_busy = [worker for worker in workers if worker.kinds("StageDone")]
            assert len(kept_busy) > 1, "one process did all the work, which proves nothing"
            tabs = {row["host"]: row["tab_at"] for row in await works.rows(hosts)}
            return Seen(turnstile, began, await departures(works), tabs)


async def departures(works: Works) -> dict[str, list[datetime]]:
    """When the request for each page left, by the registrable domain that it went to."""
    left: dict[str, list[datetime]] = defaultdict(list)
    for row in await works.rows(pages):
        left[registrable_domain(row["final_url"])].append(row["created_at"])
    return {domain: sorted(moments) for domain, moments in left.items()}


async def until_done(works: Works) -> None:
    async with asyncio.timeout(60):
        while any([await works.count(jobs, status=status) for status in OPEN]):
            await works.system.clock.sleep_until(works.system.clock.now() + timedelta(milliseconds=50))


async def test_three_processes_share_one_pace_in_the_database(nursery: Nursery, migrated_url: str) -> None:
    seen = await worked_off(nursery, migrated_url)
    for domain, parallel in DOMAINS.items():
        asked = len(seen.turnstile.arrivals[domain])
        assert asked > PAGES_OF[domain], "robots.txt and redirects count too"
        assert min(seen.spacing(domain), default=INTERVAL) >= INTERVAL, seen.spacing(domain)
        assert seen.charged(domain) >= INTERVAL * asked, "each is on the tab, and moved it on"
        assert seen.shortest(domain, 1) > INTERVAL - JITTER, seen.turnstile.gaps(domain)
        assert seen.shortest(domain, 5) > 5 * INTERVAL - JITTER, seen.turnstile.gaps(domain)
        assert seen.turnstile.most[domain] <= parallel


async def test_a_redis_that_is_flushed_and_then_lost_lets_nothing_exceed(
    nursery: Nursery, migrated_postgres_url: str, redis: RedisServer
) -> None:
    async def trouble(turnstile: Turnstile) -> None:
        await asked(turnstile, 6)
        assert redis.say("EXISTS", "tidemill:pace:memory") == b":1\r\n"
        redis.say("FLUSHALL")
        await asked(turnstile, 14)
        redis.kill()

    seen = await worked_off(nursery, migrated_postgres_url, trouble, redis=redis.url)
    for domain, parallel in DOMAINS.items():
        assert len(seen.turnstile.arrivals[domain]) > PAGES_OF[domain]
        assert min(seen.spacing(domain), default=INTERVAL) >= INTERVAL, seen.spacing(domain)
        assert seen.shortest(domain, 1) > INTERVAL - JITTER, seen.turnstile.gaps(domain)
        assert seen.shortest(domain, 5) > 5 * INTERVAL - JITTER, seen.turnstile.gaps(domain)
        assert seen.turnstile.most[domain] <= parallel


async def asked(turnstile: Turnstile, times: int) -> None:
    """Wait until the server was asked so often."""
    async with asyncio.timeout(60):
        while sum(map(len, turnstile.arrivals.values())) < times:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.01)
