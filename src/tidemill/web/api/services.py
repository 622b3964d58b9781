"""Outside services under `/api/v1/services`."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.services.degradation import ServiceStatus
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the route of outside services."""
    router = APIRouter(prefix="/api/v1", tags=["services"])

    @router.get("/services", responses=json_responses(Listed[ServiceStatus], 503))
    async def standing() -> Response:
        """List outside services: how each stands, since when, why, and what happens instead."""
        return json_response(Listed(list(await deps.services())))

    return router
