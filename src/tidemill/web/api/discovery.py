"""Discovery's candidates under `/api/v1`: look through them, approve and reject them."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from tidemill.core.candidates import Candidate, CandidateStatus
from tidemill.web.acting import may_act
from tidemill.web.answers import Listed, json_answer
from tidemill.web.api.questions import Cursor, Key, Limit, Word, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers

_TROUBLES = (401, 403, 404, 422, 503)
Note = Annotated[str, Query(max_length=1_000, pattern=r"^[^\x00]*$", description="Why; kept with the candidate.")]
Enable = Annotated[bool, Query(description="Switch the new source on at once, instead of leaving it off.")]


def discovery(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1", tags=["discovery"])
    actor: Any = Depends(may_act(deps))

    @router.get("/candidates", responses=answers(Listed[Candidate], 422, 503))
    async def candidates(
        status: CandidateStatus | None = None, place: Word = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List candidates, the newest first, with confidence, sample events and reasons."""
        before = run_cursor(cursor)
        found = await deps.discovery.listed(status=status, place=place, before=before, limit=limit + 1)
        following = str(found[limit - 1].id) if len(found) > limit else None
        return json_answer(Listed(found[:limit], following))

    @router.get("/candidates/{candidate_id}", responses=answers(Candidate, 404, 422, 503))
    async def candidate(candidate_id: Key) -> Response:
        """Show a candidate."""
        return json_answer(await deps.discovery.find(candidate_id))

    @router.post("/candidates/{candidate_id}/approve", responses=answers(Candidate, *_TROUBLES))
    async def approve(
        candidate_id: Key, acting: Annotated[str, actor], note: Note = "", *, enable: Enable = False
    ) -> Response:
        """Make a source of a candidate; it is off until somebody switches it on, unless told otherwise."""
        return json_answer(await deps.discovery.approve(candidate_id, acting, enable=enable, note=note))

    @router.post("/candidates/{candidate_id}/reject", responses=answers(Candidate, *_TROUBLES))
    async def reject(candidate_id: Key, acting: Annotated[str, actor], note: Note = "") -> Response:
        """Never show a candidate again."""
        return json_answer(await deps.discovery.reject(candidate_id, acting, note))

    return router
