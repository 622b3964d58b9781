"""What people decide about records and prices, under `/api/v1`: quarantine, corrections, links, webhooks."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from tidemill.core.views.quality import DeliveryView, QuarantinedView, QuarantineFilter, SubscriptionView
from tidemill.operations.quarantine import Reviewed
from tidemill.operations.webhooks import Subscribed
from tidemill.verticals.prices.api import key_cursor
from tidemill.verticals.prices.views import CorrectionView, LinkView
from tidemill.web import lookup
from tidemill.web.acting import may_act
from tidemill.web.answers import Listed, json_answer
from tidemill.web.api.questions import LARGEST_KEY, Cursor, Key, Limit, Name, Word
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers

LONGEST_TEXT = 1_000
ACTING = (401, 403, 404, 422, 503)


class Review(BaseModel):
    """Why, and what to put right before a record is released."""

    notes: str = Field("", max_length=LONGEST_TEXT)
    fields: dict[str, str] = Field({}, max_length=50)


class BulkReview(BaseModel):
    """Which waiting records, and why."""

    source: str | None = Field(None, max_length=300)
    vertical: str | None = Field(None, max_length=50)
    reason: str | None = Field(None, max_length=100)
    run_id: int | None = Field(None, ge=0, le=LARGEST_KEY)
    notes: str = Field("", max_length=LONGEST_TEXT)


class NewCorrection(BaseModel):
    """Another amount for a price, and why."""

    price_cents: int
    currency: str | None = Field(None, max_length=3)
    reason: str = Field(max_length=LONGEST_TEXT)


class ReasonBody(BaseModel):
    """Why."""

    reason: str = Field(max_length=LONGEST_TEXT)


class NewWebhook(BaseModel):
    """An address to be told of changes."""

    name: str = Field(max_length=100)
    url: str = Field(max_length=2_000)
    kinds: list[str] = Field([], max_length=10)
    product_id: int | None = Field(None, ge=0, le=LARGEST_KEY)
    least_drop_percent: float = Field(0, ge=0, le=100)


def deciding(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1")
    _quarantine(router, deps)
    _corrections(router, deps)
    _links(router, deps)
    _webhooks(router, deps)
    return router


def _quarantine(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))
    desk = deps.actions.quarantine

    @router.get("/quarantine", tags=["quarantine"], responses=answers(Listed[QuarantinedView], 404, 422, 503))
    async def every(
        source: Word = None,
        vertical: Word = None,
        reason: Word = None,
        settled: Annotated[bool, Query(description="Also those that were decided on.")] = False,  # noqa: FBT002
        cursor: Cursor = None,
        limit: Limit = 50,
    ) -> Response:
        """List records that were set aside for a person, the newest first, with the reason."""
        which = QuarantineFilter(
            source_id=await _source_id(deps, source), vertical=vertical, reason=reason, waiting=not settled
        )
        found = await desk.every(which, before=key_cursor(cursor) or None, limit=limit + 1)
        return json_answer(Listed(found[:limit], str(found[limit - 1].id) if len(found) > limit else None))

    @router.get("/quarantine/{record_id}", tags=["quarantine"], responses=answers(QuarantinedView, 404, 422, 503))
    async def one(record_id: Key) -> Response:
        """Show a record with what was read and why it was set aside."""
        return json_answer(await desk.find(record_id))

    @router.post("/quarantine/{record_id}/release", tags=["quarantine"], responses=answers(QuarantinedView, *ACTING))
    async def release(record_id: Key, review: Review, acting: Annotated[str, actor]) -> Response:
        """Publish a record after all, its fields put right; the rules judge it once more."""
        return json_answer(await desk.release(record_id, acting, review.notes, review.fields))

    @router.post("/quarantine/{record_id}/reject", tags=["quarantine"], responses=answers(QuarantinedView, *ACTING))
    async def reject(record_id: Key, review: Review, acting: Annotated[str, actor]) -> Response:
        """Give a record up; it is kept with its reason."""
        return json_answer(await desk.reject(record_id, acting, review.notes))

    @router.post("/quarantine/release", tags=["quarantine"], responses=answers(Reviewed, *ACTING))
    async def release_all(review: BulkReview, acting: Annotated[str, actor]) -> Response:
        """Release every waiting record that is meant and that the rules can live with."""
        return json_answer(await desk.release_all(await _meant(deps, review), acting, review.notes))

    @router.post("/quarantine/reject", tags=["quarantine"], responses=answers(Reviewed, *ACTING))
    async def reject_all(review: BulkReview, acting: Annotated[str, actor]) -> Response:
        """Give up every waiting record that is meant."""
        return json_answer(await desk.reject_all(await _meant(deps, review), acting, review.notes))


async def _source_id(deps: WebDeps, name: str | None) -> int | None:
    return None if name is None else (await lookup.source(deps, name)).view.id


async def _meant(deps: WebDeps, review: BulkReview) -> QuarantineFilter:
    return QuarantineFilter(
        source_id=await _source_id(deps, review.source),
        vertical=review.vertical,
        reason=review.reason,
        run_id=review.run_id,
    )


def _corrections(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))
    desk = deps.actions.corrections

    @router.get("/corrections", tags=["corrections"], responses=answers(Listed[CorrectionView], 422, 503))
    async def every(cursor: Cursor = None, limit: Limit = 50) -> Response:
        """List what people said about prices, the newest first."""
        found = await desk.every(before=key_cursor(cursor) or None, limit=limit + 1)
        return json_answer(Listed(found[:limit], str(found[limit - 1].id) if len(found) > limit else None))

    @router.post("/prices/{price_id}/correct", tags=["corrections"], responses=answers(CorrectionView, *ACTING))
    async def correct(price_id: Key, said: NewCorrection, acting: Annotated[str, actor]) -> Response:
        """Show readers another amount in a price's place; the price itself stays as it was read."""
        done = await desk.correct(price_id, said.price_cents, acting, said.reason, said.currency)
        return json_answer(done)

    @router.post("/prices/{price_id}/ignore", tags=["corrections"], responses=answers(CorrectionView, *ACTING))
    async def ignore(price_id: Key, said: ReasonBody, acting: Annotated[str, actor]) -> Response:
        """Let no reader see a price."""
        return json_answer(await desk.ignore(price_id, acting, said.reason))

    @router.post("/prices/{price_id}/revoke", tags=["corrections"], responses=answers(CorrectionView, *ACTING))
    async def revoke(price_id: Key, said: ReasonBody, acting: Annotated[str, actor]) -> Response:
        """Let a price stand as it was read."""
        return json_answer(await desk.revoke(price_id, acting, said.reason))


def _links(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))
    desk = deps.actions.links

    @router.get("/links/review", tags=["links"], responses=answers(Listed[LinkView], 422, 503))
    async def review(cursor: Cursor = None, limit: Limit = 50) -> Response:
        """List the offers that the resolver could not link to a product, with why."""
        found = await desk.review(after=key_cursor(cursor), limit=limit + 1)
        following = str(found[limit - 1].source_product_id) if len(found) > limit else None
        return json_answer(Listed(found[:limit], following))

    @router.post("/offers/{offer_id}/link/{product_id}", tags=["links"], responses=answers(LinkView, *ACTING))
    async def link(offer_id: Key, product_id: Key, acting: Annotated[str, actor]) -> Response:
        """Say which product an offer stands for; that outlasts the resolver's word."""
        return json_answer(await desk.link(offer_id, product_id, acting))

    @router.post("/offers/{offer_id}/unlink", tags=["links"], responses=answers(LinkView, *ACTING))
    async def unlink(offer_id: Key, acting: Annotated[str, actor]) -> Response:
        """Keep an offer apart from every product."""
        return json_answer(await desk.unlink(offer_id, acting))

    @router.post("/offers/{offer_id}/product", tags=["links"], responses=answers(LinkView, *ACTING))
    async def new_product(offer_id: Key, acting: Annotated[str, actor]) -> Response:
        """Make a product of an offer that stands for none yet."""
        return json_answer(await desk.new_product(offer_id, acting))


def _webhooks(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))
    desk = deps.actions.webhooks

    @router.get("/webhooks", tags=["webhooks"], responses=answers(Listed[SubscriptionView], 503))
    async def every() -> Response:
        """List who is told of what."""
        return json_answer(Listed(await desk.every()))

    @router.post("/webhooks", tags=["webhooks"], responses=answers(Subscribed, *ACTING))
    async def subscribe(wanted: NewWebhook, acting: Annotated[str, actor]) -> Response:
        """Tell an address of changes from now on; the secret that signs them is shown this once."""
        done = await desk.subscribe(
            wanted.name,
            wanted.url,
            acting,
            kinds=wanted.kinds,
            product_id=wanted.product_id,
            least_drop_percent=wanted.least_drop_percent,
        )
        return json_answer(done, 201)

    @router.delete("/webhooks/{name}", tags=["webhooks"], responses=answers(SubscriptionView, *ACTING))
    async def unsubscribe(name: Name, acting: Annotated[str, actor]) -> Response:
        """Tell an address nothing more."""
        return json_answer(await desk.unsubscribe(name, acting))

    @router.get("/webhooks/deliveries", tags=["webhooks"], responses=answers(Listed[DeliveryView], 422, 503))
    async def deliveries(status: Word = None, cursor: Cursor = None, limit: Limit = 50) -> Response:
        """List notices that were or will be sent, the newest first."""
        found = await desk.deliveries(status=status, before=key_cursor(cursor) or None, limit=limit + 1)
        return json_answer(Listed(found[:limit], str(found[limit - 1].id) if len(found) > limit else None))
