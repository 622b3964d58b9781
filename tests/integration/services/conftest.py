"""A whole system beside real stand-ins for the services that it uses, at a clock that the test can put forward."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest

from rig.clock import LaterClock
from rig.site import Site, a_site, agenda
from rig.works import UNHURRIED, Works, the_works
from tidemill.bootstrap.web import Telemetry, web_deps
from tidemill.core.services.degradation import Service, ServiceState, ServiceStatus
from tidemill.lab.standins.apify import Apify
from tidemill.lab.standins.scrapingbee import ScrapingBee, SitePage
from tidemill.lab.standins.talk import StandinServer
from tidemill.store.schema import runs
from tidemill.web.health import Health
from tidemill.web.system_monitor import SystemMonitor

BEE_KEY, APIFY_TOKEN = "bee-k3y", "apify-t0ken"
HOMES = [
    {"id": f"home{number}", "url": f"https://homes.example/{number}", "address": f"{number} Main St",
     "city": "Boston", "state": "MA", "price": 2_000 + number, "beds": 2, "baths": 1}
    for number in range(1, 4)
]  # fmt: skip


class Plant:
    """The system under test, its site, and the services around it."""

    def __init__(self, works: Works, clock: LaterClock, site: Site, bee: ScrapingBee, apify: Apify) -> None:
        """Nobody has signed in yet."""
        self.works, self.clock, self.site, self.bee, self.apify = works, clock, site, bee, apify
        self.system = works.system

    async def scrape(self, source_id: int, lane: str = "http") -> Any:
        """A run over a source, as far as it goes now; answers its row."""
        await self.works.enqueue(source_id)
        return await self.go_on(lane)

    async def go_on(self, lane: str = "http") -> Any:
        """Carry on what can be carried on; answers the newest run's row."""
        moment = await self.system.make_drain().run(lane)
        while moment is not None and moment - self.clock.now() < timedelta(seconds=1):  # only its host's pace
            await self.clock.sleep_until(moment)
            moment = await self.system.make_drain().run(lane)
        await self.system.ticks.chores["close_runs"].run()
        return (await self.works.rows(runs))[-1]

    async def later(self, by: timedelta) -> None:
        """Let time pass, and the periodic look at services come."""
        self.clock.ahead += by
        assert await self.system.ticks.tick("services") == "ok"

    async def status(self, service: Service) -> ServiceStatus:
        """How a service stands, as everyone sees it."""
        return next(each for each in await self.system.services.statuses() if each.service is service)

    async def health(self) -> Health:
        """What `/health` says."""
        telemetry = Telemetry(lambda words, error: pytest.fail(f"{words}: {error!r}"))
        return await SystemMonitor(web_deps(self.system, telemetry, "127.0.0.1")).health()

    async def assert_told(self, service: Service) -> None:
        """The service is degraded, and every face says so, since when and what happens instead."""
        status = await self.status(service)
        assert status.state is ServiceState.DEGRADED, status
        line = next(reason for reason in (await self.health()).reasons if reason.startswith(f"{service} is degraded"))
        assert status.fallback in line
        why = await self.system.actions.why.explain(f"service:{service}")
        assert why.verdict.startswith("degraded since")
        assert status.reason in why.verdict

    async def assert_well(self, service: Service) -> None:
        """Nobody says anything about the service any more."""
        assert (await self.status(service)).state is ServiceState.WORKS
        assert not [reason for reason in (await self.health()).reasons if str(service) in reason]

    async def agenda_source(self, name: str = "agenda", **fields: Any) -> int:
        """The site as a source."""
        return await self.works.source(self.site, name, **fields)

    async def homes_source(self) -> int:
        """A source that an actor reads."""
        entry = {
            "name": "homes", "vertical": "listings", "base_url": self.site.origin, "adapter": "listings.dataset",
            "fetcher": "apify", "pace": UNHURRIED, "settings": {"apify": {"actor": "lab/homes"}},
            "targets": [{"url": f"{self.site.origin}/boston", "schedule": "0 6 * * *"}],
        }  # fmt: skip
        done = await self.system.actions.importer.source_entries([entry], "test")
        assert not done.problems, done.problems
        return (await self.system.actions.sources.find("homes")).id


@pytest.fixture
async def plant(migrated_sqlite_url: str) -> AsyncIterator[Plant]:
    """Everything on loopback, everything well."""
    async with a_plant(migrated_sqlite_url) as built:
        yield built


class a_plant:  # noqa: N801 - reads as a word in a with statement
    """A plant for the time of the block; `settings` are put on top of what the stand-ins need."""

    def __init__(self, url: str, **settings: Any) -> None:
        self._url = url
        self._settings = settings
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Plant:
        clock = LaterClock()
        bee = ScrapingBee(through_the_back_door, BEE_KEY)
        apify = Apify({"lab~homes": lambda _: HOMES}, APIFY_TOKEN)
        enter = self._stack.enter_async_context
        site = await enter(a_site(pages=2))
        hive = await enter(StandinServer(bee, now=clock.now))
        stage = await enter(StandinServer(apify, now=clock.now))
        settings = {
            "scrapingbee_key": BEE_KEY, "scrapingbee_url": f"{hive.origin}/api/v1", "apify_token": APIFY_TOKEN,
            "apify_url": stage.origin, "paid_fallback": "always",
        }  # fmt: skip
        works = await enter(the_works(self._url, clock, **{**settings, **self._settings}))
        await works.system.worker.sign_in()
        return Plant(works, clock, site, bee, apify)

    async def __aexit__(self, *trouble: object) -> None:
        await self._stack.aclose()


async def through_the_back_door(url: str, headers: Any) -> SitePage:
    """What the site shows to those whom it does not know: its agenda, but no robots.txt."""
    del headers
    if url.endswith("/robots.txt"):
        return SitePage(404)
    return SitePage(body=agenda(["Bijenkorf"]).encode(), headers={"content-type": "text/html; charset=utf-8"})
