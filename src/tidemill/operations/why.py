"""`why`: which gate, which rule, which page, for anything that can be named."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

import msgspec

from tidemill.core.degradation import Service, ServiceStatus
from tidemill.core.record import Found
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Vertical
from tidemill.core.views import JobDetail, RunDetail, SourceDetail, TargetDetail
from tidemill.operations.explanation import Explanation, Step
from tidemill.operations.mistakes import Mistake, NotFound, unknown
from tidemill.operations.sources import SourceActions
from tidemill.operations.targets import TargetActions
from tidemill.operations.why_service import standing_step, why_service
from tidemill.operations.why_source import why_source, why_target
from tidemill.operations.why_work import why_job, why_run
from tidemill.pipeline.ports import Clock
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.why import why_event
from tidemill.verticals.listings.actions import MarketActions

FORMS = "source:NAME, target:ID or target:URL, job:ID, run:ID, event:ID or event:ID.FIELD, service:NAME, market:ID"


Thing = TypeVar("Thing")


class Sight(Protocol):
    """How things stand."""

    async def source(self, which: int | str, now: datetime) -> SourceDetail | None:
        """A source with everything around it."""
        ...

    async def target(self, target_id: int, now: datetime) -> TargetDetail | None:
        """A target with its source and jobs."""
        ...

    async def job(self, job_id: int) -> JobDetail | None:
        """A job with what its stages left behind."""
        ...

    async def run(self, run_id: int) -> RunDetail | None:
        """A run, stage by stage."""
        ...

    async def found(self, page_id: int) -> Found | None:
        """The raw records of a page."""
        ...


class WhyActions:
    """Explains things; changes nothing."""

    def __init__(
        self,
        sight: Sight,
        sources: SourceActions,
        targets: TargetActions,
        verticals: Mapping[str, Vertical],
        clock: Clock,
        services: Callable[[], Awaitable[Sequence[ServiceStatus]]],
        events: EventViews,
        markets: MarketActions | None = None,
    ) -> None:
        """`sources` and `targets` find by name and address; `services` tells how outside services stand."""
        self._sight = sight
        self._sources = sources
        self._targets = targets
        self._verticals = verticals
        self._clock = clock
        self._services = services
        self._events = events
        self._markets = markets

    async def explain(self, subject: str) -> Explanation:  # noqa: PLR0911 - one line per kind of subject
        """Explain a subject, written as `source:NAME`, `target:ID`, `job:ID`, `run:ID` or `event:ID.field`."""
        kind, colon, name = subject.partition(":")
        if not colon or not name:
            msg = f"write what to explain as {FORMS}, not {subject!r}"
            raise Mistake(msg)
        match kind:
            case "source":
                return await self._source(name)
            case "target":
                return await self._target(name)
            case "job":
                return await self._job(number(kind, name))
            case "run":
                return await self._run(number(kind, name))
            case "event":
                return await self._event(name)
            case "service":
                return await self._service(name)
            case "market" if self._markets is not None:
                return await self._markets.explain(name)
            case _:
                kinds = ("source", "target", "job", "run", "event", "service", "market")
                raise Mistake(unknown("subject", kind, kinds) + f"; write {FORMS}")

    async def _source(self, name: str) -> Explanation:
        found = await self._sources.find(name)
        detail = present(await self._sight.source(found.id, self._clock.now()), "source", name)
        explained = why_source(detail, self._verticals.get(found.vertical), self._clock.now())
        return msgspec.structs.replace(explained, steps=[*explained.steps, *await self._service_of(found.fetcher)])

    async def _target(self, name: str) -> Explanation:
        found = await self._targets.find(name)
        detail = present(await self._sight.target(found.id, self._clock.now()), "target", name)
        return why_target(detail, self._verticals.get(detail.source.view.vertical), self._clock.now())

    async def _job(self, key: int) -> Explanation:
        detail = present(await self._sight.job(key), "job", key)
        source = await self._sight.source(detail.job.source_id, self._clock.now())
        return why_job(detail, source, self._clock.now())

    async def _run(self, key: int) -> Explanation:
        detail = present(await self._sight.run(key), "run", key)
        return why_run(detail)

    async def _service_of(self, fetcher: FetcherKind) -> list[Step]:
        """How the service stands that a source's pages come through, if it is one and not well."""
        wanted = [each for each in await self._services() if each.service.value == fetcher.value and not each.is_well]
        return [standing_step(each, self._clock.now()) for each in wanted]

    async def _service(self, name: str) -> Explanation:
        for status in await self._services():
            if status.service == name.lower():
                return why_service(status, self._clock.now())
        raise NotFound(unknown("service", name, list(Service)))

    async def _event(self, name: str) -> Explanation:
        key, _, field = name.partition(".")
        detail = present(await self._events.event(number("event", key)), "event", key)
        source = await self._sight.source(detail.event.source_id, self._clock.now())
        found = await self._sight.found(detail.event.page_id)
        return why_event(detail, field or None, found, source.source if source else None, self._verticals["events"])


def number(kind: str, text: str) -> int:
    """A key, as somebody typed it."""
    if not text.isdecimal() or len(text) > len(str(2**63)) - 1:
        msg = f"a {kind} is named by its number, not by {text!r}"
        raise Mistake(msg)
    return int(text)


def present(found: Thing | None, kind: str, key: object) -> Thing:
    """The thing itself, or word that there is none."""
    if found is None:
        msg = f"there is no {kind} {key}; it may have been removed, or let go by retention"
        raise NotFound(msg)
    return found
