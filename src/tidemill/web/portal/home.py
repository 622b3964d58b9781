"""The home page: how the system is, at a glance."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.responses import Response

from tidemill.core.health.system import waiting_lines
from tidemill.web.deps import WebDeps
from tidemill.web.extension import PortalExtension, RenderPage
from tidemill.web.portal.news import News, news
from tidemill.web.portal.sources import urgency
from tidemill.web.system_monitor import COUNTING_TIMEOUT_SECONDS, SystemMonitor

SOURCES_SHOWN, RUNS_SHOWN, NEWS_SHOWN = 15, 10, 8
HAPPENINGS_SEARCHED = 1_000
"""How many of the latest events are searched for news."""


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

    async def page(self) -> Response:
        """Return the page as things are now."""
        health = await self._monitor.health()
        if not health.database.reachable:
            return self._render("down.html", 503, health=health)
        async with asyncio.timeout(COUNTING_TIMEOUT_SECONDS):
            values = await self._values(self._deps.clock.now())
        standings = ", ".join(f"{count} {standing}" for standing, count in sorted(health.sources.items()))
        return self._render(
            "home.html",
            health=health,
            standings=f"Sources: {standings}",
            waiting_for_you=waiting_lines(health.waiting),
            **values,
        )

    async def _values(self, now: datetime) -> dict[str, Any]:
        sources = sorted(await self._deps.views.sources(now), key=urgency)
        runs = await self._deps.views.runs(limit=RUNS_SHOWN)
        sections = await self._sections(now)
        totals, ticks = await self._monitor.totals.get(), await self._monitor.ticks.get()
        return {
            "totals": totals,
            "tiles": [tile for portal in self._portals for tile in portal.home_tiles(totals)],
            "sections": sections,
            "ticks": ticks,
            "runs": runs,
            "sources": sources[:SOURCES_SHOWN],
            "sources_left": max(0, len(sources) - SOURCES_SHOWN),
            "rates": self._deps.rate_counter.rates(now),
            "lately": self._lately({each.id: each.name for each in sources}),
        }

    async def _sections(self, now: datetime) -> list[tuple[str, Mapping[str, Any]]]:
        wanted = [section for portal in self._portals for section in portal.home_sections]
        return [(section.template, await section.load(now)) for section in wanted]

    def _lately(self, source_names: Mapping[int, str]) -> list[News]:
        return news(self._deps.recent.latest(HAPPENINGS_SEARCHED), source_names)[:NEWS_SHOWN]
