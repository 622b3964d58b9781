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
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.responses import Listed


def web_extension(deps: WebDeps, parts: PricesParts) -> WebExtension:
    """Return the routes of prices."""
    prices = parts.store.views
    return WebExtension(
        vertical="prices",
        routers=[
            products.router(prices),
            offers.router(prices),
            changes.router(prices),
            corrections.router(deps, parts.corrections),
            links.router(deps, parts.links),
            webhooks.router(deps, parts.webhooks),
        ],
        response_types=[
            Listed[ProductView], ProductDetail, Listed[LowestView], Listed[PricePoint], Listed[OfferView],
            Listed[ChangeView], Listed[CorrectionView], CorrectionView, Listed[LinkView], LinkView,
            Listed[SubscriptionView], SubscriptionView, Subscribed, Listed[DeliveryView],
        ],
    )  # fmt: skip
