"""Sources under `/api/v1/sources`."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views import SourceDetail, SourceView
from tidemill.web import lookup
from tidemill.web.api.parameters import Name, Word
from tidemill.web.deps import WebDeps
from tidemill.web.lookup import require_vertical
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of sources."""
    router = APIRouter(prefix="/api/v1", tags=["sources"])

    @router.get("/sources", responses=json_responses(Listed[SourceView], 422, 503))
    async def sources(vertical: Word = None) -> Response:
        """List all sources by name, with whether they may be asked now and if not why."""
        require_vertical(deps, vertical)
        found = await deps.views.sources(deps.clock.now(), vertical=vertical)
        return json_response(Listed(found))

    @router.get("/sources/{name:path}", responses=json_responses(SourceDetail, 404, 422, 503))
    async def source(name: Name) -> Response:
        """Show a source with its breaker, hosts, jobs and latest runs; by name or number."""
        return json_response(await lookup.source(deps, name))

    return router
