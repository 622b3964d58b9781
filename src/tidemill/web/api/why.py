"""Explanations under `/api/v1/why`: why a thing stands as it does."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.operations.why.explanation import Explanation
from tidemill.web.api.parameters import Name
from tidemill.web.deps import WebDeps
from tidemill.web.responses import redacted_response
from tidemill.web.schemas import json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the route of explanations."""
    router = APIRouter(prefix="/api/v1", tags=["why"])

    @router.get("/why/{subject:path}", responses=json_responses(Explanation, 404, 422, 503))
    async def why(subject: Name) -> Response:
        """Explain anything that is kept: which gate, rule and page.

        Written as `source:NAME`, `target:ID`, `job:ID`, `run:ID`, `letter:ID`, `quarantine:ID`, `incident:ID`,
        `service:NAME`, or as a vertical names its things: `event:ID.field`, `listing:ID.field`, `price:ID`,
        `product:ID`, `match:ID.field`, `market:ID`.
        """
        return redacted_response(await deps.why(subject))

    return router
