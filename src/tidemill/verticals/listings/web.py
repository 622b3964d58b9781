"""What listings and their markets add to the web app."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tidemill.operations.runs import Started
from tidemill.verticals.listings.actions import MarketActions
from tidemill.verticals.listings.api import listings, markets
from tidemill.verticals.listings.market import Market
from tidemill.verticals.listings.store.views import ListingViews
from tidemill.verticals.listings.views import ListingDetail, ListingView
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.health import Late
from tidemill.web.responses import Listed


@dataclass(frozen=True, slots=True)
class ListingsWeb:
    """What the routes of listings read from, and the actions that a person can take on markets."""

    listings: ListingViews
    markets: MarketActions


def web_extension(deps: WebDeps, own: ListingsWeb) -> WebExtension:
    """Return the routes of listings and markets."""
    return WebExtension(
        vertical="listings",
        routers=[listings.router(deps, own.listings), markets.router(deps, own.markets)],
        response_types=[Listed[Market], Market, Started, Listed[ListingView], ListingDetail],
        overdue=partial(overdue_markets, own.markets),
    )


async def overdue_markets(markets: MarketActions) -> Sequence[Late]:
    """Return the markets that fall short of their schedule."""
    return [Late(f"market {doubt.market}", doubt.words) for doubt in await markets.doubts()]
