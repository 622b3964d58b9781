"""The verticals as the stages see them, with the adapters that installed packages bring."""

from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

from tidemill.bootstrap.adapters import GROUP, with_installed_adapters
from tidemill.bootstrap.loading import loaded_verticals
from tidemill.bootstrap.plugins import OWN, PLUGINS
from tidemill.core.services.enrichment import EnrichmentRules
from tidemill.core.vertical import Vertical
from tidemill.interop.adapter_table import AdapterTable
from tidemill.interop.foreign_code import FOREIGN_CODE
from tidemill.plugin import Plugin

_own = {plugin.name: plugin.load() for plugin in OWN}
_brought, UNLOADABLE_PLUGINS = loaded_verticals(plugin for name, plugin in PLUGINS.items() if name not in _own)
_extended = with_installed_adapters({**_own, **_brought}, entry_points(group=GROUP))
VERTICALS: dict[str, Vertical] = {
    name: replace(vertical, adapters=AdapterTable(vertical.adapters, FOREIGN_CODE, vertical.judge.__module__))
    for name, vertical in _extended[0].items()
}
"""Every vertical by name."""
LOADED_PLUGINS: dict[str, Plugin[Any, Any]] = {name: PLUGINS[name] for name in VERTICALS}
"""Where each of them comes from."""
UNUSABLE_ADAPTERS = _extended[1]
"""Installed adapters that cannot be used, and why."""

ENRICHING: dict[str, EnrichmentRules] = {
    name: vertical.enrichment for name, vertical in VERTICALS.items() if vertical.enrichment is not None
}
"""What may be asked about the records of a vertical."""
