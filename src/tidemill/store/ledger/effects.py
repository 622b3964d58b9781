"""What a batch of checkpoints does to jobs, targets, sources and hosts: one statement per table."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import bindparam, case, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.job import JobStatus, holds_host
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze, Stage
from tidemill.core.pacing import charged, opens_at, with_crawl_delay
from tidemill.core.quality.readings import PoorerReading
from tidemill.core.services.degradation import merged_services
from tidemill.core.target import (
    NOTHING_ACCEPTED,
    POORER_READING,
    STORED,
    UNCHANGED,
    TargetStatus,
    after_failure,
    after_success,
)
from tidemill.core.urls import host_of, leads_elsewhere
from tidemill.pipeline.checkpoints import AcceptedRecords, Checkpoint, Fetched, Judged, ServedFromStore, Unchanged
from tidemill.pipeline.dispatch import RECHECK_EVERY
from tidemill.pipeline.ports import FetchResult
from tidemill.store.database.column_types import storable
from tidemill.store.ledger import effects_sql as sql
from tidemill.store.schema import hosts, jobs, runs

LONGEST_ERROR = 2_000
_PLAIN = {stage: str(stage) for stage in Stage}
"""Stages as plain strings: SQLite asks a member how it wants to be written, which takes longer than writing it."""


async def move_jobs(connection: AsyncConnection, batch: Sequence[Checkpoint], now: datetime) -> None:
    """Write each job's move; whoever lets go of a job raises its fence."""
    onward: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for each in batch:
        row = _onward_row(each)
        if row is None:
            others.append(_job_row(each, now))
        else:
            onward.append(row)
    await sql.MOVE_ONWARD.write_at_commit(connection, onward)
    await sql.MOVE_AWAY.write_at_commit(connection, others)


def _onward_row(checkpoint: Checkpoint) -> dict[str, Any] | None:
    move, outcome = checkpoint.transition, checkpoint.outcome
    if move.status is not JobStatus.LEASED or not isinstance(outcome, Advance):
        return None
    stage, page_id = _PLAIN[move.stage], outcome.produced.page.id
    return {"id": checkpoint.claimed.job.id, "current_stage": stage, "attempts": move.attempts, "page_id": page_id}


def _job_row(checkpoint: Checkpoint, now: datetime) -> dict[str, Any]:
    job, move = checkpoint.claimed.job, checkpoint.transition
    page = page_id_of(checkpoint)
    return {
        "id": job.id,
        "current_stage": move.stage,
        "status": move.status,
        "attempts": move.attempts,
        "not_before": move.not_before,
        "page_id": page if page is not None else job.page_id,
        "failure": move.failure,
        "last_error": storable(move.detail or _note_on(checkpoint), LONGEST_ERROR) or None,
        "completed_at": now if move.ends else None,
    }


def _note_on(checkpoint: Checkpoint) -> str:
    """What a person should know of a job that came to its end all the same."""
    served = served_of(checkpoint)
    if served is not None:
        return served.result.error
    match getattr(checkpoint.outcome, "produced", None):
        case AcceptedRecords(judged=Judged(poorer=PoorerReading(detail=detail))):
            return f"{POORER_READING}: {detail}"
        case _:
            return ""


def page_id_of(checkpoint: Checkpoint) -> int | None:
    """The page that this checkpoint stores, or the stored one that served in its place."""
    served = served_of(checkpoint)
    if served is not None and served.result.stored is not None:
        return served.result.stored.id
    fetched = fetched_of(checkpoint)
    return fetched.page.id if fetched is not None else None


def served_of(checkpoint: Checkpoint) -> ServedFromStore | None:
    """The stored page that stood in for one that could not be got."""
    produced = getattr(checkpoint.outcome, "produced", None)
    return produced if isinstance(produced, ServedFromStore) else None


def fetched_of(checkpoint: Checkpoint) -> Fetched | Unchanged | None:
    """What a fetch brought, be it on the way on or as evidence of what went wrong."""
    outcome = checkpoint.outcome
    product = outcome.evidence if isinstance(outcome, Fail) else getattr(outcome, "produced", None)
    return product if isinstance(product, Fetched | Unchanged) else None


async def settle_targets(connection: AsyncConnection, ended: Sequence[Checkpoint], now: datetime) -> None:
    """Write what a job's end means for its target: health, and the page to compare the next one with.

    The first page of a list stands for its target; the end of a further page says nothing about it. A target that
    breaks is left alone for a week; one that answers again is due at once, and its own schedule holds from there.
    """
    firsts = [each for each in ended if each.claimed.job.page_number == 1]
    rows = {each.claimed.target.id: _target_row(each, now) for each in firsts}
    await sql.SETTLE_TARGETS.write_at_commit(connection, [rows[key] for key in sorted(rows)])


def _target_row(checkpoint: Checkpoint, now: datetime) -> dict[str, Any]:
    target, move = checkpoint.claimed.target, checkpoint.transition
    status, failures = target.status, target.consecutive_failures
    if move.status is JobStatus.DONE:
        status, failures = after_success(target)
    elif move.status is JobStatus.DEAD:
        status, failures = after_failure(target)
    row = {
        "id": target.id,
        "status": status,
        "consecutive_failures": failures,
        "last_scraped_at": target.last_scraped_at if move.status is JobStatus.REFUSED else now,
        "last_status": last_status(checkpoint),
        "etag": target.etag,
        "last_modified": target.last_modified,
        "good_page_id": target.good_page_id,
        "good_digest": target.good_digest,
        "good_reader": target.good_reader,
        "good_shape": target.good_shape,
        "is_well": move.status is JobStatus.DONE,
        "breaks": status is TargetStatus.BROKEN,
        "at_once": now,
        "recheck": now + RECHECK_EVERY,
    }
    produced = getattr(checkpoint.outcome, "produced", None)
    if isinstance(produced, AcceptedRecords) and produced.judged.poorer is not None:
        row |= NOT_COMPARED
    elif isinstance(produced, AcceptedRecords) and is_good(produced.judged):
        page = produced.judged.page
        row |= {
            "etag": page.etag,
            "last_modified": page.last_modified,
            "good_page_id": page.id,
            "good_digest": page.digest,
            "good_reader": produced.judged.reader,
            "good_shape": produced.judged.shape or target.good_shape,
        }
    return row


NOT_COMPARED = {"etag": "", "last_modified": "", "good_digest": None}
"""After a page that was read worse: should the last good one come back, it has changed all the same."""


def is_good(judged: Judged) -> bool:
    """Whether a page is what the next one is compared with: it gave records, and was read as well as the last."""
    return not judged.unusable and judged.poorer is None


def last_status(checkpoint: Checkpoint) -> str:
    """How the target's last scrape ended, in a word."""
    move = checkpoint.transition
    if move.status is not JobStatus.DONE:
        return str(move.failure or move.status).upper()
    if served_of(checkpoint) is not None:
        return STORED
    match getattr(checkpoint.outcome, "produced", None):
        case Unchanged():
            return UNCHANGED
        case AcceptedRecords(judged=judged) if judged.unusable:
            return NOTHING_ACCEPTED
        case AcceptedRecords(judged=judged) if judged.poorer is not None:
            return POORER_READING
        case _:
            return "SUCCESS"


async def settle_sources(connection: AsyncConnection, ended: Sequence[Checkpoint], now: datetime) -> None:
    """Note when each source was last scraped and whether it went well; a refused job asked nothing of it."""
    well: dict[int, bool] = {}
    bad: dict[int, int] = {}
    for each in ended:
        if each.transition.status is JobStatus.REFUSED:
            continue
        key = each.claimed.source.id
        heard = each.transition.status is JobStatus.DONE and served_of(each) is None
        well[key] = well.get(key, False) or heard
        bad[key] = bad.get(key, 0) + (each.transition.status is JobStatus.DEAD)
    rows = [{"id": key, "ended_at": now, "is_well": well[key], "failures": bad[key]} for key in sorted(well)]
    if not rows:
        return
    await sql.HOLD_SOURCES.fetch(connection, ids=sorted(well))
    await sql.SETTLE_SOURCES.write_at_commit(connection, rows)


class HostNote(msgspec.Struct, frozen=True):
    """What a fetch taught about its host."""

    checkpoint: Checkpoint
    result: FetchResult


async def settle_hosts(connection: AsyncConnection, notes: Sequence[HostNote], now: datetime) -> None:
    """Move each host's next moment on: by the requests really sent, its Crawl-delay and its Retry-After."""
    rows: dict[str, dict[str, Any]] = {}
    for note in notes:
        row = _host_row(note, now)
        if (known := rows.get(row["host"])) is not None:
            row |= {name: max(row[name], known[name]) for name in ("tab_at", "opens_at")}
        rows[row["host"]] = row
    await sql.HOLD_HOSTS.fetch(connection, hosts=sorted(rows))
    await sql.SETTLE_HOSTS.write(connection, [rows[host] for host in sorted(rows)])


_REST = (
    update(hosts)
    .where(hosts.c.host == bindparam("b_host"))
    .values(opens_at=case((hosts.c.opens_at > bindparam("b_until"), hosts.c.opens_at), else_=bindparam("b_until")))
)


async def rest_hosts(connection: AsyncConnection, batch: Sequence[Checkpoint], now: datetime) -> None:
    """Leave hosts alone of which a job has learned that nobody need ask them for a while.

    A host whose name or certificate is wrong is held by itself: other hosts of its domain, and of its source, go on.
    One that only redirects to such a host is not held at all.
    """
    rests: dict[str, datetime] = {}
    names: dict[str, str] = {}
    for each in batch:
        host = each.claimed.job.host
        if isinstance(each.outcome, Snooze) and each.outcome.whole_host:
            rests[host] = max(each.outcome.until, rests.get(host, each.outcome.until))
        elif holds_host(each.outcome) and not _led_elsewhere(each.outcome):
            name = host_of(each.claimed.job.url)
            if name.removeprefix("www.") == host:
                rests[host] = max(now + UNREACHABLE, rests.get(host, now))
            else:
                names[name] = host
    if rests:
        await connection.execute(_REST, [{"b_host": host, "b_until": rests[host]} for host in sorted(rests)])
    if names:
        held = [_held_name(name, names[name], now) for name in sorted(names)]
        await connection.execute(_HOLD_NAME, held)


def _led_elsewhere(outcome: Outcome) -> bool:
    evidence = outcome.evidence if isinstance(outcome, Fail) else None
    return isinstance(evidence, Fetched) and leads_elsewhere(evidence.page.url, evidence.page.final_url)


UNREACHABLE = timedelta(hours=1)
"""How long a host is left alone whose name or certificate is wrong."""
_at_name = [jobs.c.url.startswith(bindparam(f"b_{place}"), autoescape=False) for place in ("http", "https")]
_HOLD_NAME = (
    update(jobs)
    .where(jobs.c.host == bindparam("b_host"), text("pipeline_jobs.status = 'ready'"))
    .where(jobs.c.current_stage == Stage.FETCH, or_(*_at_name))
    .values(status=JobStatus.WAITING, not_before=bindparam("b_until"), last_error=bindparam("b_words"))
)


def _held_name(name: str, host: str, now: datetime) -> dict[str, Any]:
    words = f"the name or the certificate of {name} is wrong; it is left alone for a while"
    at = {"b_http": f"http://{name}/", "b_https": f"https://{name}/"}
    return {**at, "b_host": host, "b_until": now + UNREACHABLE, "b_words": words}


def worth_noting(note: HostNote) -> bool:
    """Hosts without spacing have nothing to remember, unless they asked to be left alone."""
    claimed, result = note.checkpoint.claimed, note.result
    return bool(claimed.pace.interval) or result.retry_after is not None or result.crawl_delay is not None


def _host_row(note: HostNote, now: datetime) -> dict[str, Any]:
    claimed, result = note.checkpoint.claimed, note.result
    pace = with_crawl_delay(claimed.pace, result.crawl_delay)
    booked_until = charged(pace, None, 1, result.requested_at or now)
    opens = opens_at(pace, booked_until, now)
    if result.retry_after is not None and not leads_elsewhere(result.url, result.final_url):
        opens = max(opens, now + result.retry_after)
    delay = None if result.crawl_delay is None else int(result.crawl_delay.total_seconds() * 1000)
    return {"host": claimed.job.host, "tab_at": booked_until, "opens_at": opens, "crawl_delay_ms": delay}


_MARKED = (
    select(runs.c.id, runs.c.degraded)
    .where(runs.c.id.in_(bindparam("b_keys", expanding=True)))
    .order_by(runs.c.id)
    .with_for_update()
)
_MARK = update(runs).where(runs.c.id == bindparam("b_id")).values(degraded=bindparam("b_degraded"))


async def mark_runs(connection: AsyncConnection, batch: Sequence[Checkpoint]) -> None:
    """Note the services that runs had to do without; in good times this costs nothing.

    All runs of the batch are held here, by key, for all of them may be held soon: to hold some first is to hold them in
    another order than somebody else does.
    """
    missed: dict[int, set[str]] = {}
    for each in batch:
        if each.outcome.degraded:
            missed.setdefault(each.claimed.job.run_id, set()).update(each.outcome.degraded)
    if missed:
        keys = sorted({each.claimed.job.run_id for each in batch})
        rows = (await connection.execute(_MARKED, {"b_keys": keys})).all()
        marks = [
            {"b_id": row.id, "b_degraded": merged_services(row.degraded or (), missed[row.id])}
            for row in rows
            if row.id in missed
        ]
        if marks:
            await connection.execute(_MARK, marks)
