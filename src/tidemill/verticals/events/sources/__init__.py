"""The adapters of the events vertical, listed by hand: nothing registers itself on import."""

from tidemill.core.vertical import Adapter
from tidemill.verticals.events.sources.generic import Generic
from tidemill.verticals.events.sources.selecting import Selecting

ADAPTERS: dict[str, Adapter] = {adapter.id: adapter for adapter in (Generic(), Selecting())}
"""Every adapter by its id."""
