"""The pages: at a glance, events, runs and sources."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from tidemill.core.views import SourceView
from tidemill.verticals.events.api import card_filter
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.views import CardFilter
from tidemill.web import lookup
from tidemill.web.answers import ErrorText
from tidemill.web.api.questions import (
    Cursor,
    Key,
    Name,
    Text,
    Word,
    event_cursor,
    run_cursor,
)
from tidemill.web.deps import WebDeps
from tidemill.web.portal.dates import EmptyOrDay
from tidemill.web.portal.news import news
from tidemill.web.portal.words import FILTERS
from tidemill.web.system_watch import LONGER_SECONDS, SystemWatch

TEMPLATES = Path(__file__).parent.parent / "templates"
SOURCES_AT_A_GLANCE, RUNS_AT_A_GLANCE, EVENTS_AT_A_GLANCE, NEWS_AT_A_GLANCE = 15, 10, 9, 8
PAGE_OF_EVENTS, PAGE_OF_RUNS = 50, 50
RECENT_LOOKED_AT = 1_000
"""So far back we look for something worth telling."""


class Pages:
    """Fills templates; every value is escaped, because much of it was scraped."""

    def __init__(self, deps: WebDeps, watch: SystemWatch) -> None:
        """Read the templates once."""
        self._deps = deps
        self._watch = watch
        self.cards = CardReader(deps.views.database, deps.clock)
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True,
        )  # fmt: skip
        self._templates.filters.update(FILTERS)

    def fill(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page made of a template."""
        page = self._templates.get_template(template)
        common = {"now": self._deps.clock.now(), "version": self._deps.version}
        return HTMLResponse(page.render(**common, **values), status)

    def trouble(self, status: int, trouble: ErrorText) -> Response:
        """A page that says what went wrong."""
        return self.fill("trouble.html", status, trouble=trouble, code=status)

    async def glance(self) -> Response:
        """Everything at a glance; when the database is away, that is what it says."""
        health = await self._watch.health()
        if not health.database.reachable:
            return self.fill("down.html", 503, health=health)
        views, now = self._deps.views, self._deps.clock.now()
        async with asyncio.timeout(LONGER_SECONDS):
            sources = sorted(await views.sources(now), key=_urgency)
            runs = await views.runs(limit=RUNS_AT_A_GLANCE)
            events = await self.cards.by_date(CardFilter(date_from=now), limit=EVENTS_AT_A_GLANCE)
            totals, ticks = await self._watch.totals.get(), await self._watch.ticks.get()
        return self.fill(
            "glance.html",
            health=health,
            totals=totals,
            ticks=ticks,
            runs=runs,
            events=events,
            sources=sources[:SOURCES_AT_A_GLANCE],
            sources_left=max(0, len(sources) - SOURCES_AT_A_GLANCE),
            rates=self._deps.pulse.rates(now),
            lately=news(self._deps.recent.latest(RECENT_LOOKED_AT), {each.id: each.name for each in sources})[
                :NEWS_AT_A_GLANCE
            ],
        )


def _urgency(source: SourceView) -> tuple[bool, bool, str]:
    """Those in trouble first."""
    return source.is_available, source.circuit_state == "CLOSED", source.name.lower()


def portal(deps: WebDeps, pages: Pages) -> APIRouter:
    """The routes; they stand outside the API's description."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def glance() -> Response:
        return await pages.glance()

    _source_pages(router, deps, pages)
    _run_pages(router, deps, pages)
    _event_pages(router, deps, pages)
    return router


def _source_pages(router: APIRouter, deps: WebDeps, pages: Pages) -> None:
    @router.get("/sources")
    async def sources() -> Response:
        found = await deps.views.sources(deps.clock.now())
        return pages.fill("sources.html", sources=sorted(found, key=_urgency))

    @router.get("/sources/{name:path}")
    async def source(name: Name) -> Response:
        found = await lookup.source(deps, name)
        return pages.fill("source.html", detail=found, why=await deps.why(f"source:{found.view.name}"))


def _run_pages(router: APIRouter, deps: WebDeps, pages: Pages) -> None:
    @router.get("/runs")
    async def runs(cursor: Cursor = None) -> Response:
        found = await deps.views.runs(before=run_cursor(cursor), limit=PAGE_OF_RUNS + 1)
        shown = found[:PAGE_OF_RUNS]
        following = f"/runs?cursor={shown[-1].id}" if len(found) > PAGE_OF_RUNS else None
        return pages.fill("runs.html", runs=shown, following=following)

    @router.get("/runs/{run_id}")
    async def run(run_id: Key) -> Response:
        return pages.fill("run.html", detail=await lookup.run(deps, run_id))


def _event_pages(router: APIRouter, deps: WebDeps, pages: Pages) -> None:
    @router.get("/events")
    async def events(
        text: Text = None,
        category: Word = None,
        source: Word = None,
        date_from: EmptyOrDay = None,
        date_to: EmptyOrDay = None,
        cursor: Cursor = None,
    ) -> Response:
        begins = deps.clock.now().date() if date_from is None and date_to is None else date_from
        which = card_filter(text, category, source, begins, date_to)
        found = await pages.cards.by_date(which, after=event_cursor(cursor), limit=PAGE_OF_EVENTS + 1)
        shown = found[:PAGE_OF_EVENTS]
        asked = {"text": text, "category": category, "source": source, "date_from": date_from, "date_to": date_to}
        following = None
        if len(found) > PAGE_OF_EVENTS:
            kept = {name: str(value) for name, value in asked.items() if value}
            following = "/events?" + urlencode({**kept, "cursor": shown[-1].cursor.text})
        return pages.fill(
            "events.html", events=shown, asked=asked, following=following, first=cursor is None,
            categories=[str(each) for each in Category],
        )  # fmt: skip

    @router.get("/events/{event_id}")
    async def event(event_id: Key) -> Response:
        found = await lookup.event(deps, event_id)
        return pages.fill("event.html", detail=found, why=await deps.why(f"event:{event_id}"))
