"""The adapters of the events vertical, listed by hand: nothing registers itself on import."""

from tidemill.core.vertical import Adapter
from tidemill.verticals.events.sources.generic import GenericEventAdapter
from tidemill.verticals.events.sources.selectors import SelectorEventAdapter

ADAPTERS: dict[str, Adapter] = {adapter.id: adapter for adapter in (GenericEventAdapter(), SelectorEventAdapter())}
"""Every adapter by its id."""
