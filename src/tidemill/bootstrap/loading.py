"""Load the verticals of installed packages; one that does not fit this version is left out and reported."""

from collections.abc import Iterable
from typing import Any

from tidemill.bootstrap.installed import UnusablePackage
from tidemill.core.policy import validated
from tidemill.core.vertical import Vertical
from tidemill.plugin import Plugin


def loaded_verticals(
    plugins: Iterable[Plugin[Any, Any]],
) -> tuple[dict[str, Vertical], tuple[UnusablePackage, ...]]:
    """Return the verticals that plugins load, by name; and the plugins that cannot be loaded."""
    found: dict[str, Vertical] = {}
    unusable = []
    for plugin in plugins:
        try:
            found[plugin.name] = _checked_vertical(plugin)
        except Exception as error:  # noqa: BLE001 - somebody else's modules; whatever they raise is their own trouble
            reason = f"it cannot be loaded ({type(error).__name__}: {error})"[:500]
            unusable.append(UnusablePackage(plugin.name, type(plugin).__module__, reason))
    return found, tuple(unusable)


def _checked_vertical(plugin: Plugin[Any, Any]) -> Vertical:
    """Return what a plugin loads; raise if its name differs or its policy contradicts itself."""
    vertical = plugin.load()
    if vertical.name != plugin.name:
        msg = f"it calls itself {vertical.name!r} in its definition"
        raise ValueError(msg)
    validated(vertical.policy)
    return vertical
