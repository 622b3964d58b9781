"""Webhooks under `/api/v1/webhooks`: who is told of changes, and what was sent."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, Field
from starlette.responses import Response

from tidemill.core.views.changes import DeliveryDetail, DeliveryView, FeedView, SubscriptionView
from tidemill.operations.webhooks.actions import Subscribed, WebhookActions
from tidemill.web.api.parameters import Cursor, Key, Limit, Name, Word, key_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Counted, Listed, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody

DeliveryStatus = Annotated[Literal["pending", "delivered", "failed"] | None, Query(description="Only in this state.")]


class NewWebhook(RequestBody):
    """An address to be told of changes of a feed; all kinds when none are named, `only` narrows the feed."""

    name: str = Field(max_length=100, examples=["ours"])
    url: str = Field(max_length=2_000, examples=["https://hooks.example/tidemill"])
    feed: str = Field(max_length=100, examples=["VERTICAL"])
    kinds: list[str] = Field([], max_length=10)
    only: dict[str, Any] = Field({}, max_length=10)


class ReplayWanted(RequestBody):
    """From when on what was told is sent again."""

    since: AwareDatetime


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of webhooks."""
    router = APIRouter(prefix="/api/v1", tags=["webhooks"])
    _add_deliveries(router, deps.webhooks)
    _add_subscriptions(router, deps.webhooks)
    _add_acts(router, deps.webhooks)
    return router


def _add_subscriptions(router: APIRouter, webhooks: WebhookActions) -> None:

    @router.get("/feeds", responses=json_responses(Listed[FeedView], 503))
    async def feeds() -> Response:
        """List the feeds that can be subscribed to, with their kinds of change and what narrows them."""
        return json_response(Listed(webhooks.feeds()))

    @router.get("/webhooks", responses=json_responses(Listed[SubscriptionView], 503))
    async def every() -> Response:
        """List who is told of what."""
        return json_response(Listed(await webhooks.every()))

    @router.post("/webhooks", status_code=201, responses=json_responses(Subscribed, 409, *CHANGE_ERRORS, success=201))
    async def subscribe(wanted: NewWebhook, by: ActorName) -> Response:
        """Tell an address of changes from now on; the secret that signs them is shown this once."""
        done = await webhooks.subscribe(
            wanted.name, wanted.url, by, feed=wanted.feed, kinds=wanted.kinds, only=wanted.only
        )
        return json_response(done, 201)

    @router.get("/webhooks/{name}", responses=json_responses(SubscriptionView, 404, 422, 503))
    async def show(name: Name) -> Response:
        """Show who is told of what by one webhook."""
        return json_response(await webhooks.find(name))

    @router.delete("/webhooks/{name}", responses=json_responses(SubscriptionView, *CHANGE_ERRORS))
    async def unsubscribe(name: Name, by: ActorName) -> Response:
        """Tell an address nothing more; what it still waits for is not sent."""
        return json_response(await webhooks.unsubscribe(name, by))


def _add_deliveries(router: APIRouter, webhooks: WebhookActions) -> None:
    @router.get("/webhooks/deliveries", responses=json_responses(Listed[DeliveryView], 404, 422, 503))
    async def deliveries(
        webhook: Word = None, status: DeliveryStatus = None, cursor: Cursor = None, limit: Limit = 50
    ) -> Response:
        """List notices that were or will be sent, the newest first."""
        found = await webhooks.deliveries(
            webhook=webhook, status=status, before=key_cursor(cursor) or None, limit=limit + 1
        )
        return json_response(list_page(found, limit))

    @router.post("/webhooks/deliveries/retry", responses=json_responses(Counted, *CHANGE_ERRORS))
    async def retry(by: ActorName) -> Response:
        """Send notices again that were given up."""
        return json_response(Counted(await webhooks.retry(by)))

    @router.get("/webhooks/deliveries/{delivery_id:int}", responses=json_responses(DeliveryDetail, 404, 422, 503))
    async def delivery(delivery_id: Key) -> Response:
        """Show a delivery with its body and what came of each try."""
        return json_response(await webhooks.delivery(delivery_id))

    @router.post(
        "/webhooks/deliveries/{delivery_id:int}/replay", responses=json_responses(DeliveryDetail, 409, *CHANGE_ERRORS)
    )
    async def replay(delivery_id: Key, by: ActorName) -> Response:
        """Send a delivery again with the same key and body, whatever came of it."""
        return json_response(await webhooks.replay(delivery_id, by))


def _add_acts(router: APIRouter, webhooks: WebhookActions) -> None:
    @router.post("/webhooks/{name}/enable", responses=json_responses(SubscriptionView, *CHANGE_ERRORS))
    async def enable(name: Name, by: ActorName) -> Response:
        """Take a paused webhook up again, from now on."""
        return json_response(await webhooks.switch(name, by, enabled=True))

    @router.post("/webhooks/{name}/disable", responses=json_responses(SubscriptionView, *CHANGE_ERRORS))
    async def disable(name: Name, by: ActorName) -> Response:
        """Pause a webhook: changes meanwhile are not noted for it."""
        return json_response(await webhooks.switch(name, by, enabled=False))

    @router.post("/webhooks/{name}/rotate", responses=json_responses(Subscribed, *CHANGE_ERRORS))
    async def rotate(name: Name, by: ActorName) -> Response:
        """Give a webhook a new secret, shown this once; the old one signs beside it for another day."""
        return json_response(await webhooks.rotate(name, by))

    @router.post("/webhooks/{name}/test", responses=json_responses(DeliveryView, *CHANGE_ERRORS))
    async def test(name: Name, by: ActorName) -> Response:
        """Send a test notice now, in one try, and answer what came of it."""
        return json_response(await webhooks.test(name, by))

    @router.post("/webhooks/{name}/replay", responses=json_responses(Counted, *CHANGE_ERRORS))
    async def replay_since(name: Name, wanted: ReplayWanted, by: ActorName) -> Response:
        """Send all again that a webhook was told since a moment."""
        since: datetime = wanted.since
        return json_response(Counted(await webhooks.replay_since(name, since, by)))
