"""What a person can do with adapters: switch them on and off."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.vertical import Vertical
from tidemill.core.views import AdapterView
from tidemill.operations.mistakes import NotFound, unknown
from tidemill.pipeline.ports import Clock


class Shelf(Protocol):
    """Which adapters are off."""

    async def set_enabled(
        self, adapter_id: str, *, enabled: bool, by: str, reason: str, now: datetime, audit: Sequence[AuditEntry] = ()
    ) -> None:
        """Switch an adapter on or off, with its audit entries in the same transaction."""
        ...


class Sight(Protocol):
    """Adapters, as they stand."""

    async def adapters(self) -> list[AdapterView]:
        """Those that have been dealt with."""
        ...


class AdapterLine(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter with its version and whether it is on."""

    id: str
    vertical: str
    version: str
    domain: str
    needs_browser: bool
    enabled: bool
    disabled_reason: str | None = None
    disabled_by: str | None = None


class AdapterDesk:
    """Switches adapters; every deed is audited."""

    def __init__(self, verticals: Mapping[str, Vertical], shelf: Shelf, sight: Sight, clock: Clock) -> None:
        """`verticals` know their adapters."""
        self._verticals = verticals
        self._shelf = shelf
        self._sight = sight
        self._clock = clock

    async def every(self) -> list[AdapterLine]:
        """All adapters there are."""
        known = {view.adapter_id: view for view in await self._sight.adapters()}
        lines = []
        for vertical in self._verticals.values():
            for adapter in vertical.adapters.values():
                view = known.get(adapter.id, AdapterView(adapter_id=adapter.id))
                lines.append(
                    AdapterLine(
                        id=adapter.id,
                        vertical=vertical.name,
                        version=adapter.version,
                        domain=adapter.domain,
                        needs_browser=adapter.needs_browser,
                        enabled=view.enabled,
                        disabled_reason=view.disabled_reason,
                        disabled_by=view.disabled_by,
                    )
                )
        return lines

    async def enable(self, adapter_id: str, actor: str) -> AdapterLine:
        """Switch an adapter on; what was held against it is forgiven."""
        return await self._switch(adapter_id, actor, enabled=True, reason="")

    async def disable(self, adapter_id: str, actor: str, reason: str = "") -> AdapterLine:
        """Switch an adapter off: nothing is enqueued for its targets any more."""
        return await self._switch(adapter_id, actor, enabled=False, reason=reason)

    async def _switch(self, adapter_id: str, actor: str, *, enabled: bool, reason: str) -> AdapterLine:
        names = [name for vertical in self._verticals.values() for name in vertical.adapters]
        if adapter_id not in names:
            raise NotFound(unknown("adapter", adapter_id, names))
        word = "adapter.enable" if enabled else "adapter.disable"
        note = AuditEntry(actor, word, f"adapter {adapter_id}", {"reason": reason})
        now = self._clock.now()
        await self._shelf.set_enabled(adapter_id, enabled=enabled, by=actor, reason=reason, now=now, audit=[note])
        return next(line for line in await self.every() if line.id == adapter_id)
