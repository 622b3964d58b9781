"""Verticals that installed packages bring; one that cannot be used is left out and reported."""

import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tidemill.plugin import Plugin

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")


class EntryPointLike(Protocol):
    """The part of an entry point that is needed."""

    @property
    def name(self) -> str:
        """The name that the package gives it."""
        ...

    @property
    def value(self) -> str:
        """Where it is: `package.module:NAME`."""
        ...

    def load(self) -> Any:
        """Import it."""
        ...


class UnusablePackage(NamedTuple):
    """An adapter or a vertical of an installed package that was left out, and why."""

    name: str
    where: str
    reason: str


def with_installed_plugins(
    own: Sequence[Plugin[Any, Any]], points: Iterable[EntryPointLike]
) -> tuple[dict[str, Plugin[Any, Any]], tuple[UnusablePackage, ...]]:
    """Return our own verticals and every installed one that can be used, by name; and those that cannot."""
    found = {plugin.name: plugin for plugin in own}
    unusable = []
    for point in sorted(points, key=lambda each: (each.name, each.value)):
        plugin, reason = load_entry_point(point)
        if reason := reason or _reason_unusable(plugin, found):
            unusable.append(UnusablePackage(point.name, point.value, reason))
        else:
            found[plugin.name] = plugin
    return found, tuple(unusable)


def load_entry_point(point: EntryPointLike) -> tuple[Any, str]:
    """Return what an entry point names, and '' or why it cannot be imported."""
    try:
        return point.load(), ""
    except Exception as error:  # noqa: BLE001 - somebody else's module; whatever it raises is its own trouble
        return None, f"it cannot be imported ({type(error).__name__}: {error})"[:500]


def _reason_unusable(plugin: Any, found: dict[str, Plugin[Any, Any]]) -> str:
    if not isinstance(plugin, Plugin):
        return "it is no `tidemill.plugin.Plugin`"
    if not isinstance(getattr(plugin, "name", None), str) or not _NAME.fullmatch(plugin.name):
        return "its `name` is not made of small letters, digits and underscores"
    if plugin.name in found:
        return f"the name {plugin.name!r} is taken"
    if plugin.migrations and package_folder(plugin.migrations) is None:
        return f"there is no package {plugin.migrations!r} with its migrations"
    return ""


def package_folder(name: str) -> Path | None:
    """Where a package lies; None if there is none of that name."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return None
    folders = (spec.submodule_search_locations if spec is not None else None) or ()
    return next((Path(folder) for folder in folders), None)
