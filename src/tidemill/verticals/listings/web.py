"""What listings and their markets add to the web app."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tidemill.core.views import Totals
from tidemill.operations.runs import Started
from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.api import listings, markets
from tidemill.verticals.listings.market import Market
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.portal import pages
from tidemill.verticals.listings.store.counter import COUNTER
from tidemill.verticals.listings.views import ListingDetail, ListingView
from tidemill.web.api.exports import export_routers
from tidemill.web.api.outgoing.changes import change_router
from tidemill.web.auth.permissions import Need, Permissions, rows
from tidemill.web.deps import WebDeps
from tidemill.web.extension import HomeTile, NavigationLink, PortalExtension, WebExtension
from tidemill.web.health import Late
from tidemill.web.responses import Listed

TEMPLATES = Path(__file__).parent / "portal" / "templates"

PERMISSIONS: Permissions = {
    **rows(Need.VIEWER, "GET /api/v1/exports/listings"),
    **rows(
        Need.READER,
        "GET /api/v1/listings", "GET /api/v1/listings/changes", "GET /api/v1/listings/geojson",
        "GET /api/v1/listings/{listing_id}", "GET /homes", "GET /homes/{listing_id}",
    ),
    **rows(
        Need.VIEWER, "GET /markets", "GET /markets/{market_id}",
        "GET /api/admin/markets", "GET /api/admin/markets/{market_id}",
    ),
    **rows(
        Need.OPERATOR,
        "POST /api/v1/listings/{listing_id}/saves", "POST /api/admin/markets", "PUT /api/admin/markets/{market_id}",
        "POST /api/admin/markets/{market_id}/scrape", "DELETE /api/admin/markets/{market_id}", "POST /markets",
        "POST /markets/{market_id}/change", "POST /markets/{market_id}/switch", "POST /markets/{market_id}/scrape",
        "POST /markets/{market_id}/remove", "POST /homes/{listing_id}/save",
    ),
}  # fmt: skip
"""What its routes need."""


def web_extension(deps: WebDeps, parts: ListingsParts) -> WebExtension:
    """Return the routes and pages of listings and markets."""
    return WebExtension(
        permissions=PERMISSIONS,
        vertical="listings",
        routers=[
            change_router("listings", parts.store.changes),
            listings.router(deps, parts.store.views, parts.store.past),
            markets.router(parts.markets),
            *export_routers(deps, parts.datasets),
        ],
        response_types=[Listed[Market], Market, Started, Listed[ListingView], ListingDetail],
        portal=PortalExtension(
            templates=TEMPLATES,
            routes=partial(pages.router, deps, parts.store.views, parts.markets),
            navigation=[NavigationLink("Homes", "/homes")],
            more=[NavigationLink("Markets", "/markets")],
            filters={
                "place": pages.place_words,
                "rent": pages.rent_words,
                "rooms": pages.room_words,
                "home_badge_colour": pages.badge_colour,
            },
            home_tiles=home_tiles,
        ),
        overdue=partial(overdue_markets, parts.markets),
    )


def home_tiles(totals: Totals) -> Sequence[HomeTile]:
    """Return how many homes there are; nothing where none was ever found."""
    listed, gone = totals.of(COUNTER.total)
    return [HomeTile("Homes", listed, f"{gone:,} gone", "/homes")] if listed or gone else []


async def overdue_markets(markets: MarketActions) -> Sequence[Late]:
    """Return the markets that fall short of their schedule."""
    return [Late(f"market {doubt.market}", doubt.words) for doubt in await markets.shortfalls()]
