"""The tables of everything that is installed: Tidemill's own, and those of the verticals that packages bring."""

from functools import partial

from tidemill.bootstrap.installed import package_folder
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.store.database import migrate
from tidemill.store.database.migrate import MigrationChain

CHAINS: tuple[MigrationChain, ...] = tuple(
    MigrationChain(name, folder)
    for name, plugin in PLUGINS.items()
    if plugin.migrations and (folder := package_folder(plugin.migrations)) is not None
)
"""The migrations of installed packages; our own verticals' are among ours."""

upgrade = partial(migrate.upgrade, chains=CHAINS)
"""Take every step that is missing, in our tables and in those of every plugin."""
require_current = partial(migrate.require_current, chains=CHAINS)
"""Refuse to work on tables of another version, ours or a plugin's."""
plugin_status = partial(migrate.plugin_status, chains=CHAINS)
"""How far the tables of plugins are, those included that are no longer installed."""
