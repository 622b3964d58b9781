"""Proposed selectors under `/api/v1/proposals`: look, accept, reject."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from tidemill.core.quality.proposals import Proposal
from tidemill.web.api.parameters import Key
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses

Everything = Annotated[bool, Query(description="Also what was decided.")]


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of proposals."""
    router = APIRouter(prefix="/api/v1", tags=["proposals"])

    @router.get("/proposals", responses=json_responses(Listed[Proposal], 422, 503))
    async def listed(*, everything: Everything = False) -> Response:
        """List selectors that are proposed for redesigned pages, the newest first."""
        return json_response(Listed(await deps.proposals.every(everything=everything)))

    @router.get("/proposals/{proposal_id}", responses=json_responses(Proposal, 404, 422, 503))
    async def one(proposal_id: Key) -> Response:
        """Show a proposal: what happened to the page, what the selectors are, and what they would be."""
        return json_response(await deps.proposals.find(proposal_id))

    @router.post("/proposals/{proposal_id}/accept", responses=json_responses(Proposal, *CHANGE_ERRORS))
    async def accept(proposal_id: Key, by: ActorName) -> Response:
        """Let the source be read by the proposed selectors; what they are for is due at once."""
        return json_response(await deps.proposals.accept(proposal_id, by))

    @router.post("/proposals/{proposal_id}/reject", responses=json_responses(Proposal, *CHANGE_ERRORS))
    async def reject(proposal_id: Key, by: ActorName) -> Response:
        """Leave the source as it is; the same is not proposed again."""
        return json_response(await deps.proposals.reject(proposal_id, by))

    return router
