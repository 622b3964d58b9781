"""Rows to values: how what the tables keep becomes what the rules decide over."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from tidemill.core.breaker import Breaker, Closed, Open, Probing
from tidemill.core.job import Job
from tidemill.core.outcome import Stage
from tidemill.core.pacing import Pace, with_crawl_delay
from tidemill.core.quality.readings import ReadingShape
from tidemill.core.source import Coordinates, FetcherKind, Source, Visibility
from tidemill.core.tags import tags_of
from tidemill.core.target import Target, TargetStatus

Row = Mapping[Any, Any]
"""A row by column name."""


def source_of(row: Row) -> Source:
    """A source from its row."""
    place = None if row["latitude"] is None else Coordinates(row["latitude"], row["longitude"])
    interval, timeout = row["pace_interval_ms"], row["timeout_ms"]
    pace = None
    if interval is not None:
        pace = Pace(timedelta(milliseconds=interval), row["pace_burst"] or 1, row["pace_parallel"] or 1)
    return Source(
        id=row["id"],
        name=row["name"],
        vertical=row["vertical"],
        base_url=row["base_url"],
        adapter_id=row["adapter_id"],
        fetcher=FetcherKind(row["fetcher"]),
        enabled=row["enabled"],
        auto_disabled=row["auto_disabled"],
        tier=row["tier"],
        time_zone=row["time_zone"],
        language=row["language"],
        city=row["city"],
        coordinates=place,
        reliability=row["reliability"],
        historical_count=row["historical_count"],
        consecutive_failures=row["consecutive_failures"],
        last_success_at=row["last_success_at"],
        last_scraped_at=row["last_scraped_at"],
        precedence=row["precedence"],
        pace=pace,
        timeout=None if timeout is None else timedelta(milliseconds=timeout),
        max_pages=row["max_pages"],
        headers=row["headers"],
        tos_reviewed_at=row["tos_reviewed_at"],
        tos_approved_by=row["tos_approved_by"],
        robots_compliant=row["robots_compliant"],
        visibility=Visibility(row["visibility"]),
        trust=row["trust"],
        adapter_settings=row["adapter_settings"],
        tags=tags_of(row["tags"]),
    )


def target_of(row: Row) -> Target:
    """A target from its row."""
    return Target(
        id=row["id"],
        source_id=row["source_id"],
        url=row["url"],
        canonical_url=row["canonical_url"],
        host=row["host"],
        adapter_id=row["adapter_id"],
        schedule=row["schedule"],
        priority=row["priority"],
        status=TargetStatus(row["status"]),
        enabled=row["enabled"],
        robots_path_blocked=row["robots_path_blocked"],
        last_scraped_at=row["last_scraped_at"],
        last_status=row["last_status"],
        consecutive_failures=row["consecutive_failures"],
        next_due_at=row["next_due_at"],
        adapted_seconds=row["adapted_seconds"],
        etag=row["etag"],
        last_modified=row["last_modified"],
        good_page_id=row["good_page_id"],
        good_digest=row["good_digest"],
        good_reader=row["good_reader"],
        good_shape=shape_in(row),
        created_by=row["created_by"],
        notes=row["notes"],
        scope=row["scope"],
        parameters=row["parameters"] or {},
    )


def shape_in(row: Row) -> ReadingShape | None:
    """How the last good page was read, from a row that says it."""
    kept = row["good_shape"]
    return None if kept is None else msgspec.convert(kept, ReadingShape)


def job_of(row: Row) -> Job:
    """A job as its worker will hold it; the fence is the one that the claim has just raised."""
    return Job(
        id=row["id"],
        run_id=row["run_id"],
        source_id=row["source_id"],
        target_id=row["target_id"],
        vertical=row["vertical"],
        lane=row["lane"],
        host=row["host"],
        url=row["url"],
        stage=Stage(row["current_stage"]),
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        fence=row["fence"] + 1,
        page_id=row["page_id"],
        trigger=row["trigger"],
        page_number=row["page_number"],
        deaths=row["deaths"],
        adapter_id=row["adapter_id"],
    )


def pace_of(row: Row) -> Pace:
    """A host's pace, its robots.txt Crawl-delay applied."""
    delay = row["crawl_delay_ms"]
    pace = Pace(timedelta(milliseconds=row["interval_ms"]), row["burst"], row["parallel"])
    return with_crawl_delay(pace, None if delay is None else timedelta(milliseconds=delay))


def breaker_of(row: Row | None) -> Breaker:
    """A source's breaker; a source without a row has never failed."""
    if row is None:
        return Closed()
    match row["state"]:
        case "OPEN":
            return Open(row["cooldown_until"], row["consecutive_opens"])
        case "HALF_OPEN":
            return Probing(row["consecutive_opens"], row["success_count"], row["cooldown_until"])
        case _:
            return Closed(row["failure_count"])


def breaker_columns(breaker: Breaker) -> dict[str, Any]:
    """The columns that hold a breaker's state; an open breaker keeps the count that opened it in view."""
    match breaker:
        case Closed(failures=failures):
            return {"state": "CLOSED", "failure_count": failures, "success_count": 0,
                    "cooldown_until": None, "consecutive_opens": 0}  # fmt: skip
        case Open(until=until, trips=trips):
            return {"state": "OPEN", "success_count": 0, "cooldown_until": until, "consecutive_opens": trips}
        case Probing(trips=trips, successes=successes, deadline=deadline):
            return {"state": "HALF_OPEN", "success_count": successes,
                    "cooldown_until": deadline, "consecutive_opens": trips}  # fmt: skip


def state_name(breaker: Breaker) -> str:
    """The state as the runbook names it."""
    match breaker:
        case Closed():
            return "CLOSED"
        case Open():
            return "OPEN"
        case Probing():
            return "HALF_OPEN"
