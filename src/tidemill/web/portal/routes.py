"""The routes of all pages, which are not in the OpenAPI description."""

from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.portal.access import add_access_pages
from tidemill.web.portal.exports import add_export_page
from tidemill.web.portal.home import HomePage
from tidemill.web.portal.list_pages.routes import add_list_page
from tidemill.web.portal.list_pages.why_page import add_why_page
from tidemill.web.portal.renderer import PageRenderer
from tidemill.web.portal.replays import add_replay_page
from tidemill.web.portal.runs import add_run_pages
from tidemill.web.portal.source_forms import add_source_forms
from tidemill.web.portal.source_list import add_source_list
from tidemill.web.portal.source_page import add_source_page
from tidemill.web.portal.stored_pages import add_stored_pages
from tidemill.web.portal.system_pages import add_system_pages
from tidemill.web.portal.today import add_work_page
from tidemill.web.portal.watching.incidents import add_incident_page
from tidemill.web.portal.watching.objectives import add_objective_page
from tidemill.web.portal.webhooks import add_webhook_pages
from tidemill.web.portal.work import work_pages
from tidemill.web.system_monitor import SystemMonitor

TELL_OF_HEALTH = frozenset({"/", "/system"})
"""These pages say themselves what is wrong, and since when."""


def portal_routes(
    deps: WebDeps, monitor: SystemMonitor, renderer: PageRenderer, extensions: Sequence[WebExtension]
) -> APIRouter:
    """Return the routes of the generic pages, followed by those of the verticals."""

    async def database_answers(request: Request) -> None:
        """Raise when the database is away or its tables are of another version, also for pages that ask it nothing."""
        if request.url.path not in TELL_OF_HEALTH:
            await deps.require_current()

    async def show_what_was_done(request: Request) -> AsyncIterator[None]:
        """Count anew after somebody acted."""
        yield
        if request.method == "POST":
            monitor.forget()

    checks = [Depends(database_answers), Depends(show_what_was_done, scope="function")]
    router = APIRouter(include_in_schema=False, dependencies=checks)
    portals = {extension.vertical: extension.portal for extension in extensions if extension.portal is not None}
    home_page = HomePage(deps, monitor, renderer.render, list(portals.values()))

    @router.get("/")
    async def home() -> Response:
        return await home_page.page()

    add_access_pages(router, deps, renderer.render)
    add_work_page(router, deps, monitor, renderer.render)
    add_source_forms(router, deps, renderer.render)
    add_incident_page(router, deps, renderer.render)
    add_objective_page(router, deps, renderer.render)
    for page in work_pages(deps):
        add_list_page(router, deps, renderer.render, page)
    add_why_page(router, deps, renderer.render)
    add_source_list(router, deps, renderer.render)
    add_stored_pages(router, deps, renderer.render)
    add_webhook_pages(router, deps, renderer.render)
    add_system_pages(router, deps, monitor, renderer.render)
    add_source_page(router, deps, renderer.render, portals)
    add_export_page(router, deps, renderer.render)
    add_run_pages(router, deps, renderer.render)
    add_replay_page(router, deps, renderer.render)
    for portal in portals.values():
        router.include_router(portal.routes(renderer.render))
    return router
