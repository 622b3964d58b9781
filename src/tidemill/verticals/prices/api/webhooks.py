"""Webhooks under `/api/v1/webhooks`: who is told of changes, and what was sent."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from tidemill.verticals.prices.views import DeliveryView, SubscriptionView
from tidemill.verticals.prices.webhooks import Subscribed, WebhookActions
from tidemill.web.api.parameters import LARGEST_KEY, Cursor, Limit, Name, key_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.responses import Listed, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody

DeliveryStatus = Annotated[Literal["pending", "delivered", "failed"] | None, Query(description="Only in this state.")]


class NewWebhook(RequestBody):
    """An address to be told of changes."""

    name: str = Field(max_length=100)
    url: str = Field(max_length=2_000)
    kinds: list[str] = Field([], max_length=10)
    product_id: int | None = Field(None, ge=0, le=LARGEST_KEY)
    least_drop_percent: float = Field(0, ge=0, le=100)


def router(webhooks: WebhookActions) -> APIRouter:
    """Return the routes of webhooks."""
    router = APIRouter(prefix="/api/v1", tags=["webhooks"])

    @router.get("/webhooks", responses=json_responses(Listed[SubscriptionView], 503))
    async def every() -> Response:
        """List who is told of what."""
        return json_response(Listed(await webhooks.every()))

    @router.post("/webhooks", responses=json_responses(Subscribed, *CHANGE_ERRORS))
    async def subscribe(wanted: NewWebhook, by: ActorName) -> Response:
        """Tell an address of changes from now on; the secret that signs them is shown this once."""
        done = await webhooks.subscribe(
            wanted.name,
            wanted.url,
            by,
            kinds=wanted.kinds,
            product_id=wanted.product_id,
            least_drop_percent=wanted.least_drop_percent,
        )
        return json_response(done, 201)

    @router.delete("/webhooks/{name}", responses=json_responses(SubscriptionView, *CHANGE_ERRORS))
    async def unsubscribe(name: Name, by: ActorName) -> Response:
        """Tell an address nothing more."""
        return json_response(await webhooks.unsubscribe(name, by))

    @router.get("/webhooks/deliveries", responses=json_responses(Listed[DeliveryView], 422, 503))
    async def deliveries(status: DeliveryStatus = None, cursor: Cursor = None, limit: Limit = 50) -> Response:
        """List notices that were or will be sent, the newest first."""
        found = await webhooks.deliveries(status=status, before=key_cursor(cursor) or None, limit=limit + 1)
        return json_response(list_page(found, limit))

    return router
