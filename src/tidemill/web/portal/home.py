"""The home page: how the system is, at a glance."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from starlette.responses import Response

from tidemill.core.health.system import WAITING_WORDS, Waiting
from tidemill.web.cached_answer import CachedAnswer
from tidemill.web.deps import WebDeps
from tidemill.web.extension import PortalExtension, RenderPage
from tidemill.web.portal.news import News, news
from tidemill.web.portal.sources import urgency
from tidemill.web.portal.today import WorkItem, gather_work
from tidemill.web.system_monitor import COUNTING_TIMEOUT_SECONDS, FIRST_COUNT_SECONDS, SystemMonitor

SOURCES_SHOWN, RUNS_SHOWN, NEWS_SHOWN, WORK_SHOWN = 10, 10, 8, 6
WORK_AGE = timedelta(seconds=5)
"""What waits is counted so often at most, however many look."""
HAPPENINGS_SEARCHED = 1_000
"""How many of the latest events are searched for news."""


WAITING_PAGES: Mapping[str, str] = {
    "dead_letters": "/dead-letters", "calls": "/dead-letters", "quarantined": "/quarantine",
    "candidates": "/candidates", "proposals": "/proposals", "fetcher_suggestions": "/work", "incidents": "/incidents",
    "stale_jobs": "/dead-letters",
}  # fmt: skip
"""The page on which a person sees to each kind of thing that waits."""


def waiting_links(waiting: Waiting) -> list[tuple[str, str]]:
    """Return in words how many of each kind wait, each with its page."""
    return [
        (f"{count} {one if count == 1 else many}", WAITING_PAGES.get(name, "/work"))
        for name, (one, many, _) in WAITING_WORDS.items()
        if (count := getattr(waiting, name))
    ]


class HomePage:
    """The overview of the system; while the database is down it says only that."""

    def __init__(
        self, deps: WebDeps, monitor: SystemMonitor, render: RenderPage, portals: Sequence[PortalExtension]
    ) -> None:
        """`portals` add figures and sections about their records."""
        self._deps = deps
        self._monitor = monitor
        self._render = render
        self._portals = portals
        self._work = CachedAnswer(self._gather, deps.clock, WORK_AGE, may_lag=True)

    async def page(self) -> Response:
        """Return the page as things are now."""
        health = await self._monitor.health()
        if not health.database.reachable:
            return self._render("down.html", 503, health=health)
        await self._deps.require_current()
        async with asyncio.timeout(COUNTING_TIMEOUT_SECONDS):
            values = await self._values(self._deps.clock.now())
        standings = ", ".join(f"{count} {standing}" for standing, count in sorted(health.sources.items()))
        return self._render(
            "home.html",
            health=health,
            WORK_SHOWN=WORK_SHOWN,
            work=[each for each in await self._work.get() if each.count],
            standings=f"Sources: {standings}",
            **values,
        )

    async def _values(self, now: datetime) -> dict[str, Any]:
        sources = sorted(await self._monitor.sources_now.get(), key=urgency)
        runs = await self._deps.views.runs(limit=RUNS_SHOWN)
        sections = await self._sections(now)
        totals = await self._monitor.totals.get_within(FIRST_COUNT_SECONDS)
        ticks = await self._monitor.ticks.get_within(FIRST_COUNT_SECONDS)
        return {
            "totals": totals,
            "counted_at": self._monitor.totals.answered_at or now,
            "tiles": [tile for portal in self._portals for tile in portal.home_tiles(totals)] if totals else (),
            "sections": sections,
            "ticks": ticks or (),
            "runs": runs,
            "sources": sources[:SOURCES_SHOWN],
            "sources_all": len(sources),
            "rates": self._deps.rate_counter.rates(now),
            "lately": self._lately({each.id: each.name for each in sources}),
        }

    async def _gather(self) -> list[WorkItem]:
        return await gather_work(self._deps, self._monitor)

    async def _sections(self, now: datetime) -> list[tuple[str, Mapping[str, Any]]]:
        wanted = [section for portal in self._portals for section in portal.home_sections]
        return [(section.template, await section.load(now)) for section in wanted]

    def _lately(self, source_names: Mapping[int, str]) -> list[News]:
        return news(self._deps.recent.latest(HAPPENINGS_SEARCHED), source_names)[:NEWS_SHOWN]
