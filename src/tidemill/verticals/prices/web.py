"""What prices add to the web app."""

from tidemill.verticals.prices.api import changes, corrections, links, offers, products, webhooks
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.views import (
    ChangeView,
    CorrectionView,
    DeliveryView,
    LinkView,
    LowestView,
    OfferView,
    PricePoint,
    ProductDetail,
    ProductView,
    SubscriptionView,
)
from tidemill.verticals.prices.webhooks import Subscribed
from tidemill.web.api.exports import export_routers
from tidemill.web.auth.permissions import Need, Permissions, rows
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.responses import Listed

PERMISSIONS: Permissions = {
    **rows(
        Need.READER,
        "GET /api/v1/offers", "GET /api/v1/offers/{offer_id}/history", "GET /api/v1/prices/changes",
        "GET /api/v1/products", "GET /api/v1/products/{product_id}", "GET /api/v1/products/{product_id}/history",
        "GET /api/v1/products/{product_id}/lowest",
    ),
    **rows(
        Need.VIEWER,
        "GET /api/v1/corrections", "GET /api/v1/links/review", "GET /api/v1/webhooks",
        "GET /api/v1/webhooks/deliveries", "GET /api/v1/exports/products", "GET /api/v1/exports/offers",
        "GET /api/v1/exports/price-changes",
    ),
    **rows(
        Need.OPERATOR,
        "POST /api/v1/offers/{offer_id}/link/{product_id}", "POST /api/v1/offers/{offer_id}/product",
        "POST /api/v1/offers/{offer_id}/unlink", "POST /api/v1/prices/{price_id}/correct",
        "POST /api/v1/prices/{price_id}/ignore", "POST /api/v1/prices/{price_id}/revoke", "POST /api/v1/webhooks",
        "DELETE /api/v1/webhooks/{name}",
    ),
}  # fmt: skip
"""What its routes need."""


def web_extension(deps: WebDeps, parts: PricesParts) -> WebExtension:
    """Return the routes of prices."""
    prices = parts.store.views
    return WebExtension(
        permissions=PERMISSIONS,
        vertical="prices",
        routers=[
            products.router(prices),
            offers.router(prices),
            changes.router(prices),
            corrections.router(parts.corrections),
            links.router(parts.links),
            webhooks.router(parts.webhooks), *export_routers(deps, parts.datasets),
        ],
        response_types=[
            Listed[ProductView], ProductDetail, Listed[LowestView], Listed[PricePoint], Listed[OfferView],
            Listed[ChangeView], Listed[CorrectionView], CorrectionView, Listed[LinkView], LinkView,
            Listed[SubscriptionView], SubscriptionView, Subscribed, Listed[DeliveryView],
        ],
    )  # fmt: skip
