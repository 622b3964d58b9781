"""The verticals as the stages see them, with the adapters that installed packages bring."""

from importlib.metadata import entry_points

from tidemill.bootstrap.adapters import GROUP, with_installed_adapters
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.core.enrichment import Enriching
from tidemill.core.vertical import Vertical

_extended = with_installed_adapters(
    {name: plugin.load() for name, plugin in PLUGINS.items()}, entry_points(group=GROUP)
)
VERTICALS: dict[str, Vertical] = _extended[0]
"""Every vertical by name."""
UNUSABLE_ADAPTERS = _extended[1]
"""Installed adapters that cannot be used, and why."""

ENRICHING: dict[str, Enriching] = {
    name: vertical.enriching for name, vertical in VERTICALS.items() if vertical.enriching is not None
}
"""What may be asked about the records of a vertical."""
