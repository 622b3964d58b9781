"""What prices add to the web app."""

from dataclasses import dataclass

from tidemill.verticals.prices.api import changes, corrections, links, offers, products
from tidemill.verticals.prices.corrections import CorrectionActions
from tidemill.verticals.prices.links import LinkActions
from tidemill.verticals.prices.store.views import PriceReads
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
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.responses import Listed


@dataclass(frozen=True, slots=True)
class PricesWeb:
    """What the routes of prices read from, and the actions that a person can take."""

    prices: PriceReads
    corrections: CorrectionActions
    links: LinkActions


def web_extension(deps: WebDeps, own: PricesWeb) -> WebExtension:
    """Return the routes of prices."""
    return WebExtension(
        vertical="prices",
        routers=[
            products.router(own.prices),
            offers.router(own.prices),
            changes.router(own.prices),
            corrections.router(deps, own.corrections),
            links.router(deps, own.links),
        ],
        response_types=[
            Listed[ProductView], ProductDetail, Listed[LowestView], Listed[PricePoint], Listed[OfferView],
            Listed[ChangeView], Listed[CorrectionView], CorrectionView, Listed[LinkView], LinkView,
        ],
    )  # fmt: skip
