"""What a person can do with adapters: switch them on and off, and approve field shares."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.vertical import Adapter, Vertical
from tidemill.core.views import AdapterView
from tidemill.operations.dry_run import MAX_PAGES, DryRun, dry_run
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.store.quality.adapter_fit import AdapterFitRepository, FieldBaseline, KeptBaseline
from tidemill.store.sources.adapters import AdapterRepository
from tidemill.store.views.views import Views


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


class Enabled(msgspec.Struct, frozen=True):
    """An adapter that was switched on, and the dry run that spoke for it."""

    adapter: AdapterLine
    dry_run: DryRun


class Blessed(msgspec.Struct, frozen=True):
    """The share of records that have each field, by source."""

    shares: dict[int, dict[str, float]]


class AdapterActions:
    """Switches adapters; every action is audited."""

    def __init__(
        self,
        verticals: Mapping[str, Vertical],
        repository: AdapterRepository,
        views: Views,
        clock: Clock,
        fit: AdapterFitRepository,
        readers: FunctionReaders,
    ) -> None:
        """`verticals` know their adapters, and `readers` try them on stored pages."""
        self._verticals = verticals
        self._repository = repository
        self._views = views
        self._clock = clock
        self._fit = fit
        self._readers = readers

    async def every(self) -> list[AdapterLine]:
        """Return all adapters."""
        known = {view.adapter_id: view for view in await self._views.adapters()}
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

    async def dry_run(self, adapter_id: str) -> DryRun:
        """Read the newest stored pages of an adapter's targets, and write nothing."""
        adapter, _ = self._find(adapter_id)
        pages = await self._fit.latest_pages(adapter_id, MAX_PAGES)
        return await dry_run(adapter, self._readers, pages)

    async def enable(self, adapter_id: str, actor: str, *, careful: bool = False) -> Enabled:
        """Switch an adapter on after a dry run on stored pages, and reset its strikes.

        Its next run is watched: one bad batch is enough to switch it off again. The pages that were stored last may
        be those on which it failed, so a bad dry run is only shown, unless the person is `careful`.
        """
        trial = await self.dry_run(adapter_id)
        if careful and not trial.is_successful:
            common = next(iter(trial.reasons), "nothing was found")
            msg = (
                f"only {trial.well} of {trial.pages} stored pages went well in a dry run of {adapter_id} "
                f"{trial.version}, most failed for {common}; mend the adapter, or leave out --careful"
            )
            raise Mistake(msg)
        detail = {"dry_run_pages": trial.pages, "dry_run_well": trial.well}
        return Enabled(await self._switch(adapter_id, actor, enabled=True, reason="", detail=detail), trial)

    async def bless(self, adapter_id: str, actor: str, source: str | None = None) -> list[FieldBaseline]:
        """Approve the current share of records that have each field as what is expected."""
        self._find(adapter_id)
        owners = [each for each in await self._fit.sources_of(adapter_id) if source in {None, each.name}]
        found = [(each.name, await self._fit.measure(each.id)) for each in owners]
        measured = [(name, each) for name, each in found if each.records]
        if not measured:
            msg = f"no run of {adapter_id} has read a record yet, so there is nothing to bless"
            raise Mistake(msg)
        notes = [AuditEntry(actor, "adapter.bless", f"source {name}", dict(each.shares)) for name, each in measured]
        await self._fit.bless([each for _, each in measured], actor, self._clock.now(), notes)
        return [each for _, each in measured]

    async def baselines(self, adapter_id: str) -> list[KeptBaseline]:
        """Return the shares of records that should have each field, as people took them for good."""
        self._find(adapter_id)
        return await self._fit.baselines(adapter_id)

    async def disable(self, adapter_id: str, actor: str, reason: str = "") -> AdapterLine:
        """Switch an adapter off: its targets are no longer enqueued."""
        return await self._switch(adapter_id, actor, enabled=False, reason=reason)

    def _find(self, adapter_id: str) -> tuple[Adapter, Vertical]:
        for vertical in self._verticals.values():
            if adapter_id in vertical.adapters:
                return vertical.adapters[adapter_id], vertical
        names = [name for vertical in self._verticals.values() for name in vertical.adapters]
        raise NotFound(unknown_name("adapter", adapter_id, names))

    async def _switch(
        self, adapter_id: str, actor: str, *, enabled: bool, reason: str, detail: Mapping[str, Any] | None = None
    ) -> AdapterLine:
        self._find(adapter_id)
        word = "adapter.enable" if enabled else "adapter.disable"
        note = AuditEntry(actor, word, f"adapter {adapter_id}", {"reason": reason, **(detail or {})})
        now = self._clock.now()
        await self._repository.set_enabled(adapter_id, enabled=enabled, by=actor, reason=reason, now=now, audit=[note])
        return next(line for line in await self.every() if line.id == adapter_id)
