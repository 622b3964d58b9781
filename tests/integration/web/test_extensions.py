"""The web app knows no vertical: it shows what it is handed."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fastapi import APIRouter
from selectolax.lexbor import LexborHTMLParser
from starlette.responses import Response

from integration.web.conftest import Browser, browsing
from integration.web.world import furnish
from rig.clock import NOON
from tidemill.bootstrap.system import System
from tidemill.web.extension import (
    HomeSection,
    HomeTile,
    NavigationLink,
    PortalExtension,
    RenderPage,
    WebExtension,
)
from tidemill.web.health import Late
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import json_responses

PAGE = """{% extends "base.html" %}{% set here = "/tides" %}
{% block main %}<h1>{{ height | metres }}</h1>{% endblock %}"""
TEMPLATES = {"tides.html": PAGE, "next.html": "<section><h2>Next tide at {{ section.at | stamp }}</h2></section>"}


class Tide(msgspec.Struct):
    height: int


async def late_tides() -> list[Late]:
    return [Late("tide high", "the moon is late")]


async def next_tide(now: datetime) -> Mapping[str, Any]:
    return {"at": now}


def tides(templates: Path) -> WebExtension:
    """A vertical of our own, with everything that one can add; it has the name that the source of the world has."""
    api = APIRouter(prefix="/api/v1", tags=["tides"])

    @api.get("/tides", responses=json_responses(Listed[Tide], 503))
    async def listed() -> Response:
        return json_response(Listed([Tide(3)]))

    def pages(render: RenderPage) -> APIRouter:
        router = APIRouter()

        @router.get("/tides")
        async def page() -> Response:
            return render("events/tides.html", height=3)

        return router

    for name, text in TEMPLATES.items():
        (templates / name).write_text(text)
    return WebExtension(
        vertical="events",
        routers=[api],
        response_types=[Listed[Tide]],
        portal=PortalExtension(
            templates=templates,
            routes=pages,
            navigation=[NavigationLink("Tides", "/tides")],
            filters={"metres": lambda height: f"{height} m <up>"},
            home_tiles=lambda totals: [HomeTile("Tides", totals.sources, "so far", "/tides")],
            home_sections=[HomeSection("events/next.html", next_tide)],
            records_path=lambda source: f"/tides?of={source}",
        ),
        overdue=late_tides,
    )


@pytest.fixture
async def without_verticals(sqlite_system: System) -> AsyncIterator[Browser]:
    await furnish(sqlite_system)
    async for each in browsing(sqlite_system, extensions=[]):
        yield each


@pytest.fixture
async def with_tides(sqlite_system: System, tmp_path: Path) -> AsyncIterator[Browser]:
    await furnish(sqlite_system)
    templates = tmp_path / "templates"
    templates.mkdir()
    async for each in browsing(sqlite_system, extensions=[tides(templates)]):
        yield each


def navigation(page: str) -> list[str]:
    return [link.text() for link in LexborHTMLParser(page).css("nav > a")]


async def test_without_verticals_the_generic_pages_and_routes_are_there(without_verticals: Browser) -> None:
    home = await without_verticals.page("/")
    assert home.status == 200
    assert navigation(home.text) == ["Overview", "Today's work", "Sources"]
    for path in ("/sources", "/sources/1", "/runs", "/runs/1", "/health", "/status", "/api/v1/sources"):
        assert (await without_verticals.page(path)).status == 200, path
    for path in ("/events", "/api/v1/events", "/api/v1/products", "/api/v1/listings", "/api/admin/markets"):
        assert (await without_verticals.get(path)).status == 404, path


async def test_without_verticals_a_source_links_to_no_records(without_verticals: Browser) -> None:
    page = LexborHTMLParser((await without_verticals.page("/sources/1")).text)
    assert page.css_first(".tile .label").text() == "Records"
    assert page.css_first(".tile").css_first("a") is None


async def test_a_verticals_routes_and_types_are_served_and_described(with_tides: Browser) -> None:
    assert (await with_tides.get("/api/v1/tides")).json() == {"items": [{"height": 3}], "next": None}
    document = (await with_tides.get("/api/v1/openapi.json")).json()
    assert document["paths"]["/api/v1/tides"]["get"]["tags"] == ["tides"]
    assert document["components"]["schemas"]["Tide"]["properties"] == {"height": {"type": "integer"}}
    assert "/tides" not in document["paths"]


async def test_a_verticals_page_extends_ours_and_is_escaped(with_tides: Browser) -> None:
    answer = await with_tides.page("/tides")
    page = LexborHTMLParser(answer.text)
    assert navigation(answer.text) == [
        "Overview",
        "Today's work",
        "Sources",
        "Tides",
    ]
    assert page.css_first("nav a[aria-current]").text() == "Tides"
    assert page.css_first("h1").text() == "3 m <up>"


async def test_a_vertical_speaks_on_the_home_page_and_on_the_page_of_its_source(with_tides: Browser) -> None:
    home = LexborHTMLParser((await with_tides.page("/")).text)
    assert home.css_first(".tile").text(separator=" ").split() == ["Tides", "1", "so", "far"]
    assert f"Next tide at {NOON:%Y-%m-%d %H:%M:%S} UTC" in [heading.text() for heading in home.css(".columns h2")][-1]
    source = LexborHTMLParser((await with_tides.page("/sources/1")).text)
    assert source.css_first(".tile a").attributes["href"] == "/tides?of=Town hall"


async def test_what_is_overdue_in_a_vertical_degrades_us(with_tides: Browser) -> None:
    assert (await with_tides.get("/health")).json()["reasons"] == ["tide high is overdue: the moon is late"]
