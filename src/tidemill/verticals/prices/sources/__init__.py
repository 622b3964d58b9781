"""The adapters of the prices vertical, listed by hand: nothing registers itself on import."""

from tidemill.core.vertical import Adapter
from tidemill.verticals.prices.sources.generic import GenericShopAdapter
from tidemill.verticals.prices.sources.sgammo import SGAmmo
from tidemill.verticals.prices.sources.template import Template

ADAPTERS: dict[str, Adapter] = {adapter.id: adapter for adapter in (GenericShopAdapter(), SGAmmo(), Template())}
"""Every adapter by its id."""
