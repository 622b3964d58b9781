"""The verticals as the stages see them, with the adapters that installed packages bring."""

from importlib.metadata import entry_points

from tidemill.bootstrap.adapters import GROUP, with_installed
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.core.enrichment import EnrichmentRules
from tidemill.core.vertical import Vertical

_widened = with_installed({name: plugin.load() for name, plugin in PLUGINS.items()}, entry_points(group=GROUP))
VERTICALS: dict[str, Vertical] = _widened[0]
"""Every vertical by name."""
UNUSABLE_ADAPTERS = _widened[1]
"""Installed adapters that cannot be used, and why."""

ENRICHING: dict[str, EnrichmentRules] = {
    name: vertical.enrichment for name, vertical in VERTICALS.items() if vertical.enrichment is not None
}
"""What may be asked about the records of a vertical."""
