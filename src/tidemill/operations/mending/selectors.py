"""A selector that a person chose on a stored page: tried on the latest pages, then saved or proposed."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from tidemill.core.audit import AuditEntry
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Vertical, settings_read
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.reader_functions.chosen_selectors import (
    CHOICE,
    SELECTORS,
    TRIAL,
    ElementChoice,
    FieldSelector,
    PointedAt,
    SelectorToTry,
    SelectorTrial,
    spec_of,
)
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.reading.inspection.picking import WayTrial
from tidemill.reading.selectors import selector_problem
from tidemill.store.quality.proposals import Proposals
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.views.views import Views

PAGES_TRIED = 5

ReadStoredPage = Callable[[int], Awaitable[Page | None]]


class SelectorActions:
    """Tries and keeps selectors; every change is audited."""

    def __init__(
        self,
        verticals: Mapping[str, Vertical],
        sources: SourceRepository,
        views: Views,
        proposals: Proposals,
        clock: Clock,
        *,
        read_page: ReadStoredPage,
        readers: FunctionReaders,
    ) -> None:
        """`read_page` brings a stored page with its body, and `readers` say what is on it."""
        self._verticals = verticals
        self._sources = sources
        self._views = views
        self._proposals = proposals
        self._clock = clock
        self._read_page = read_page
        self._readers = readers

    async def source_of(self, page_id: int) -> Source:
        """Return the source that a stored page belongs to."""
        detail = await self._views.page(page_id)
        source = None if detail is None else await self._sources.find(detail.page.source_id)
        if source is None:
            msg = f"page {page_id} belongs to no source any more"
            raise NotFound(msg)
        return source

    async def choice(self, page_id: int, element: int, item: str | None = None) -> ElementChoice:
        """Return what an element can be called; `item` is the block that the person chose, None for the likeliest."""
        source = await self.source_of(page_id)
        page = await self._stored(page_id)
        known = str(spec_of(source).get("item", ""))
        choice = await self._readers.call(CHOICE, PointedAt(page=page, element=element, item=item, known=known))
        if isinstance(choice, Fail):
            msg = f"page {page_id} cannot be looked at: {choice.detail}"
            raise Mistake(msg)
        if choice is None:
            msg = f"there is no element {element} on this page"
            raise NotFound(msg)
        return choice

    async def trial(self, page_id: int, wanted: FieldSelector) -> list[SelectorTrial]:
        """Return what the selector finds on the latest stored pages of the same target."""
        _, changed = await self._changed(page_id, wanted)
        detail = await self._views.page(page_id)
        target = detail.page.target_id if detail is not None else None
        views = [each for each in await self._views.pages(target_id=target, limit=3 * PAGES_TRIED) if not each.failure]
        stored = [await self._read_page(each.id) for each in views[:PAGES_TRIED]]
        asked = [SelectorToTry(page=page, source=changed, wanted=wanted) for page in stored if page is not None]
        return [await self._tried(each) for each in asked]

    async def _tried(self, asked: SelectorToTry) -> SelectorTrial:
        trial = await self._readers.call(TRIAL, asked)
        if not isinstance(trial, Fail):
            return trial
        page, way = asked.page, WayTrial(way=asked.wanted.way, blocks=0, filled=0, values=())
        return SelectorTrial(
            page_id=page.id, fetched_at=page.fetched_at, way=way, records=0, read_by="", values_read=(),
            failure=trial.detail or str(trial.failure),
        )  # fmt: skip

    async def save(self, page_id: int, wanted: FieldSelector, actor: str) -> tuple[Source, bool]:
        """Give the source the selector; the second answer is False while kept pages are read again with it first."""
        before, changed = await self._changed(page_id, wanted)
        detail = {"field": wanted.field, "before": spec_of(before), "after": spec_of(changed)}
        note = AuditEntry(actor, "source.selectors", f"source {before.name}", detail)
        await self._sources.upsert([(changed, ["adapter_settings"])], self._clock.now(), [note])
        kept = await self._sources.find(changed.id)
        return changed, kept is not None and spec_of(kept) == spec_of(changed)

    async def propose(self, page_id: int, wanted: FieldSelector, actor: str) -> Source:
        """Lay the selector before whoever decides on proposals; nothing changes until somebody accepts it."""
        before, changed = await self._changed(page_id, wanted)
        detail = await self._views.page(page_id)
        note = AuditEntry(actor, "proposal.made", f"source {before.name}", {"field": wanted.field, "way": wanted.way})
        words = f"{actor} chose where {wanted.field} stands on page {page_id}: {wanted.way}"
        target = detail.page.target_id if detail is not None else 0
        kept = await self._proposals.suggest(
            before.id, target, page_id, words, spec_of(before), spec_of(changed), self._clock.now(), note
        )
        if not kept:
            msg = f"page {page_id} has a proposal already; decide on that one, or save the selector as settings"
            raise Mistake(msg)
        return before

    async def _changed(self, page_id: int, wanted: FieldSelector) -> tuple[Source, Source]:
        """Return the source as it is, and as it would be; raise `Mistake` for what is no selector or no field."""
        source = await self.source_of(page_id)
        for way in filter(None, (wanted.way, wanted.item)):
            if problem := selector_problem(way):
                raise Mistake(problem)
        spec: dict[str, Any] = {**spec_of(source), wanted.field: wanted.way}
        spec.pop("item", None)
        if wanted.item:
            spec["item"] = wanted.item
        vertical = self._verticals.get(source.vertical)
        adapter = vertical.adapters.get(source.adapter_id) if vertical is not None else None
        if vertical is None or adapter is None:
            msg = f"{source.adapter_id} is not installed, so nothing can be tried"
            raise Mistake(msg)
        checks = settings_read(vertical, adapter)
        if checks is not None and SELECTORS not in checks:
            msg = (
                f"{source.adapter_id} reads no selectors; use the generic adapter of {source.vertical} for this source"
            )
            raise Mistake(msg)
        if checks is not None and (problem := checks[SELECTORS](spec)):
            raise Mistake(problem)
        settings = {**source.adapter_settings, SELECTORS: spec}
        return source, msgspec.structs.replace(source, adapter_settings=settings)

    async def _stored(self, page_id: int) -> Page:
        page = await self._read_page(page_id)
        if page is None:
            msg = f"the body of page {page_id} was let go by retention"
            raise NotFound(msg)
        return page
