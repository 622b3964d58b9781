"""API tokens under `/api/v1/tokens`: list, make, revoke."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from tidemill.core.access.roles import TokenScope
from tidemill.core.views.access import TokenView
from tidemill.operations.access.tokens import MadeToken
from tidemill.web.api.parameters import Key
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody


class TokenWanted(RequestBody):
    """A token to make: `days` until it ends, never if left out; `verticals` that it is bound to, none if left out."""

    name: str = Field(min_length=1, max_length=80)
    scope: TokenScope
    days: int | None = Field(None, ge=1, le=3_660)
    verticals: list[str] | None = Field(None, max_length=20)


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of tokens."""
    router = APIRouter(prefix="/api/v1", tags=["tokens"])
    tokens = deps.access.tokens

    @router.get("/tokens", responses=json_responses(Listed[TokenView], 401, 403, 503))
    async def every() -> Response:
        """List tokens without their secrets, the newest first."""
        return json_response(Listed(await tokens.every()))

    @router.post("/tokens", status_code=201, responses=json_responses(MadeToken, *CHANGE_ERRORS))
    async def make(wanted: TokenWanted, by: ActorName) -> Response:
        """Make a token; its secret is in this answer and nowhere else."""
        made = await tokens.make(wanted.name, wanted.scope, by, days=wanted.days, verticals=wanted.verticals)
        return json_response(made, 201)

    @router.delete("/tokens/{token_id:int}", responses=json_responses(TokenView, *CHANGE_ERRORS))
    async def revoke(token_id: Key, by: ActorName) -> Response:
        """Revoke a token at once."""
        return json_response(await tokens.revoke(token_id, by))

    return router
