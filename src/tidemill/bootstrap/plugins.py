"""The list of verticals: our own, and those that installed packages bring. The only place that names them.

Light to import: what a plugin holds is loaded when it is asked for.
"""

from importlib.metadata import entry_points
from typing import Any

from tidemill.bootstrap.installed import UnusablePackage, with_installed_plugins
from tidemill.plugin import GROUP, Plugin
from tidemill.verticals.events import VERTICAL as EVENTS
from tidemill.verticals.listings import VERTICAL as LISTINGS
from tidemill.verticals.matches import VERTICAL as MATCHES
from tidemill.verticals.prices import VERTICAL as PRICES

OWN: tuple[Plugin[Any, Any], ...] = (
    EVENTS,
    PRICES,
    LISTINGS,
    MATCHES,
)

DEFAULT_VERTICAL = OWN[0].name
DEFAULT_ADAPTER = f"{DEFAULT_VERTICAL}.generic"
"""The vertical of commands that are given none."""

_found = with_installed_plugins(OWN, entry_points(group=GROUP))
PLUGINS: dict[str, Plugin[Any, Any]] = _found[0]
"""Every vertical by name, our own first."""
UNUSABLE_PLUGINS: tuple[UnusablePackage, ...] = _found[1]
"""Installed ones that cannot be used, and why."""
