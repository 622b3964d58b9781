"""The repository against the world: nothing lost, nothing doubled, nothing removed on the word of an incomplete run."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlsplit

import msgspec

from tidemill.lab.books import EventRow, PageRow
from tidemill.lab.faults import (
    BrokenJsonLd,
    Fault,
    MalformedHtml,
    Redesign,
    TruncatedList,
    TruncatedPages,
    WrongCharset,
)
from tidemill.lab.laws.case import Case, Verdict, verdict
from tidemill.pipeline.happenings import StageDone
from tidemill.verticals.events.lab.site import on_page, page_number
from tidemill.verticals.events.lab.sites import Site

DISTORTING = (BrokenJsonLd, MalformedHtml, Redesign, TruncatedList, TruncatedPages, WrongCharset)
"""Faults under which a page may be read without holding all that is on."""


class Reading(msgspec.Struct, frozen=True):
    """An event as a page that was read to the end showed it."""

    at: datetime
    title: str
    starts: datetime
    page: tuple[int, str]


def nothing_lost(case: Case) -> Verdict:
    """Every event on a page that was fetched whole and read to the end is on the repository, as it was last shown."""
    repository: dict[tuple[int, str], EventRow] = {
        (event.source_id, event.url): event for event in case.books.events if event.url is not None
    }
    readings, last_read = _readings(case)
    breaches = []
    for (source_id, url), reading in readings.items():
        kept = repository.get((source_id, url))
        if kept is None:
            breaches.append(f"{url}, shown on {reading.page[1]} at {reading.at:%d %H:%M}, is not on the shelf")
        elif last_read[reading.page] == reading.at and _differs(kept, reading):
            breaches.append(
                f"{url} is kept as {kept.title!r} on {kept.event_date:%d %b %H:%M},"
                f" last shown as {reading.title!r} on {reading.starts:%d %b %H:%M %z}"
            )
    return verdict("nothing is lost", f"{len(readings)} events shown", breaches)


def _readings(case: Case) -> tuple[dict[tuple[int, str], Reading], dict[tuple[int, str], datetime]]:
    """The last reading of every event on undistorted pages, and when each page was last read to the end."""
    done = {job.page_id for job in case.books.jobs if job.status == "done"}
    readings: dict[tuple[int, str], Reading] = {}
    last_read: dict[tuple[int, str], datetime] = {}
    for page in sorted((page for page in case.books.pages if page.id in done), key=lambda page: page.created_at):
        site, place = case.site_of_source[page.source_id], (page.source_id, page.url)
        last_read[place] = page.created_at
        if not is_distorted(case.world.faults(site.host, page.created_at)):
            readings.update(_shown(case, site, page, place))
    return readings, last_read


def _shown(case: Case, site: Site, page: PageRow, place: tuple[int, str]) -> Iterator[tuple[tuple[int, str], Reading]]:
    parts = urlsplit(page.url)
    state = case.world.page_state(site, parts.path, page.created_at)
    for shown in on_page(site, state, page_number(parts.query)):
        version = shown.version
        key = (page.source_id, site.detail_url(shown.entry))
        yield key, Reading(page.created_at, version.title, version.starts, place)


def is_distorted(faults: tuple[Fault, ...]) -> bool:
    """Whether a page may have been read without holding all that is on."""
    return any(isinstance(fault, DISTORTING) for fault in faults)


def _differs(kept: EventRow, reading: Reading) -> bool:
    """An hour that the clock change takes away or doubles may be read either way."""
    night = reading.starts.hour == 2  # noqa: PLR2004 - the hour in which clocks change
    return kept.title != reading.title or (kept.event_date != reading.starts and not night)


def nothing_doubled(case: Case) -> Verdict:
    """One row per event, one job per target and due time, and no stage of a job done twice."""
    breaches = [
        f"{url} stands {count} times on the shelf"
        for (_, url), count in Counter((event.source_id, event.url) for event in case.books.events if event.url).items()
        if count > 1
    ]
    due = Counter((job.target_id, job.due_at, job.page_number) for job in case.books.jobs)
    breaches += [
        f"target {key[0]} has {count} jobs for page {key[2]} on {key[1]}" for key, count in due.items() if count > 1
    ]
    done = Counter((event.job_id, event.stage) for event in case.witness.events if isinstance(event, StageDone))
    breaches += [f"job {key[0]} did its {key[1]} {count} times" for key, count in done.items() if count > 1]
    checked = f"{len(case.books.events)} events, {len(case.books.jobs)} jobs, {done.total()} stages"
    return verdict("nothing is doubled", checked, breaches)


def removals(case: Case) -> Verdict:
    """What is declared gone was missed by a run that saw everything, and is truly not on its site."""
    events = {event.id: event for event in case.books.events}
    breaches = []
    for gone in case.books.gone:
        event, run = events[gone.record_id], case.books.runs[gone.run_id]
        if not run["complete"]:
            breaches.append(f"{event.url} was removed by run {gone.run_id}, which was not complete")
        site = case.site_of_source[event.source_id]
        if event.url in {true.url for true in case.world.truth(site.host, gone.at)}:
            breaches.append(f"{event.url} was removed at {gone.at:%d %H:%M} by run {gone.run_id}, but is still on")
    return verdict("nothing is removed on the word of an incomplete run", f"{len(case.books.gone)} removals", breaches)


def records(case: Case) -> Verdict:
    """Every raw record ends accepted, dropped or set aside, and every accepted one on the repository."""
    total: Counter[str] = Counter()
    breaches = list(case.auditor.astray.values())
    for run in case.books.runs.values():
        total.update({name: run[name] for name in run if name.startswith("records_") and run[name]})
        judged = run["records_accepted"] + run["records_dropped"] + run["records_quarantined"]
        if run["records_read"] != judged:
            breaches.append(f"run {run['id']} read {run['records_read']} records and judged {judged}")
    kept = sum(total[f"records_{fate}"] for fate in ("inserted", "updated", "unchanged", "repeated"))
    if total["records_accepted"] != kept + case.books.staged:
        breaches.append(f"{total['records_accepted']} records accepted, {kept} kept, {case.books.staged} on their way")
    checked = f"{total['records_read']} records on {len(case.auditor.pages_checked)} pages"
    return verdict("every record is accounted for", checked, breaches)
