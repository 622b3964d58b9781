"""Freshness objectives under `/api/v1/objectives`."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views.objectives import ObjectiveView
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of objectives."""
    router = APIRouter(prefix="/api/v1", tags=["objectives"])

    @router.get("/objectives", responses=json_responses(Listed[ObjectiveView], 422, 503))
    async def objectives() -> Response:
        """List freshness objectives, the one with the least budget left first, with whom each leaves out and why."""
        return json_response(Listed(await deps.objectives.every()))

    return router
