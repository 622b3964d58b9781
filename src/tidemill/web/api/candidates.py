"""Discovery's candidates under `/api/v1`: look through them, approve and reject them."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from tidemill.core.discovery.candidates import Candidate, CandidateStatus
from tidemill.web.api.parameters import Cursor, Key, Limit, Word, run_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses

Note = Annotated[str, Query(max_length=1_000, pattern=r"^[^\x00]*$", description="Why; kept with the candidate.")]
Enable = Annotated[bool, Query(description="Switch the new source on at once, instead of leaving it off.")]


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of candidates."""
    router = APIRouter(prefix="/api/v1", tags=["discovery"])

    @router.get("/candidates", responses=json_responses(Listed[Candidate], 422, 503))
    async def candidates(
        status: CandidateStatus | None = None, place: Word = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List candidates, the newest first, with confidence, sample events and reasons."""
        before = run_cursor(cursor)
        found = await deps.discovery.listed(status=status, place=place, before=before, limit=limit + 1)
        return json_response(list_page(found, limit))

    @router.get("/candidates/{candidate_id}", responses=json_responses(Candidate, 404, 422, 503))
    async def candidate(candidate_id: Key) -> Response:
        """Show a candidate."""
        return json_response(await deps.discovery.find(candidate_id))

    @router.post("/candidates/{candidate_id}/approve", responses=json_responses(Candidate, *CHANGE_ERRORS))
    async def approve(candidate_id: Key, by: ActorName, note: Note = "", *, enable: Enable = False) -> Response:
        """Make a source of a candidate; it is off until somebody switches it on, unless told otherwise."""
        return json_response(await deps.discovery.approve(candidate_id, by, enable=enable, note=note))

    @router.post("/candidates/{candidate_id}/reject", responses=json_responses(Candidate, *CHANGE_ERRORS))
    async def reject(candidate_id: Key, by: ActorName, note: Note = "") -> Response:
        """Never show a candidate again."""
        return json_response(await deps.discovery.reject(candidate_id, by, note))

    return router
