"""Products, offers and prices for readers under `/api/v1`: only what they may see, corrections applied."""

from datetime import UTC, date, datetime, time
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from tidemill.core.views.records import BadCursor
from tidemill.verticals.prices.views import (
    ChangeView,
    LowestView,
    OfferFilter,
    OfferView,
    PriceCursor,
    PricePoint,
    ProductDetail,
    ProductFilter,
    ProductView,
)
from tidemill.web.answers import BadQuestion, Listed, NotThere, json_answer
from tidemill.web.api.questions import LARGEST_KEY, Cursor, Day, Key, Limit, Text, Word
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers

Reading = Annotated[
    Literal["corrected", "raw"], Query(description="`raw` is what pages said, `corrected` what people made of it.")
]
Stock = Annotated[
    Literal["IN_STOCK", "OUT_OF_STOCK", "BACKORDER"] | None, Query(description="Only with this availability.")
]


def prices(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1", tags=["prices"])
    _products(router, deps)
    _histories(router, deps)
    _offers(router, deps)
    return router


def _products(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/products", responses=answers(Listed[ProductView], 422, 503))
    async def products(
        text: Text = None, brand: Word = None, upc: Word = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List products that somebody offers, with how many shops do and the lowest price in stock."""
        which = ProductFilter(text=text or None, brand=brand or None, upc=upc or None)
        found = await deps.prices.products(which, after=key_cursor(cursor), limit=limit + 1)
        return json_answer(Listed(found[:limit], str(found[limit - 1].id) if len(found) > limit else None))

    @router.get("/products/{product_id}", responses=answers(ProductDetail, 404, 422, 503))
    async def product(product_id: Key) -> Response:
        """Show a product with its offers now, the cheapest in stock first."""
        return json_answer(await _found(deps, product_id))

    @router.get("/products/{product_id}/lowest", responses=answers(Listed[LowestView], 404, 422, 503))
    async def lowest(product_id: Key) -> Response:
        """Show the lowest price per currency: now and in stock, and ever."""
        await _found(deps, product_id)
        return json_answer(Listed(await deps.prices.lowest(product_id)))


def _histories(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/products/{product_id}/history", responses=answers(Listed[PricePoint], 404, 422, 503))
    async def product_history(
        product_id: Key, view: Reading = "corrected", date_from: Day = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List the prices that a product had in all shops, oldest first."""
        await _found(deps, product_id)
        found = await deps.prices.product_history(
            product_id,
            since=_midnight(date_from),
            after=price_cursor(cursor),
            limit=limit + 1,
            corrected=view == "corrected",
        )
        return json_answer(_page(found, limit))

    @router.get("/offers/{offer_id}/history", responses=answers(Listed[PricePoint], 422, 503))
    async def offer_history(
        offer_id: Key, view: Reading = "corrected", date_from: Day = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List the prices that one shop asked for one product, oldest first."""
        found = await deps.prices.history(
            [offer_id],
            since=_midnight(date_from),
            after=price_cursor(cursor),
            limit=limit + 1,
            corrected=view == "corrected",
        )
        return json_answer(_page(found, limit))


def _offers(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/offers", responses=answers(Listed[OfferView], 422, 503))
    async def offers(
        product: Annotated[int | None, Query(ge=0, le=LARGEST_KEY)] = None,
        source: Word = None,
        text: Text = None,
        availability: Stock = None,
        cursor: Cursor = None,
        limit: Limit = 100,
    ) -> Response:
        """List what shops ask now."""
        which = OfferFilter(
            product_id=product, source=source or None, text=text or None, availability=availability or None
        )
        found = await deps.prices.offers(which, after=key_cursor(cursor), limit=limit + 1)
        return json_answer(Listed(found[:limit], str(found[limit - 1].id) if len(found) > limit else None))

    @router.get("/prices/changes", responses=answers(Listed[ChangeView], 422, 503))
    async def changes(cursor: Cursor = None, limit: Limit = 100) -> Response:
        """List what changed after the cursor, in the order in which it became visible; `next` is never missing.

        Whoever passes `next` on each time misses no change and sees none twice.
        """
        after = key_cursor(cursor)
        found = await deps.prices.changes(after, limit=limit)
        return json_answer(Listed(found, str(found[-1].seq if found else after)))


async def _found(deps: WebDeps, product_id: int) -> ProductDetail:
    found = await deps.prices.product(product_id)
    if found is None:
        msg = f"There is no product {product_id}."
        raise NotThere(msg, "`/api/v1/products` lists all of them.")
    return found


def _page(found: list[PricePoint], limit: int) -> Listed[PricePoint]:
    return Listed(found[:limit], found[limit - 1].cursor.text if len(found) > limit else None)


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(0), UTC)


def key_cursor(text: str | None) -> int:
    """Where to go on in a list that is in order of key."""
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST_KEY):
        msg = f"{text!r} is not a place in this list; leave it out to start at the beginning"
        raise BadQuestion(msg)
    return int(text)


def price_cursor(text: str | None) -> PriceCursor | None:
    """Where to go on in a history."""
    if text is None:
        return None
    try:
        cursor = PriceCursor.parse(text)
    except BadCursor as error:
        raise BadQuestion(str(error)) from error
    if abs(cursor.id) > LARGEST_KEY:
        msg = f"{text!r} is not a place in a history of prices; leave it out to start at the beginning"
        raise BadQuestion(msg)
    return cursor
