"""Corrections under `/api/v1`: what people said about prices, and saying it."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from tidemill.verticals.prices.corrections import CorrectionActions
from tidemill.verticals.prices.views import CorrectionView
from tidemill.web.api.parameters import LONGEST_TEXT, Cursor, Key, Limit, key_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.responses import Counted, Listed, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody


class NewCorrection(RequestBody):
    """Another amount for a price, and why."""

    price_cents: int
    currency: str | None = Field(None, max_length=3)
    reason: str = Field(max_length=LONGEST_TEXT)


class ReasonBody(RequestBody):
    """Why."""

    reason: str = Field(max_length=LONGEST_TEXT)


def router(corrections: CorrectionActions) -> APIRouter:
    """Return the routes of corrections."""
    router = APIRouter(prefix="/api/v1", tags=["corrections"])

    @router.get("/corrections", responses=json_responses(Listed[CorrectionView], 422, 503))
    async def every(cursor: Cursor = None, limit: Limit = 50) -> Response:
        """List what people said about prices that readers may see, the newest first."""
        found = await corrections.every(before=key_cursor(cursor) or None, limit=limit + 1, visible_only=True)
        return json_response(list_page(found, limit))

    @router.post("/prices/{price_id}/correct", responses=json_responses(CorrectionView, *CHANGE_ERRORS))
    async def correct(price_id: Key, said: NewCorrection, by: ActorName) -> Response:
        """Show readers another amount in a price's place; the price itself stays as it was read."""
        done = await corrections.correct(price_id, said.price_cents, by, said.reason, said.currency)
        return json_response(done)

    @router.post("/prices/{price_id}/ignore", responses=json_responses(CorrectionView, *CHANGE_ERRORS))
    async def ignore(price_id: Key, said: ReasonBody, by: ActorName) -> Response:
        """Let no reader see a price."""
        return json_response(await corrections.ignore(price_id, by, said.reason))

    @router.post("/prices/runs/{run_id}/ignore", responses=json_responses(Counted, *CHANGE_ERRORS))
    async def ignore_run(run_id: Key, said: ReasonBody, by: ActorName) -> Response:
        """Let no reader see any price that one run brought."""
        return json_response(Counted(await corrections.ignore_run(run_id, by, said.reason)))

    @router.post("/prices/{price_id}/revoke", responses=json_responses(CorrectionView, *CHANGE_ERRORS))
    async def revoke(price_id: Key, said: ReasonBody, by: ActorName) -> Response:
        """Let a price stand as it was read."""
        return json_response(await corrections.revoke(price_id, by, said.reason))

    return router
