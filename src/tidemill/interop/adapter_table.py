"""A vertical's adapters by name, with those that are named by an import path made when they are asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tidemill.core.checks.source_settings import SettingChecks
from tidemill.core.vertical import Adapter
from tidemill.interop.import_paths import ImportPath, UnusableCode, parse_import_path
from tidemill.interop.reading_code import code_digest

MOST_KEPT = 1_000
"""Adapters that are kept once made; past that they are made anew, so that wrong names fill no memory."""


class ForeignCode(NamedTuple):
    """How adapters are made of one tool's code, and the settings of a source that they read."""

    make: Callable[[ImportPath], Adapter]
    settings: SettingChecks


class AdapterTable(Mapping[str, Adapter]):
    """The adapters of one vertical.

    Only those that were listed are iterated over: code that is named by an import path belongs to whoever names it.
    """

    def __init__(
        self, listed: Mapping[str, Adapter], foreign: Mapping[str, ForeignCode], rules_module: str = ""
    ) -> None:
        """`foreign` says how names of each scheme are made into adapters; `rules_module` judges what they read."""
        self._rules_module = rules_module
        self._listed = listed
        self.foreign = foreign
        self._schemes = frozenset(foreign)
        self._made: dict[str, Adapter | str] = {}

    def __getitem__(self, name: str) -> Adapter:
        """Return the adapter of that name."""
        if (listed := self._listed.get(name)) is not None:
            return listed
        if (earlier := self._version(name)) is not None:
            return earlier
        made = self._make(name)
        if isinstance(made, str):
            raise KeyError(name)
        return made

    def code_of(self, name: str) -> str:
        """Return a digest of the code that an adapter and its vertical's rules read by; '' where it is not known."""
        adapter = self.get(name)
        return "" if adapter is None else code_digest(type(adapter).__module__, self._rules_module)

    def _version(self, name: str) -> Adapter | None:
        """Return the version of a listed adapter that is named `id@1.2.0`, where the adapter brings it along."""
        listed, at, version = name.rpartition("@")
        adapter = self._listed.get(listed) if at else None
        if adapter is None or adapter.version == version:
            return adapter
        others: Mapping[str, Adapter] = getattr(adapter, "versions", {})
        return others.get(version)

    def __iter__(self) -> Iterator[str]:
        """Walk over the names of the listed adapters."""
        return iter(self._listed)

    def __len__(self) -> int:
        """Count the listed adapters."""
        return len(self._listed)

    def problem_with(self, name: str) -> str:
        """Return why a name that is an import path cannot be used; '' for other names and for those that can."""
        made = self._make(name) if name not in self._listed else ""
        return made if isinstance(made, str) else ""

    def _make(self, name: str) -> Adapter | str:
        """Return the adapter, or why there is none; '' if the name is no import path at all."""
        if name not in self._made:
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            self._made[name] = self._made_anew(name)
        return self._made[name]

    def _made_anew(self, name: str) -> Adapter | str:
        try:
            path = parse_import_path(name, self._schemes)
            return "" if path is None else self.foreign[path.scheme].make(path)
        except UnusableCode as error:
            return str(error)


def scheme_of(name: str) -> str:
    """Return what stands before the first colon of an adapter's name, with the colon; '' if there is none."""
    scheme, colon, _ = name.partition(":")
    return scheme + colon if colon else ""
