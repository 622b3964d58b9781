"""What listings and their markets add to the web app."""

from collections.abc import Sequence
from functools import partial

from tidemill.operations.runs import Started
from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.api import listings, markets
from tidemill.verticals.listings.market import Market
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.views import ListingDetail, ListingView
from tidemill.web.api.exports import export_routers
from tidemill.web.auth.permissions import Need, Permissions, rows
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.health import Late
from tidemill.web.responses import Listed

PERMISSIONS: Permissions = {
    **rows(Need.VIEWER, "GET /api/v1/exports/listings"),
    **rows(
        Need.READER, "GET /api/v1/listings", "GET /api/v1/listings/geojson", "GET /api/v1/listings/{listing_id}"
    ),
    **rows(Need.VIEWER, "GET /api/admin/markets", "GET /api/admin/markets/{market_id}"),
    **rows(
        Need.OPERATOR,
        "POST /api/v1/listings/{listing_id}/saves", "POST /api/admin/markets", "PUT /api/admin/markets/{market_id}",
        "POST /api/admin/markets/{market_id}/scrape",
    ),
}  # fmt: skip
"""What its routes need."""


def web_extension(deps: WebDeps, parts: ListingsParts) -> WebExtension:
    """Return the routes of listings and markets."""
    return WebExtension(
        permissions=PERMISSIONS,
        vertical="listings",
        routers=[
            listings.router(deps, parts.store.views),
            markets.router(parts.markets),
            *export_routers(deps, parts.datasets),
        ],
        response_types=[Listed[Market], Market, Started, Listed[ListingView], ListingDetail],
        overdue=partial(overdue_markets, parts.markets),
    )


async def overdue_markets(markets: MarketActions) -> Sequence[Late]:
    """Return the markets that fall short of their schedule."""
    return [Late(f"market {doubt.market}", doubt.words) for doubt in await markets.shortfalls()]
