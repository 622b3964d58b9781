"""Proposed selectors under `/api/v1/proposals`: look, accept, reject."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from tidemill.core.proposals import Proposal
from tidemill.web.acting import may_act
from tidemill.web.answers import Listed, json_answer
from tidemill.web.api.questions import Key
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers

Everything = Annotated[bool, Query(description="Also what was decided.")]


def proposals(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1", tags=["proposals"])
    actor = Depends(may_act(deps))
    desk = deps.actions.proposals

    @router.get("/proposals", responses=answers(Listed[Proposal], 422, 503))
    async def listed(*, everything: Everything = False) -> Response:
        """List selectors that are proposed for redesigned pages, the newest first."""
        return json_answer(Listed(await desk.every(everything=everything)))

    @router.get("/proposals/{proposal_id}", responses=answers(Proposal, 404, 422, 503))
    async def one(proposal_id: Key) -> Response:
        """Show a proposal: what happened to the page, what the selectors are, and what they would be."""
        return json_answer(await desk.find(proposal_id))

    @router.post("/proposals/{proposal_id}/accept", responses=answers(Proposal, 401, 403, 404, 422, 503))
    async def accept(proposal_id: Key, acting: Annotated[str, actor]) -> Response:
        """Let the source be read by the proposed selectors; what they are for is due at once."""
        return json_answer(await desk.accept(proposal_id, acting))

    @router.post("/proposals/{proposal_id}/reject", responses=answers(Proposal, 401, 403, 404, 422, 503))
    async def reject(proposal_id: Key, acting: Annotated[str, actor]) -> Response:
        """Leave the source as it is; the same is not proposed again."""
        return json_answer(await desk.reject(proposal_id, acting))

    return router
