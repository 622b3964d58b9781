"""What a source's settings may hold: what every source may, what fetchers read, what adapters and verticals read."""

from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.checks.source_settings import COMMON, CheckSetting, SettingChecks
from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.vertical import Vertical, settings_read
from tidemill.fetching.apify_protocol import ActorOptions
from tidemill.fetching.bee_protocol import BeeOptions
from tidemill.interop.adapter_table import AdapterTable
from tidemill.operations.plans import KnownAdapters, TargetTemplate
from tidemill.reading.selectors import selector_problem


def _options(kind: type[msgspec.Struct]) -> CheckSetting:
    """Return the check of a mapping whose fields are those of a struct."""

    def check(value: object) -> str:
        if isinstance(value, Mapping) and (unknown := set(value) - set(kind.__struct_fields__)):
            return unknown_name("field", str(min(unknown, key=str)), kind.__struct_fields__)
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            return str(error)
        return ""

    return check


def _selector(value: object) -> str:
    return selector_problem(value) if isinstance(value, str) and value.strip() else "write a CSS selector"


OF_FETCHERS: SettingChecks = {
    "wait_for": _selector,
    "scrapingbee": _options(BeeOptions),
    "apify": _options(ActorOptions),
}
"""What fetchers read of a source's settings."""


def known_adapters(verticals: Mapping[str, Vertical], templates: Sequence[TargetTemplate]) -> KnownAdapters:
    """Return what an import file may name."""
    return KnownAdapters(
        {name: vertical.adapters for name, vertical in verticals.items()},
        templates,
        known_settings(verticals),
        {name: tuple(vertical.policy.tiers) for name, vertical in verticals.items() if vertical.policy.tiers},
    )


def known_settings(verticals: Mapping[str, Vertical]) -> dict[str, SettingChecks]:
    """Return the settings that each adapter's sources may have; adapters that do not say are left out.

    Those of code that is named by an import path stand under its scheme and the vertical: `poet:NAME`.
    """
    foreign: dict[str, SettingChecks] = {
        f"{scheme}:{name}": {**COMMON, **OF_FETCHERS, **(vertical.settings or {}), **code.settings}
        for name, vertical in verticals.items()
        if isinstance(vertical.adapters, AdapterTable)
        for scheme, code in vertical.adapters.foreign.items()
    }
    return foreign | {
        adapter_id: {**COMMON, **OF_FETCHERS, **read}
        for vertical in verticals.values()
        for adapter_id, adapter in vertical.adapters.items()
        if (read := settings_read(vertical, adapter)) is not None
    }
