"""Adapters that other packages bring, by the entry point group `tidemill.adapters`.

One that cannot be loaded, or is no adapter, is left out and reported; the others are not affected.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tidemill.bootstrap.installed import EntryPointLike, UnusablePackage, load_entry_point
from tidemill.core.vertical import Adapter, Vertical

GROUP = "tidemill.adapters"
_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?")
_NEEDED = {"id": str, "version": str, "domain": str, "needs_browser": bool, "vertical": str}


def with_installed_adapters(
    verticals: Mapping[str, Vertical], points: Iterable[EntryPointLike]
) -> tuple[dict[str, Vertical], tuple[UnusablePackage, ...]]:
    """Return the verticals with every installed adapter that can be used, and the adapters that cannot."""
    installed: dict[str, dict[str, Adapter]] = {}
    unusable: list[UnusablePackage] = []
    for point in sorted(points, key=lambda each: (each.name, each.value)):
        found, reason = _load_adapter(point, verticals, installed)
        if found is None:
            unusable.append(UnusablePackage(point.name, point.value, reason))
        else:
            installed.setdefault(found.vertical, {})[found.id] = found
    extended = {
        name: replace(each, adapters={**installed[name], **each.adapters}) if name in installed else each
        for name, each in verticals.items()
    }
    return extended, tuple(unusable)


def _load_adapter(
    point: EntryPointLike, verticals: Mapping[str, Vertical], installed: Mapping[str, Mapping[str, Adapter]]
) -> tuple[Any, str]:
    found, trouble = load_entry_point(point)
    if trouble:
        return None, trouble
    for name, kind in _NEEDED.items():
        if not isinstance(getattr(found, name, None), kind):
            return None, f"it has no `{name}` of type {kind.__name__}"
    return (None, reason) if (reason := _reason_unusable(found, verticals, installed)) else (found, "")


def _reason_unusable(
    found: Any, verticals: Mapping[str, Vertical], installed: Mapping[str, Mapping[str, Adapter]]
) -> str:
    if not callable(getattr(found, "read", None)):
        return "it has no method `read(page, context)`"
    if not _SEMVER.fullmatch(found.version):
        return f"its version {found.version!r} is not like 1.0.0"
    if found.vertical not in verticals:
        return f"there is no vertical {found.vertical!r}; there are {', '.join(verticals)}"
    if found.id in verticals[found.vertical].adapters or found.id in installed.get(found.vertical, {}):
        return f"the id {found.id!r} is taken"
    return ""
