"""Adapters that other packages bring, by the entry point group `tidemill.adapters`.

One that cannot be loaded, or is no adapter, is left out and told of; it harms no other.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec

from tidemill.core.policy import Policy
from tidemill.core.record import RawRecord
from tidemill.core.verdict import Verdict
from tidemill.core.vertical import Adapter, Context, Vertical

GROUP = "tidemill.adapters"
_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?")
_NEEDED = {"id": str, "version": str, "domain": str, "needs_browser": bool, "vertical": str}


class EntryPointLike(Protocol):
    """As much of an entry point as is needed."""

    @property
    def name(self) -> str:
        """What the package calls it."""
        ...

    @property
    def value(self) -> str:
        """Where it is: `package.module:NAME`."""
        ...

    def load(self) -> Any:
        """Import it."""
        ...


class UnusableAdapter(msgspec.Struct, frozen=True):
    """An adapter that was left out, and why."""

    name: str
    where: str
    reason: str


class ExtendedVertical:
    """A vertical with the adapters that other packages bring beside its own."""

    def __init__(self, vertical: Vertical, more: Mapping[str, Adapter]) -> None:
        """Its own adapters stay what they are."""
        self.name: str = vertical.name
        self.policy: Policy = vertical.policy
        self.adapters: Mapping[str, Adapter] = {**more, **vertical.adapters}
        self._vertical = vertical

    def judge(self, raw: RawRecord, context: Context) -> Verdict:
        """As the vertical judges."""
        return self._vertical.judge(raw, context)

    def revive(self, identity: str, stored: bytes) -> object:
        """As the vertical does."""
        return self._vertical.revive(identity, stored)


def with_installed(
    verticals: Mapping[str, Vertical], points: Iterable[EntryPointLike]
) -> tuple[dict[str, Vertical], tuple[UnusableAdapter, ...]]:
    """The verticals with every adapter that can be used, and those that cannot."""
    more: dict[str, dict[str, Adapter]] = {}
    unusable: list[UnusableAdapter] = []
    for point in sorted(points, key=lambda each: (each.name, each.value)):
        found, reason = _loaded(point, verticals, more)
        if found is None:
            unusable.append(UnusableAdapter(point.name, point.value, reason))
        else:
            more.setdefault(found.vertical, {})[found.id] = found
    widened = {name: ExtendedVertical(each, more[name]) if name in more else each for name, each in verticals.items()}
    return widened, tuple(unusable)


def _loaded(
    point: EntryPointLike, verticals: Mapping[str, Vertical], more: Mapping[str, Mapping[str, Adapter]]
) -> tuple[Any, str]:
    try:
        found = point.load()
    except Exception as error:  # noqa: BLE001 - somebody else's module; whatever it raises is its own trouble
        return None, f"it cannot be imported ({type(error).__name__}: {error})"[:500]
    for name, kind in _NEEDED.items():
        if not isinstance(getattr(found, name, None), kind):
            return None, f"it has no `{name}` of type {kind.__name__}"
    return (None, reason) if (reason := _objection(found, verticals, more)) else (found, "")


def _objection(found: Any, verticals: Mapping[str, Vertical], more: Mapping[str, Mapping[str, Adapter]]) -> str:
    if not callable(getattr(found, "read", None)):
        return "it has no method `read(page, context)`"
    if not _SEMVER.fullmatch(found.version):
        return f"its version {found.version!r} is not like 1.0.0"
    if found.vertical not in verticals:
        return f"there is no vertical {found.vertical!r}; there are {', '.join(verticals)}"
    if found.id in verticals[found.vertical].adapters or found.id in more.get(found.vertical, {}):
        return f"the id {found.id!r} is taken"
    return ""
