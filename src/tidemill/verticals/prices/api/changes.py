"""The stream of price changes under `/api/v1/prices/changes`."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.verticals.prices.store.views import PriceReads
from tidemill.verticals.prices.views import ChangeView
from tidemill.web.api.parameters import Cursor, Limit, key_cursor
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import json_responses


def router(prices: PriceReads) -> APIRouter:
    """Return the route of price changes."""
    router = APIRouter(prefix="/api/v1", tags=["prices"])

    @router.get("/prices/changes", responses=json_responses(Listed[ChangeView], 422, 503))
    async def changes(cursor: Cursor = None, limit: Limit = 100) -> Response:
        """List what changed after the cursor, in the order in which it became visible; `next` is never missing.

        Whoever passes `next` on each time misses no change and sees none twice.
        """
        after = key_cursor(cursor)
        found = await prices.changes(after, limit=limit)
        return json_response(Listed(found, str(found[-1].seq if found else after)))

    return router
