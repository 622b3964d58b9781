"""Prices: offers for known product pages at retailers, with history."""

from typing import TYPE_CHECKING

from tidemill.plugin import Command, Environment, Plugin, StoreEnvironment

if TYPE_CHECKING:  # each part is imported when it is asked for
    from collections.abc import Sequence
    from pathlib import Path

    from tidemill.core.vertical import Vertical
    from tidemill.lab.part import LabPart
    from tidemill.operations.scoring.score import Score
    from tidemill.verticals.prices.parts import PricesParts, PricesStore
    from tidemill.web.deps import WebDeps
    from tidemill.web.extension import WebExtension


class PricesPlugin(Plugin["PricesStore", "PricesParts"]):
    """All of prices, in one value."""

    name = "prices"
    needs_approval = True
    commands = {  # noqa: RUF012 - a table, never changed
        "prices": Command(
            "Act",
            "Look at products, offers and prices; link offers to products.",
            "tidemill.verticals.prices.commands.prices",
            after="quarantine",
        ),
        "corrections": Command(
            "Act",
            "Correct or ignore prices; the prices themselves never change.",
            "tidemill.verticals.prices.commands.corrections",
            after="prices",
        ),
    }

    def load(self) -> "Vertical":
        """Policy, adapters and rules."""
        from tidemill.verticals.prices.definition import PRICES

        return PRICES

    def store(self, environment: StoreEnvironment) -> "PricesStore":
        """The tables."""
        from tidemill.verticals.prices.parts import open_store

        return open_store(environment)

    def build(self, environment: Environment, store: "PricesStore") -> "PricesParts":
        """Corrections, links."""
        from tidemill.verticals.prices.parts import build_parts

        return build_parts(environment, store)

    def web(self, deps: "WebDeps", parts: "PricesParts") -> "WebExtension":
        """Its routes."""
        from tidemill.verticals.prices.web import web_extension

        return web_extension(deps, parts)

    def lab(self) -> "LabPart":
        """Its sites in the lab."""
        from tidemill.verticals.prices.lab.part import LAB

        return LAB

    def scores(self, folder: "Path", time_zone: str) -> "Sequence[Score]":  # noqa: ARG002 - prices have no clock
        """How well the products of saved pages are read."""
        from tidemill.verticals.prices.scoring import product_scores

        return product_scores(folder)


VERTICAL = PricesPlugin()
"""The one that `bootstrap` lists."""
