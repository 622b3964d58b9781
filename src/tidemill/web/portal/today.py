"""Today's work: what waits for a person, each with its count and where to see to it."""

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.discovery.candidates import CandidateStatus
from tidemill.core.target import TargetStatus
from tidemill.core.views import DeadLetterFilter, SourceView, TargetFilter
from tidemill.core.views.quality import QuarantineFilter
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage

MOST = 200
"""Counted up to here; beyond it the page says `200 or more`."""


class WorkItem(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of work: how much of it waits, what it means, and where it is seen to."""

    label: str
    count: int
    meaning: str
    path: str

    @property
    def shown(self) -> str:
        """The count in words."""
        return f"{MOST} or more" if self.count >= MOST else str(self.count)


def add_work_page(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the page."""

    @router.get("/work")
    async def work() -> Response:
        sources = await deps.views.sources(deps.clock.now())
        items = [each for each in await gather_work(deps, sources) if each.count]
        return render("work.html", items=items, sources_on=sum(each.enabled for each in sources), sources=len(sources))


async def gather_work(deps: WebDeps, sources: list[SourceView]) -> list[WorkItem]:
    """Return every kind of work, also those of which none waits."""
    letters = await deps.views.dead_letters(DeadLetterFilter(status="pending"), limit=MOST)
    aside = await deps.quarantine.every(QuarantineFilter(), limit=MOST)
    broken = await deps.views.targets(TargetFilter(status=TargetStatus.BROKEN), limit=MOST)
    candidates = await deps.discovery.listed(status=CandidateStatus.PENDING, limit=MOST)
    proposals = await deps.proposals.every()
    incidents = await deps.adapters.incidents(open_only=True, limit=MOST)
    tripped = [each for each in sources if each.circuit_state != "CLOSED"]
    switched_off = [each for each in sources if each.auto_disabled]
    silent = [each for each in sources if each.enabled and each.last_scraped_at and not each.records]
    off = [each for each in await deps.adapters.every() if not each.enabled]
    return [
        _item("Switched off by drift", len(switched_off), "What they read stopped making sense.", "/sources"),
        _item("Adapters that are off", len(off), "Nothing that they read is scraped.", "/adapters"),
        _item("Breakers not closed", len(tripped), "They keep failing and are left alone for a while.", "/breakers"),
        _item("Sources without a record", len(silent), "They are scraped and yield nothing.", "/sources"),
        _item("Broken targets", len(broken), "Failed five times in a row.", "/targets?status=BROKEN"),
        _item("Dead letters", len(letters), "Jobs that failed for good.", "/dead-letters"),
        _item("In quarantine", len(aside), "Records that looked wrong and are not published.", "/quarantine"),
        _item("Proposed selectors", len(proposals), "Redesigned pages that may be read again.", "/proposals"),
        _item("Open incidents", len(incidents), "What is read drifted from what should be there.", "/incidents"),
        _item("Discovered sites", len(candidates), "They wait to be approved.", "/candidates"),
    ]


def _item(label: str, count: int, meaning: str, path: str) -> WorkItem:
    return WorkItem(label=label, count=count, meaning=meaning, path=path)
