"""The events table against the world: nothing lost, nothing removed on the word of an incomplete run."""

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlsplit

import msgspec

from tidemill.lab.faults import (
    BrokenJsonLd,
    Fault,
    MalformedHtml,
    Redesign,
    TruncatedList,
    TruncatedPages,
    WrongCharset,
)
from tidemill.lab.simulation.inspector import PageRow, with_moments
from tidemill.lab.simulation.laws import ACCOUNTING_LAWS, CONDUCT_LAWS, FinishedSimulation, LawVerdict, verdict
from tidemill.verticals.events.lab.group import agenda_sites, page_state, true_events
from tidemill.verticals.events.lab.site import on_page, page_number

DISTORTING = (BrokenJsonLd, MalformedHtml, Redesign, TruncatedList, TruncatedPages, WrongCharset)
"""Faults under which a page may be read without holding all that is on."""


class EventRow(msgspec.Struct, frozen=True):
    """An event in the database."""

    id: int
    source_id: int
    identity: str
    title: str
    event_date: datetime
    url: str | None
    gone_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime


class ShownReading(msgspec.Struct, frozen=True):
    """An event as a page that was read to the end showed it."""

    at: datetime
    title: str
    starts: datetime
    page: tuple[int, str]


def read_events(connection: sqlite3.Connection) -> list[EventRow]:
    """Read every event by plain SQL."""
    return [_event(row) for row in connection.execute(_EVENTS)]


_EVENTS = (
    "SELECT id, source_id, identity, title, event_date, record, gone_at, first_seen_at, last_seen_at"
    " FROM events ORDER BY id"
)


def _event(row: tuple[object, ...]) -> EventRow:
    values = with_moments(row, 4, 6, 7, 8)
    values[5] = msgspec.json.decode(values[5]).get("detail_url")
    return EventRow(*values)


def nothing_lost(finished: FinishedSimulation) -> LawVerdict:
    """Every event on a page that was fetched whole and read to the end is stored, as it was last shown."""
    stored = {(event.source_id, event.url): event for event in _events(finished)}
    readings, last_read = _readings(finished)
    breaches = []
    for (source_id, url), reading in readings.items():
        kept = stored.get((source_id, url))
        if kept is None:
            breaches.append(f"{url}, shown on {reading.page[1]} at {reading.at:%d %H:%M}, is not on the shelf")
        elif last_read[reading.page] == reading.at and _differs(kept, reading):
            breaches.append(
                f"{url} is kept as {kept.title!r} on {kept.event_date:%d %b %H:%M},"
                f" last shown as {reading.title!r} on {reading.starts:%d %b %H:%M %z}"
            )
    return verdict("nothing is lost", f"{len(readings)} events shown", breaches)


def _readings(
    finished: FinishedSimulation,
) -> tuple[dict[tuple[int, str], ShownReading], dict[tuple[int, str], datetime]]:
    """The last reading of every event on undistorted pages, and when each page was last read to the end."""
    done = {job.page_id for job in finished.rows.jobs if job.status == "done"}
    readings: dict[tuple[int, str], ShownReading] = {}
    last_read: dict[tuple[int, str], datetime] = {}
    for page in sorted((page for page in finished.rows.pages if page.id in done), key=lambda page: page.created_at):
        host, place = finished.host_of_source[page.source_id], (page.source_id, page.url)
        last_read[place] = page.created_at
        if not is_distorted(finished.world.faults(host, page.created_at)):
            readings.update(_shown(finished, host, page))
    return readings, last_read


def _shown(finished: FinishedSimulation, host: str, page: PageRow) -> Iterator[tuple[tuple[int, str], ShownReading]]:
    parts, site = urlsplit(page.url), agenda_sites(finished.world)[host]
    state = page_state(finished.world, site, parts.path, page.created_at)
    for shown in on_page(site, state, page_number(parts.query)):
        version = shown.version
        key = (page.source_id, site.detail_url(shown.entry))
        yield key, ShownReading(page.created_at, version.title, version.starts, (page.source_id, page.url))


def is_distorted(faults: tuple[Fault, ...]) -> bool:
    """Whether a page may have been read without holding all that is on."""
    return any(isinstance(fault, DISTORTING) for fault in faults)


def _differs(kept: EventRow, reading: ShownReading) -> bool:
    """An hour that the clock change takes away or doubles may be read either way."""
    night = reading.starts.hour == 2  # noqa: PLR2004 - the hour in which clocks change
    return kept.title != reading.title or (kept.event_date != reading.starts and not night)


def removals(finished: FinishedSimulation) -> LawVerdict:
    """What is declared gone was missed by a run that saw everything, and is truly not on its site."""
    events = {event.id: event for event in _events(finished)}
    breaches = []
    for gone in finished.rows.gone:
        event, run = events[gone.record_id], finished.rows.runs[gone.run_id]
        if not run["complete"]:
            breaches.append(f"{event.url} was removed by run {gone.run_id}, which was not complete")
        host = finished.host_of_source[event.source_id]
        if event.url in {true.url for true in true_events(finished.world, host, gone.at)}:
            breaches.append(f"{event.url} was removed at {gone.at:%d %H:%M} by run {gone.run_id}, but is still on")
    return verdict(
        "nothing is removed on the word of an incomplete run", f"{len(finished.rows.gone)} removals", breaches
    )


def _events(finished: FinishedSimulation) -> list[EventRow]:
    return [row for row in finished.rows.records if isinstance(row, EventRow)]


LAWS = (nothing_lost, *ACCOUNTING_LAWS, removals, *CONDUCT_LAWS)
"""Every law of a simulation of agendas, in the order in which they are told."""
