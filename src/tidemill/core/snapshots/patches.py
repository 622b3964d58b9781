"""JSON Merge Patch (RFC 7396): what to change to get from one state to the next; null removes."""

from collections.abc import Mapping
from typing import Any


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that turns `old` into `new`; both are plain JSON without nulls."""
    patch: dict[str, Any] = dict.fromkeys(old.keys() - new.keys())
    for key, value in new.items():
        if key not in old:
            patch[key] = value
        elif not is_same(old[key], value):
            before = old[key]
            patch[key] = diff(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return patch


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON: Python takes True for 1, JSON does not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def merge(state: Any, patch: Any) -> Any:
    """Return the state with the patch applied; neither argument is changed, and unchanged parts are shared."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(state) if isinstance(state, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged
