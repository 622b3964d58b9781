"""Periodic work under `/api/v1/ticks`: how it went, and doing a piece of it now."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views import TickView
from tidemill.web.answers import TickRun
from tidemill.web.api.parameters import Name
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of periodic work."""
    router = APIRouter(prefix="/api/v1", tags=["ticks"])

    @router.get("/ticks", responses=json_responses(Listed[TickView], 503))
    async def ticks() -> Response:
        """List periodic work with its last slot, how it went and when it last succeeded."""
        return json_response(Listed(await deps.views.ticks()))

    @router.post("/ticks/{name}/run", responses=json_responses(TickRun, *CHANGE_ERRORS))
    async def run(name: Name, by: ActorName) -> Response:
        """Do a piece of periodic work now."""
        return json_response(TickRun(name, await deps.run_chore(name, by)))

    return router
