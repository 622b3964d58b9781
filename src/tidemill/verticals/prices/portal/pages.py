"""Products as cards, the page of one with its history, and the prices and links that wait for a person."""

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.operations.mistakes import Mistake
from tidemill.reading.currency_codes import in_cents, in_units
from tidemill.verticals.prices.api.products import find_product
from tidemill.verticals.prices.corrections import CorrectionActions
from tidemill.verticals.prices.links import LinkActions
from tidemill.verticals.prices.store.views import PriceReads
from tidemill.verticals.prices.views import PriceCursor, PricePoint, ProductFilter
from tidemill.web.api.parameters import Cursor, Key, Text, Word, is_key, key_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.charts.drawing import ChartLine, line_chart
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.responses import BadParameter

PRODUCTS_PER_PAGE = 24
REVIEWED_PER_PAGE = 50
SPANS = {"30": "30 days", "90": "90 days", "365": "a year", "all": "all"}
MOST_POINTS = 4_000
LATEST_SHOWN = 30
SEE_OTHER = 303
_AMOUNT = re.compile(r"\d{1,7}(?:[.,]\d{1,3})?", re.ASCII)


def router(
    deps: WebDeps, prices: PriceReads, corrections: CorrectionActions, links: LinkActions, render: RenderPage
) -> APIRouter:
    """Return the routes of the pages of products."""
    router = APIRouter()

    @router.get("/products")
    async def products(text: Text = None, brand: Word = None, upc: Word = None, cursor: Cursor = None) -> Response:
        which = ProductFilter(text=text or None, brand=brand or None, upc=upc or None)
        found = await prices.products(which, after=key_cursor(cursor), limit=PRODUCTS_PER_PAGE + 1)
        shown = found[:PRODUCTS_PER_PAGE]
        query = {name: value for name, value in (("text", text), ("brand", brand), ("upc", upc)) if value}
        following = urlencode({**query, "cursor": shown[-1].id}) if len(found) > PRODUCTS_PER_PAGE else None
        hidden = await prices.hidden_sources() if not found and not query else []
        return render(
            "prices/products.html", products=shown, asked={"text": text, "brand": brand, "upc": upc},
            query=urlencode(query), first=cursor is None, hidden=hidden,
            following=f"/products?{following}" if following else None,
        )  # fmt: skip

    async def product_page(product_id: int, span: str, status: int = 200, **shown: str) -> Response:
        detail = await find_product(prices, product_id)
        points = await _history(prices, product_id, _begins(span, deps.clock.now()))
        words = {"done": "", "wrong": "", **shown}
        return render(
            "prices/product.html", status, detail=detail, product=detail.product, span=span, spans=SPANS,
            lowest=await prices.lowest(product_id), latest=list(reversed(points))[:LATEST_SHOWN],
            points=len(points), chart=line_chart(
                _lines(points), "Price", unit=points[-1].currency if points else "", stepped=True, write=_amount
            ),
            links=await links.of_product(product_id), why=await deps.why(f"product:{product_id}"), **words,
        )  # fmt: skip

    @router.get("/products/{product_id}")
    async def product(product_id: Key, span: Word = None, done: Word = None) -> Response:
        chosen = span if span in SPANS else "90"
        return await product_page(product_id, chosen, done=(done or "")[:200])

    @router.post("/products/{product_id}/prices/{price_id}/{deed}")
    async def judge(product_id: Key, price_id: Key, deed: str, request: Request, by: ActorName) -> Response:
        form = await request.form()
        reason, amount = str(form.get("reason", ""))[:1_000], str(form.get("amount", ""))[:20]
        currency = str(form.get("currency", ""))[:3]
        try:
            words = await _judged(corrections, price_id, deed, (amount, currency), reason, by)
        except Mistake as error:
            return await product_page(product_id, "90", 422, wrong=str(error))
        return _back(f"/products/{product_id}", words)

    _review_pages(router, corrections, links, render)
    return router


def _review_pages(router: APIRouter, corrections: CorrectionActions, links: LinkActions, render: RenderPage) -> None:
    @router.get("/price-review")
    async def review(cursor: Cursor = None, done: Word = None) -> Response:
        waiting = await links.review(after=key_cursor(cursor), limit=REVIEWED_PER_PAGE + 1)
        shown = waiting[:REVIEWED_PER_PAGE]
        more = len(waiting) > REVIEWED_PER_PAGE
        return render(
            "prices/review.html", waiting=shown, made=await corrections.every(limit=20), done=(done or "")[:200],
            following=f"/price-review?cursor={shown[-1].source_product_id}" if more else None,
        )  # fmt: skip

    @router.post("/price-review/ignore-run")
    async def ignore_run(request: Request, by: ActorName) -> Response:
        form = await request.form()
        run, reason = str(form.get("run", "")).strip(), str(form.get("reason", ""))[:1_000]
        if not is_key(run):
            msg = f"{run[:20]!r} is no number of a run"
            raise BadParameter(msg)
        count = await corrections.ignore_run(int(run), by, reason)
        return _back("/price-review", f"No reader sees the {count} prices of run {run}; each can be revoked by itself.")

    @router.post("/price-review/{offer_id}/link")
    async def link(offer_id: Key, request: Request, by: ActorName) -> Response:
        wanted = str((await request.form()).get("product", "")).strip()
        if not is_key(wanted):
            msg = f"{wanted[:20]!r} is no number of a product; the address of its page ends with it"
            raise BadParameter(msg)
        done = await links.link(offer_id, int(wanted), by)
        return _back("/price-review", f"{done.title} stands for product {done.product_id} from now on.")

    @router.post("/price-review/{offer_id}/product")
    async def new_product(offer_id: Key, by: ActorName) -> Response:
        done = await links.new_product(offer_id, by)
        return _back("/price-review", f"{done.title} is a product of its own: {done.product_id}.")

    @router.post("/price-review/{offer_id}/unlink")
    async def unlink(offer_id: Key, by: ActorName) -> Response:
        done = await links.unlink(offer_id, by)
        return _back("/price-review", f"{done.title} is kept apart from every product until it is linked.")


async def _judged(
    corrections: CorrectionActions, price_id: int, deed: str, written: tuple[str, str], reason: str, by: str
) -> str:  # fmt: skip
    """Do what a form asks for with a price, and return in words what was done."""
    deeds: dict[str, Callable[[], Awaitable[Any]]] = {
        "correct": lambda: corrections.correct(price_id, _cents(*written), by, reason),
        "ignore": lambda: corrections.ignore(price_id, by, reason),
        "revoke": lambda: corrections.revoke(price_id, by, reason),
    }
    if deed not in deeds:
        msg = f"a price can be {', '.join(deeds)}, not {deed[:20]!r}"
        raise Mistake(msg)
    await deeds[deed]()
    return {
        "correct": f"Readers see {written[0]} in place of price {price_id}; revoking undoes it.",
        "ignore": f"No reader sees price {price_id}; revoking undoes it.",
        "revoke": f"Price {price_id} stands as it was read.",
    }[deed]


def _cents(written: str, currency: str) -> int:
    """Return an amount that a person wrote, in the smallest unit of its currency."""
    text = written.strip()
    if _AMOUNT.fullmatch(text) is None:
        msg = f"{written!r} is no amount; write it as 12.34"
        raise Mistake(msg)
    return in_cents(Decimal(text.replace(",", ".")), currency)


async def _history(prices: PriceReads, product_id: int, since: datetime | None) -> list[PricePoint]:
    """Return a product's prices oldest first; of very many, the newest."""
    found: list[PricePoint] = []
    after: PriceCursor | None = None
    while page := await prices.product_history(product_id, since=since, after=after, limit=500):
        found = [*found, *page][-MOST_POINTS:]
        if len(page) < 500:  # noqa: PLR2004 - a page that is not full is the last
            break
        after = page[-1].cursor
    return found


def _begins(span: str, now: datetime) -> datetime | None:
    return None if span == "all" else now - timedelta(days=int(span))


def _lines(points: Sequence[PricePoint]) -> list[ChartLine]:
    """Return a line per shop; of two currencies, that of the newest price alone, because an axis has one."""
    currency = points[-1].currency if points else ""
    shops: dict[str, list[tuple[datetime, float]]] = {}
    for point in points:
        if point.currency == currency:
            shops.setdefault(point.source_name, []).append(
                (point.observed_at, float(in_units(point.price_cents, currency)))
            )
    return [ChartLine(name, course) for name, course in sorted(shops.items())]


def _amount(value: float) -> str:
    return f"{value:,.2f}"


def amount(cents: int | None, currency: str = "") -> str:
    """Return an amount as readers see it."""
    if cents is None:
        return "not told"
    sign = {"USD": "$", "EUR": "€", "GBP": "£", "": ""}.get(currency, f"{currency} ")
    return f"{sign}{in_units(cents, currency):,}"


def stock_words(availability: str) -> str:
    """Return whether an offer is in stock, in words."""
    return availability.lower().replace("_", " ")


def stock_state(availability: str) -> str:
    """Return the state whose colour an offer has on pages."""
    return "well" if availability == "IN_STOCK" else "plain"


def _back(path: str, done: str) -> Response:
    return RedirectResponse(f"{path}?{urlencode({'done': done[:200]})}", SEE_OTHER)
