"""The routes of all pages, which are not in the OpenAPI description."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.portal.access import add_access_pages
from tidemill.web.portal.exports import add_export_page
from tidemill.web.portal.home import HomePage
from tidemill.web.portal.lists import add_list_page
from tidemill.web.portal.renderer import PageRenderer
from tidemill.web.portal.runs import add_run_pages
from tidemill.web.portal.source_forms import add_source_forms
from tidemill.web.portal.sources import add_source_pages
from tidemill.web.portal.today import add_work_page
from tidemill.web.portal.work import work_pages
from tidemill.web.system_monitor import SystemMonitor


def portal_routes(
    deps: WebDeps, monitor: SystemMonitor, renderer: PageRenderer, extensions: Sequence[WebExtension]
) -> APIRouter:
    """Return the routes of the generic pages, followed by those of the verticals."""
    router = APIRouter(include_in_schema=False)
    portals = {extension.vertical: extension.portal for extension in extensions if extension.portal is not None}
    home_page = HomePage(deps, monitor, renderer.render, list(portals.values()))

    @router.get("/")
    async def home() -> Response:
        return await home_page.page()

    add_access_pages(router, deps, renderer.render)
    add_work_page(router, deps, renderer.render)
    add_source_forms(router, deps, renderer.render)
    for page in work_pages(deps):
        add_list_page(router, renderer.render, page)
    add_source_pages(router, deps, renderer.render, portals)
    add_export_page(router, deps, renderer.render)
    add_run_pages(router, deps, renderer.render)
    for portal in portals.values():
        router.include_router(portal.routes(renderer.render))
    return router
