"""The adapters of the listings vertical, listed by hand: nothing registers itself on import."""

from tidemill.core.vertical import Adapter
from tidemill.verticals.listings.sources.dataset import Dataset
from tidemill.verticals.listings.sources.search import ApartmentCards, Search

ADAPTERS: dict[str, Adapter] = {adapter.id: adapter for adapter in (Search(), ApartmentCards(), Dataset())}
"""Every adapter by its id."""
