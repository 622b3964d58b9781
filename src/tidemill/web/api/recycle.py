"""`POST /api/admin/recycle`: have every browser replaced, audited like what the watchdog does."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from tidemill.web.authorization import require_actor
from tidemill.web.deps import WebDeps
from tidemill.web.recycle_answer import RecycleAnswer
from tidemill.web.responses import json_response
from tidemill.web.schemas import json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api/admin/recycle", tags=["watching"])

    @router.post("", status_code=202, responses=json_responses(RecycleAnswer, 401, 403, 503))
    async def recycle(by: Annotated[str, Depends(require_actor(deps))]) -> Response:
        """Have every browser finish its pages and be replaced."""
        entry_id, pools = await deps.recycle(by)
        return json_response(RecycleAnswer(entry_id, pools), 202)

    return router
