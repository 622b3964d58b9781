"""Records that were set aside for a person, under `/api/v1/quarantine`."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from tidemill.core.views.quality import QuarantinedView, QuarantineFilter
from tidemill.operations.quarantine import Reviewed
from tidemill.web import lookup
from tidemill.web.api.parameters import LARGEST_KEY, LONGEST_TEXT, Cursor, Key, Limit, Word, key_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.lookup import require_vertical
from tidemill.web.responses import Listed, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody


class Review(RequestBody):
    """Why, and what to put right before a record is released."""

    notes: str = Field("", max_length=LONGEST_TEXT)
    fields: dict[str, str] = Field({}, max_length=50)


class BulkReview(RequestBody):
    """Which waiting records, and why."""

    source: str | None = Field(None, max_length=300)
    vertical: str | None = Field(None, max_length=50)
    reason: str | None = Field(None, max_length=100)
    run_id: int | None = Field(None, ge=0, le=LARGEST_KEY)
    notes: str = Field("", max_length=LONGEST_TEXT)


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of quarantined records."""
    router = APIRouter(prefix="/api/v1", tags=["quarantine"])
    _read(router, deps)
    _decide(router, deps)
    return router


def _read(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/quarantine", responses=json_responses(Listed[QuarantinedView], 404, 422, 503))
    async def every(
        source: Word = None,
        vertical: Word = None,
        reason: Word = None,
        settled: Annotated[bool, Query(description="Also those that were decided on.")] = False,  # noqa: FBT002
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        """List records that were set aside for a person, the newest first, with the reason."""
        require_vertical(deps, vertical)
        which = QuarantineFilter(
            source_id=await lookup.source_id(deps, source), vertical=vertical, reason=reason, waiting=not settled
        )
        found = await deps.quarantine.every(which, before=key_cursor(cursor) or None, limit=limit + 1)
        return json_response(list_page(found, limit))

    @router.get("/quarantine/{record_id:int}", responses=json_responses(QuarantinedView, 404, 422, 503))
    async def one(record_id: Key) -> Response:
        """Show a record with what was read and why it was set aside."""
        return json_response(await deps.quarantine.find(record_id))


def _decide(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/quarantine/{record_id}/release", responses=json_responses(QuarantinedView, *CHANGE_ERRORS))
    async def release(record_id: Key, review: Review, by: ActorName) -> Response:
        """Publish a record after all, its fields put right; the rules judge it once more."""
        return json_response(await deps.quarantine.release(record_id, by, review.notes, review.fields))

    @router.post("/quarantine/{record_id}/reject", responses=json_responses(QuarantinedView, *CHANGE_ERRORS))
    async def reject(record_id: Key, review: Review, by: ActorName) -> Response:
        """Give a record up; it is kept with its reason."""
        return json_response(await deps.quarantine.reject(record_id, by, review.notes))

    @router.post("/quarantine/release", responses=json_responses(Reviewed, *CHANGE_ERRORS))
    async def release_all(review: BulkReview, by: ActorName) -> Response:
        """Release every waiting record that is meant and that the rules can live with."""
        return json_response(await deps.quarantine.release_all(await _filter_of(deps, review), by, review.notes))

    @router.post("/quarantine/reject", responses=json_responses(Reviewed, *CHANGE_ERRORS))
    async def reject_all(review: BulkReview, by: ActorName) -> Response:
        """Give up every waiting record that is meant."""
        return json_response(await deps.quarantine.reject_all(await _filter_of(deps, review), by, review.notes))


async def _filter_of(deps: WebDeps, review: BulkReview) -> QuarantineFilter:
    require_vertical(deps, review.vertical)
    return QuarantineFilter(
        source_id=await lookup.source_id(deps, review.source),
        vertical=review.vertical,
        reason=review.reason,
        run_id=review.run_id,
    )
