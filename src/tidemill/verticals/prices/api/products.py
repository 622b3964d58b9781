"""Products under `/api/v1/products`, with their lowest prices and the history of their prices."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.verticals.prices.api.history import Reading, begins, cursor_text, price_cursor
from tidemill.verticals.prices.store.views import PriceReads
from tidemill.verticals.prices.views import LowestView, PricePoint, ProductDetail, ProductFilter, ProductView
from tidemill.web.api.parameters import Cursor, Day, Key, Limit, Text, Word, key_cursor
from tidemill.web.responses import Listed, ResourceNotFound, json_response, list_page
from tidemill.web.schemas import json_responses


def router(prices: PriceReads) -> APIRouter:
    """Return the routes of products: only what readers may see, corrections applied."""
    router = APIRouter(prefix="/api/v1", tags=["prices"])

    @router.get("/products", responses=json_responses(Listed[ProductView], 422, 503))
    async def products(
        text: Text = None, brand: Word = None, upc: Word = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List products that somebody offers, with how many shops do and the lowest price in stock."""
        which = ProductFilter(text=text or None, brand=brand or None, upc=upc or None)
        found = await prices.products(which, after=key_cursor(cursor), limit=limit + 1)
        return json_response(list_page(found, limit))

    @router.get("/products/{product_id}", responses=json_responses(ProductDetail, 404, 422, 503))
    async def product(product_id: Key) -> Response:
        """Show a product with its offers now, the cheapest in stock first."""
        return json_response(await find_product(prices, product_id))

    @router.get("/products/{product_id}/lowest", responses=json_responses(Listed[LowestView], 404, 422, 503))
    async def lowest(product_id: Key) -> Response:
        """Show the lowest price per currency: now and in stock, and ever."""
        await find_product(prices, product_id)
        return json_response(Listed(await prices.lowest(product_id)))

    @router.get("/products/{product_id}/history", responses=json_responses(Listed[PricePoint], 404, 422, 503))
    async def product_history(
        product_id: Key, view: Reading = "corrected", date_from: Day = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List the prices that a product had in all shops, oldest first."""
        await find_product(prices, product_id)
        found = await prices.product_history(
            product_id,
            since=begins(date_from),
            after=price_cursor(cursor),
            limit=limit + 1,
            corrected=view == "corrected",
        )
        return json_response(list_page(found, limit, cursor_text))

    return router


async def find_product(prices: PriceReads, product_id: int) -> ProductDetail:
    """Return a product by number, or raise that there is none."""
    found = await prices.product(product_id)
    if found is None:
        msg = f"There is no product {product_id}."
        raise ResourceNotFound(msg, "`/api/v1/products` lists all of them.")
    return found
