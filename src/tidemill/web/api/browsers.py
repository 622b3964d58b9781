"""Browsers: the pools of every process under `/api/v1/browsers`, and `POST /api/admin/recycle`."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views.browsers import PoolView
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of browsers."""
    router = APIRouter(tags=["browsers"])

    @router.get("/api/v1/browsers", responses=json_responses(Listed[PoolView], 503))
    async def pools() -> Response:
        """List the browser pools of every process."""
        return json_response(Listed(await deps.browsers.pools()))

    @router.post("/api/admin/recycle", status_code=202, responses=json_responses(Listed[PoolView], *CHANGE_ERRORS))
    async def recycle(by: ActorName) -> Response:
        """Have every browser finish its pages and be replaced; answer with the pools concerned."""
        return json_response(Listed(await deps.browsers.recycle(by)), 202)

    return router
