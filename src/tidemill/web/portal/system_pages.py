"""How the system is, what it is set to and what its API offers, as pages for people."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.web.api.parameters import Word
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.home import waiting_links
from tidemill.web.system_monitor import SystemMonitor

SEE_OTHER = 303


class DescribedRoute(msgspec.Struct, frozen=True):
    """A route of the API as people read of it."""

    method: str
    path: str
    summary: str
    parameters: Sequence[str]


def add_system_pages(router: APIRouter, deps: WebDeps, monitor: SystemMonitor, render: RenderPage) -> None:
    """Add the pages of health, settings and the API."""

    @router.get("/system")
    async def system(done: Word = None) -> Response:
        health = await monitor.health()
        if not health.database.reachable:
            return render("down.html", 503, health=health)
        await deps.require_current()
        return render(
            "system.html", health=health, waiting=waiting_links(health.waiting), ticks=await monitor.ticks.get(),
            pools=await deps.browsers.pools(), done=(done or "")[:280],
        )  # fmt: skip

    @router.post("/system/recycle")
    async def recycle(by: ActorName) -> Response:
        pools = await deps.recycle(by)
        browsers = sum(len(each.state.browsers) for each in pools)
        return RedirectResponse(f"/system?done={browsers}+browsers+finish+their+pages+and+are+replaced.", SEE_OTHER)

    @router.get("/settings")
    async def settings() -> Response:
        return render("settings.html", settings=deps.settings())

    @router.get("/api-guide")
    async def guide(request: Request) -> Response:
        return render("api_guide.html", groups=described(request.app.openapi()))


def described(description: Mapping[str, Any]) -> list[tuple[str, list[DescribedRoute]]]:
    """Return the routes of an OpenAPI description by their tag."""
    groups: dict[str, list[DescribedRoute]] = {}
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            names = [each["name"] for each in route.get("parameters", ()) if each.get("in") == "query"]
            summary = str(route.get("description") or route.get("summary", "")).partition("\n")[0]
            tag = (route.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append(DescribedRoute(method.upper(), path, summary, names))
    return sorted(groups.items())
