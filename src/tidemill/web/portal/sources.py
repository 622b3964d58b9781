"""The pages of sources."""

from collections.abc import Mapping

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.health.sources import SourceStanding
from tidemill.core.views import SourceView
from tidemill.web import lookup
from tidemill.web.api.parameters import Name
from tidemill.web.deps import WebDeps
from tidemill.web.extension import PortalExtension, RenderPage

_URGENCY = [
    SourceStanding.FAILING,
    SourceStanding.BARREN,
    SourceStanding.HELD_BACK,
    SourceStanding.EMPTY,
    SourceStanding.NEW,
    SourceStanding.WELL,
    SourceStanding.OFF,
]
"""The order in which people want to see sources."""


def add_source_pages(
    router: APIRouter, deps: WebDeps, render: RenderPage, portals: Mapping[str, PortalExtension]
) -> None:
    """Add the list of sources and the page of one; `portals` are the pages of verticals by name."""

    @router.get("/sources")
    async def sources() -> Response:
        found = await deps.views.sources(deps.clock.now())
        return render("sources.html", sources=sorted(found, key=urgency))

    @router.get("/sources/{name:path}")
    async def source(name: Name) -> Response:
        found = await lookup.source(deps, name)
        why = await deps.why(f"source:{found.view.name}")
        return render("source.html", detail=found, why=why, records_path=records_path(found.view, portals))


def urgency(source: SourceView) -> tuple[int, str]:
    """Return a key that sorts those in trouble first."""
    return _URGENCY.index(source.standing), source.name.lower()


def records_path(source: SourceView, portals: Mapping[str, PortalExtension]) -> str | None:
    """Return where the records of a source are listed, if its vertical has such a page."""
    portal = portals.get(source.vertical)
    if portal is None or portal.records_path is None:
        return None
    return portal.records_path(source.name)
