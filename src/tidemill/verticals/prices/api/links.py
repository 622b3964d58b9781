"""Links between offers and products under `/api/v1`: what the resolver could not link, and linking by hand."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.verticals.prices.links import LinkActions
from tidemill.verticals.prices.views import LinkView
from tidemill.web.api.parameters import Cursor, Key, Limit, key_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.responses import Listed, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses


def router(links: LinkActions) -> APIRouter:
    """Return the routes of links."""
    router = APIRouter(prefix="/api/v1", tags=["links"])

    @router.get("/links/review", responses=json_responses(Listed[LinkView], 422, 503))
    async def review(cursor: Cursor = None, limit: Limit = 50) -> Response:
        """List the offers that the resolver could not link to a product, with why."""
        found = await links.review(after=key_cursor(cursor), limit=limit + 1)
        return json_response(list_page(found, limit, lambda last: last.source_product_id))

    @router.post("/offers/{offer_id}/link/{product_id}", responses=json_responses(LinkView, *CHANGE_ERRORS))
    async def link(offer_id: Key, product_id: Key, by: ActorName) -> Response:
        """Say which product an offer stands for; that outlasts the resolver's word."""
        return json_response(await links.link(offer_id, product_id, by))

    @router.post("/offers/{offer_id}/unlink", responses=json_responses(LinkView, *CHANGE_ERRORS))
    async def unlink(offer_id: Key, by: ActorName) -> Response:
        """Keep an offer apart from every product."""
        return json_response(await links.unlink(offer_id, by))

    @router.post("/offers/{offer_id}/product", responses=json_responses(LinkView, *CHANGE_ERRORS))
    async def new_product(offer_id: Key, by: ActorName) -> Response:
        """Make a product of an offer that stands for none yet."""
        return json_response(await links.new_product(offer_id, by))

    return router
