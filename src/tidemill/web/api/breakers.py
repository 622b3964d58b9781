"""Circuit breakers under `/api/v1/breakers`: list them, and close one or all at once."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views import BreakerView
from tidemill.operations.breakers import BreakerReset
from tidemill.web.api.parameters import Name
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of breakers."""
    router = APIRouter(prefix="/api/v1", tags=["breakers"])

    @router.get("/breakers", responses=json_responses(Listed[BreakerView], 503))
    async def breakers() -> Response:
        """List every breaker that has been asked, the open ones first."""
        return json_response(Listed(await deps.views.breakers()))

    @router.post("/breakers/reset", responses=json_responses(Listed[BreakerReset], *CHANGE_ERRORS))
    async def reset_all(by: ActorName) -> Response:
        """Close every breaker that is not closed."""
        return json_response(Listed(await deps.breakers.reset_all(by)))

    @router.post("/breakers/{source}/reset", responses=json_responses(BreakerReset, *CHANGE_ERRORS))
    async def reset(source: Name, by: ActorName) -> Response:
        """Close a source's breaker at once."""
        return json_response(await deps.breakers.reset(source, by))

    return router
