"""Today's work: what waits for a person, each with its cause in words and a button that sees to it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.discovery.candidates import CandidateStatus
from tidemill.core.health.sources import SourceStanding
from tidemill.core.health.system import Waiting
from tidemill.core.target import TargetStatus
from tidemill.core.views import DeadLetterFilter, SourceView, TargetFilter
from tidemill.core.views.quality import QuarantineFilter
from tidemill.web.api.parameters import Word
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.filters import cause_of, source_link
from tidemill.web.system_monitor import SystemMonitor

MOST = 200
"""Counted up to here; beyond it the page says `200 or more`."""
ENTRIES_SHOWN = 5


class WorkEntry(msgspec.Struct, frozen=True):
    """One thing that waits: its name, why, where it is shown, and the form and words of its button."""

    name: str
    cause: str
    path: str
    action: str = ""
    button: str = ""


class WorkItem(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of work: how much of it waits, what it means, where all of it is, and the first few."""

    label: str
    count: int
    meaning: str
    path: str
    entries: Sequence[WorkEntry] = ()

    @property
    def shown(self) -> str:
        """The count in words."""
        return f"{MOST} or more" if self.count >= MOST else str(self.count)


def add_work_page(router: APIRouter, deps: WebDeps, monitor: SystemMonitor, render: RenderPage) -> None:
    """Add the page."""

    @router.get("/work")
    async def work(done: Word = None) -> Response:
        sources = await monitor.sources_now.get()
        items = [each for each in await gather_work(deps, monitor) if each.count]
        return render(
            "work.html", items=items, sources_on=sum(each.enabled for each in sources), sources=len(sources),
            done=(done or "")[:280],
        )  # fmt: skip


async def gather_work(deps: WebDeps, monitor: SystemMonitor) -> list[WorkItem]:
    """Return every kind of work, also those of which none waits."""
    return [*_of_sources(await monitor.sources_now.get()), *await _of_lists(deps, await monitor.waiting_now.get())]


def _of_sources(sources: Sequence[SourceView]) -> list[WorkItem]:
    def source(button: str, deed: str) -> Callable[[SourceView], WorkEntry]:
        return lambda each: WorkEntry(
            each.name, each.standing_reason or str(each.standing), source_link(each.name),
            f"{source_link(each.name)}/{deed}" if deed else "", button,
        )  # fmt: skip

    drifted = [each for each in sources if each.auto_disabled]
    failing = [each for each in sources if each.enabled and each.standing is SourceStanding.FAILING]
    tripped = [each for each in sources if each.circuit_state != "CLOSED"]
    scraped = [each for each in sources if each.enabled and each.standing is not SourceStanding.NEW]
    silent = [
        each for each in scraped
        if each.standing is SourceStanding.BARREN or (each.last_scraped_at and not each.records)
    ]  # fmt: skip
    unapproved = [each for each in sources if each.enabled and "terms" in each.standing_reason]
    return [
        _item("Switched off by drift", drifted, "What they read stopped making sense.",
              "/sources?state=switched+off+by+drift", source("Switch on", "enable")),
        _item("Sources that fail", failing, "Their pages cannot be had or read.", "/sources?state=failing",
              source("Scrape now", "run")),
        _item("Terms to approve", unapproved, "They are not scraped until somebody has read the site's terms.",
              "/sources", source("Approve terms", "approve-terms")),
        _item("Breakers not closed", tripped, "They keep failing and are left alone for a while.", "/breakers",
              source("Close it", "reset-breaker")),
        _item("Sources without a record", silent, "They are scraped and yield nothing.",
              "/sources?state=without+a+record", source("Scrape now", "run")),
    ]  # fmt: skip


async def _of_lists(deps: WebDeps, counted: Waiting) -> list[WorkItem]:
    letters = await deps.views.dead_letters(DeadLetterFilter(status="pending"), limit=MOST)
    aside = await deps.quarantine.every(QuarantineFilter(), limit=MOST)
    broken = await deps.views.targets(TargetFilter(status=TargetStatus.BROKEN), limit=MOST)
    candidates = await deps.discovery.listed(status=CandidateStatus.PENDING, limit=MOST)
    incidents = await deps.incidents.every(open_only=True, limit=MOST)
    off = [each for each in await deps.adapters.every() if not each.enabled]
    return [
        WorkItem(label="Jobs that waited too long", count=counted.stale_jobs, meaning="Set aside after a day.",
                 path="/dead-letters"),
        WorkItem(label="Suggested fetchers", count=counted.fetcher_suggestions,
                 meaning="Sites that refuse plain requests.", path="/sources"),
        _item("Adapters that are off", off, "Nothing that they read is scraped.", "/adapters",
              lambda each: WorkEntry(each.id, each.disabled_reason or "switched off by hand", "/adapters",
                                     f"/adapters/{quote(each.id, safe='')}/enable", "Dry run, then on")),
        _item("Broken targets", broken, "Failed five times in a row.", "/targets?status=BROKEN",
              lambda each: WorkEntry(each.url, (each.last_status or "").lower().replace("_", " "),
                                     f"/targets?source={quote(each.source_name)}", f"/targets/{each.id}/resume",
                                     "Resume")),
        _item("Dead letters", letters, "Jobs that failed for good.", "/dead-letters",
              lambda each: WorkEntry(each.source_name, cause_of(each.error_type, each.error_message),
                                     f"/dead-letters/{each.id}",
                                     f"/dead-letters/{each.id}/retry", "Try again")),
        _item("In quarantine", aside, "Records that looked wrong and are not published.", "/quarantine",
              lambda each: WorkEntry(each.source_name, cause_of(each.reason, each.detail),
                                     f"/quarantine/{each.id}")),
        _item("Changes held at the gate", await deps.replays.every(waiting=True),
              "New readings that would alter too much.", "/replays",
              lambda each: WorkEntry(each.scope.words, "; ".join(each.held_because)[:160], f"/replays/{each.id}",
                                     f"/replays/{each.id}/accept", "Accept")),
        _item("Proposed selectors", await deps.proposals.every(), "Redesigned pages that may be read again.",
              "/proposals",
              lambda each: WorkEntry(each.source_name, each.diagnosis, "/proposals", f"/proposals/{each.id}/accept",
                                     "Accept")),
        _item("Open incidents", incidents, "What people were told of and is not over.", "/incidents",
              lambda each: WorkEntry(f"{each.severity} {each.alert.replace('_', ' ')}: {each.cause}",
                                     each.detail[:160], f"/incidents/{each.id}")),
        _item("Discovered sites", candidates, "They wait to be approved.", "/candidates",
              lambda each: WorkEntry(each.url, "; ".join(each.reasons)[:160], "/candidates",
                                     f"/candidates/{each.id}/approve", "Approve")),
    ]  # fmt: skip


def _item(label: str, found: Iterable[Any], meaning: str, path: str, entry: Callable[[Any], WorkEntry]) -> WorkItem:
    listed = list(found)
    entries = [entry(each) for each in listed[:ENTRIES_SHOWN]]
    return WorkItem(label=label, count=len(listed), meaning=meaning, path=path, entries=entries)
