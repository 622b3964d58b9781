"""`why`: explains sources, targets, jobs, runs, what waits for a person, services and what verticals add."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from tidemill.core.services.degradation import Service, ServiceStatus
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Vertical
from tidemill.operations.incidents import IncidentActions
from tidemill.operations.mistakes import Mistake, NotFound, parse_key, require_found, unknown_name
from tidemill.operations.quarantine import QuarantineActions
from tidemill.operations.sources import SourceActions
from tidemill.operations.targets import TargetActions
from tidemill.operations.why.explanation import Explainer, Explanation, Step
from tidemill.operations.why.incidents import why_incident
from tidemill.operations.why.services import service_step, why_service
from tidemill.operations.why.sources import why_source, why_target
from tidemill.operations.why.work import why_job, why_letter, why_quarantined, why_run
from tidemill.pipeline.ports import Clock
from tidemill.store.views.views import Views


class WhyActions:
    """Explains things; changes nothing."""

    def __init__(
        self,
        views: Views,
        *,
        sources: SourceActions,
        targets: TargetActions,
        verticals: Mapping[str, Vertical],
        clock: Clock,
        services: Callable[[], Awaitable[Sequence[ServiceStatus]]],
        incidents: IncidentActions,
        quarantine: QuarantineActions,
        explainers: Sequence[Explainer] = (),
    ) -> None:
        """`services` tells how outside services stand; `explainers` are what the verticals can explain."""
        self._views = views
        self._sources = sources
        self._targets = targets
        self._verticals = verticals
        self._clock = clock
        self._services = services
        self._incidents = incidents
        self._quarantine = quarantine
        every = self._with_own(explainers)
        self._explainers = {each.kind: each for each in every}
        self._forms = ", ".join(each.forms for each in every)

    @property
    def forms(self) -> str:
        """How people write what can be explained."""
        return self._forms

    def _with_own(self, explainers: Sequence[Explainer]) -> list[Explainer]:
        """Return every explainer, in the order of the help text."""
        return [
            Explainer("source", "source:NAME", self._source),
            Explainer("target", "target:ID or target:URL", self._target),
            Explainer("job", "job:ID", self._job),
            Explainer("run", "run:ID", self._run),
            *(each for each in explainers if each.is_record),
            Explainer("service", "service:NAME", self._service),
            Explainer("letter", "letter:ID", self._letter),
            Explainer("quarantine", "quarantine:ID", self._quarantined),
            Explainer("incident", "incident:ID", self._incident),
            *(each for each in explainers if not each.is_record),
        ]

    async def explain(self, subject: str) -> Explanation:
        """Explain a subject, written as `source:NAME`, `target:ID`, `job:ID`, `run:ID` or as a vertical names it."""
        kind, colon, name = subject.partition(":")
        if not colon or not name:
            msg = f"write what to explain as {self._forms}, not {subject!r}"
            raise Mistake(msg)
        if kind not in self._explainers:
            raise Mistake(unknown_name("subject", kind, self._explainers) + f"; write {self._forms}")
        return await self._explainers[kind].explain(name)

    async def _source(self, name: str) -> Explanation:
        found = await self._sources.find(name)
        detail = require_found(await self._views.source(found.id, self._clock.now()), "source", name)
        explained = why_source(detail, self._verticals.get(found.vertical), self._clock.now())
        return msgspec.structs.replace(explained, steps=[*explained.steps, *await self._service_of(found.fetcher)])

    async def _target(self, name: str) -> Explanation:
        found = await self._targets.find(name)
        detail = require_found(await self._views.target(found.id, self._clock.now()), "target", name)
        return why_target(detail, self._verticals.get(detail.source.view.vertical), self._clock.now())

    async def _job(self, name: str) -> Explanation:
        key = parse_key("job", name)
        detail = require_found(await self._views.job(key), "job", key)
        source = await self._views.source(detail.job.source_id, self._clock.now())
        return why_job(detail, source, self._clock.now())

    async def _run(self, name: str) -> Explanation:
        key = parse_key("run", name)
        return why_run(require_found(await self._views.run(key), "run", key))

    async def _letter(self, name: str) -> Explanation:
        key = parse_key("dead letter", name)
        return why_letter(require_found(await self._views.dead_letter(key), "dead letter", key), self._clock.now())

    async def _quarantined(self, name: str) -> Explanation:
        return why_quarantined(await self._quarantine.find(parse_key("record", name)), self._clock.now())

    async def _service_of(self, fetcher: FetcherKind) -> list[Step]:
        """Return a step about the service that fetches a source's pages, if it does not work."""
        wanted = [
            each for each in await self._services() if each.service.value == fetcher.value and not each.is_working
        ]
        return [service_step(each, self._clock.now()) for each in wanted]

    async def _incident(self, name: str) -> Explanation:
        return why_incident(await self._incidents.show(parse_key("incident", name)), self._clock.now())

    async def _service(self, name: str) -> Explanation:
        for status in await self._services():
            if status.service == name.lower():
                return why_service(status, self._clock.now())
        raise NotFound(unknown_name("service", name, list(Service)))
