"""What prices add to the web app."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tidemill.core.views import Totals
from tidemill.verticals.prices.api import changes, corrections, links, offers, products
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.portal import pages
from tidemill.verticals.prices.store.counter import COUNTER
from tidemill.verticals.prices.views import (
    ChangeView,
    CorrectionView,
    LinkView,
    LowestView,
    OfferView,
    PricePoint,
    ProductDetail,
    ProductView,
)
from tidemill.web.api.exports import export_routers
from tidemill.web.auth.permissions import Need, Permissions, rows
from tidemill.web.deps import WebDeps
from tidemill.web.extension import HomeTile, NavigationLink, PortalExtension, WebExtension
from tidemill.web.responses import Listed

TEMPLATES = Path(__file__).parent / "portal" / "templates"

PERMISSIONS: Permissions = {
    **rows(
        Need.READER,
        "GET /api/v1/offers", "GET /api/v1/offers/{offer_id}/history", "GET /api/v1/prices/changes",
        "GET /api/v1/products", "GET /api/v1/products/{product_id}", "GET /api/v1/products/{product_id}/history",
        "GET /api/v1/products/{product_id}/lowest", "GET /products", "GET /products/{product_id}",
    ),
    **rows(
        Need.VIEWER,
        "GET /price-review", "GET /api/v1/corrections", "GET /api/v1/links/review", "GET /api/v1/exports/products",
        "GET /api/v1/exports/offers", "GET /api/v1/exports/price-changes",
    ),
    **rows(
        Need.OPERATOR,
        "POST /api/v1/offers/{offer_id}/link/{product_id}", "POST /api/v1/offers/{offer_id}/product",
        "POST /api/v1/offers/{offer_id}/unlink", "POST /api/v1/prices/{price_id}/correct",
        "POST /api/v1/prices/{price_id}/ignore", "POST /api/v1/prices/{price_id}/revoke",
        "POST /api/v1/prices/runs/{run_id}/ignore", "POST /price-review/ignore-run",
        "POST /products/{product_id}/prices/{price_id}/{deed}", "POST /price-review/{offer_id}/link",
        "POST /price-review/{offer_id}/product", "POST /price-review/{offer_id}/unlink",
    ),
}  # fmt: skip
"""What its routes need."""


def web_extension(deps: WebDeps, parts: PricesParts) -> WebExtension:
    """Return the routes and pages of prices."""
    prices = parts.store.views
    return WebExtension(
        permissions=PERMISSIONS,
        vertical="prices",
        routers=[
            products.router(prices),
            offers.router(deps, prices, parts.store.past),
            changes.router(prices),
            corrections.router(parts.corrections),
            links.router(parts.links),
            *export_routers(deps, parts.datasets),
        ],
        response_types=[
            Listed[ProductView], ProductDetail, Listed[LowestView], Listed[PricePoint], Listed[OfferView],
            Listed[ChangeView], Listed[CorrectionView], CorrectionView, Listed[LinkView], LinkView,
        ],
        portal=PortalExtension(
            templates=TEMPLATES,
            routes=partial(pages.router, deps, prices, parts.corrections, parts.links),
            navigation=[NavigationLink("Prices", "/products")],
            more=[NavigationLink("Prices to review", "/price-review")],
            filters={
                "amount": pages.amount, "stock_words": pages.stock_words, "stock_state": pages.stock_state,
            },
            home_tiles=home_tiles,
        ),
    )  # fmt: skip


def home_tiles(totals: Totals) -> Sequence[HomeTile]:
    """Return how many shops' products there are; nothing where no shop was ever read."""
    sold, gone = totals.of(COUNTER.total)
    return [HomeTile("Products", sold, f"{gone:,} gone", "/products")] if sold or gone else []
