"""Incidents under `/api/v1/incidents`: what drift detection noticed."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from tidemill.core.views.quality import IncidentView
from tidemill.web.api.parameters import Limit
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the route of incidents."""
    router = APIRouter(prefix="/api/v1", tags=["adapters"])

    @router.get("/incidents", responses=json_responses(Listed[IncidentView], 422, 503))
    async def incidents(
        over: Annotated[bool, Query(description="Also those that are over.")] = False,  # noqa: FBT002 - a query's flag
        limit: Limit = 50,
    ) -> Response:
        """List what drift detection noticed, the newest first."""
        return json_response(Listed(await deps.adapters.incidents(open_only=not over, limit=limit)))

    return router
