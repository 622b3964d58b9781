"""Listings: homes for rent per city market."""

from typing import TYPE_CHECKING

from tidemill.plugin import Command, Environment, Plugin, StoreEnvironment

if TYPE_CHECKING:  # each part is imported when it is asked for
    from tidemill.core.vertical import Vertical
    from tidemill.lab.part import LabPart
    from tidemill.verticals.listings.parts import ListingsParts, ListingsStore
    from tidemill.web.deps import WebDeps
    from tidemill.web.extension import WebExtension


class ListingsPlugin(Plugin["ListingsStore", "ListingsParts"]):
    """All of listings, in one value."""

    name = "listings"
    needs_approval = False
    commands = {  # noqa: RUF012 - a table, never changed
        "markets": Command(
            "Act",
            "List, add, change and scrape markets: cities and their homes for rent.",
            "tidemill.verticals.listings.commands.markets",
            after="targets",
        ),
    }

    tasks = ("decay_and_verify", "scrape_city_task", "verify_listing")

    def load(self) -> "Vertical":
        """Policy, adapters and rules."""
        from tidemill.verticals.listings.definition import LISTINGS

        return LISTINGS

    def store(self, environment: StoreEnvironment) -> "ListingsStore":
        """The tables."""
        from tidemill.verticals.listings.parts import open_store

        return open_store(environment)

    def build(self, environment: Environment, store: "ListingsStore") -> "ListingsParts":
        """Market actions, chores."""
        from tidemill.verticals.listings.parts import build_parts

        return build_parts(environment, store)

    def web(self, deps: "WebDeps", parts: "ListingsParts") -> "WebExtension":
        """Its routes."""
        from tidemill.verticals.listings.web import web_extension

        return web_extension(deps, parts)

    def lab(self) -> "LabPart":
        """Its sites in the lab."""
        from tidemill.verticals.listings.lab.part import LAB

        return LAB


VERTICAL = ListingsPlugin()
"""The one that `bootstrap` lists."""
