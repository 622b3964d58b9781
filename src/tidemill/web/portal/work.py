"""The lists that an operator works through first: dead letters, quarantine, targets and breakers."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.target import TargetStatus
from tidemill.core.views import DeadLetterFilter, TargetFilter
from tidemill.core.views.quality import QuarantineFilter
from tidemill.web import lookup
from tidemill.web.api.parameters import key_cursor, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.portal.filters import source_link
from tidemill.web.portal.lists import BulkAction, Column, Filters, ListPage, RowAction, number
from tidemill.web.portal.upkeep_lists import adapters, audit, candidates, incidents, proposals, ticks
from tidemill.web.responses import BadParameter

_SOURCE = ("source", "Source", ())


def work_pages(deps: WebDeps) -> list[ListPage]:
    """Return every list, in the order of the navigation."""
    return [
        dead_letters(deps), quarantine(deps), targets(deps), breakers(deps), adapters(deps), proposals(deps),
        candidates(deps), incidents(deps), ticks(deps), audit(deps),
    ]  # fmt: skip


def dead_letters(deps: WebDeps) -> ListPage:
    """Return the page of dead letters."""

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        which = DeadLetterFilter(source_id=await lookup.source_id(deps, chosen["source"]), status=chosen["status"])
        return await deps.views.dead_letters(which, before=run_cursor(cursor), limit=limit)

    async def retry(key: str, _: Mapping[str, str], by: str) -> str:
        await deps.dead_letters.retry(number(key), by)
        return f"Dead letter {key} is being tried again."

    async def discard(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.dead_letters.discard(number(key), by, fields["notes"])
        return f"Dead letter {key} is discarded."

    async def retry_all(chosen: Filters, by: str) -> str:
        which = DeadLetterFilter(source_id=await lookup.source_id(deps, chosen["source"]))
        return f"{(await deps.dead_letters.retry_all(which, by)).count} dead letters are being tried again."

    return ListPage(
        path="/dead-letters",
        title="Dead letters",
        about="Jobs that failed for good. Each can be tried again at the stage where it failed.",
        empty="No dead letters here.",
        columns=[
            Column("since", lambda row: row.created_at),
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("address", lambda row: row.url),
            Column("stage", lambda row: row.stage),
            Column("why", lambda row: f"{row.error_type}: {row.error_message}"[:200]),
            Column("retries", lambda row: f"{row.retry_count} of {row.max_retries}"),
            Column("status", lambda row: row.status),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/dead-letters",
        usual_status=DeadLetterStatus.PENDING.value,
        filters=[_SOURCE, ("status", "Status", [each.value for each in DeadLetterStatus])],
        actions=[
            RowAction(name="retry", label="Try again", do=retry, applies=is_pending),
            RowAction(
                name="discard", label="Discard", do=discard, applies=is_pending, fields=[("notes", "Why")],
                warning="It is not tried again; the page is scraped anew by its schedule.",
            ),
        ],
        bulk=[BulkAction(name="retry-all", label="Try all again", do=retry_all, warning="Every pending one is tried.")],
    )  # fmt: skip


def is_pending(row: Any) -> bool:
    """Return whether a dead letter waits for somebody."""
    return bool(row.status == DeadLetterStatus.PENDING)


def quarantine(deps: WebDeps) -> ListPage:
    """Return the page of records that were set aside."""

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        which = QuarantineFilter(source_id=await lookup.source_id(deps, chosen["source"]))
        return await deps.quarantine.every(which, before=run_cursor(cursor), limit=limit)

    async def release(key: str, fields: Mapping[str, str], by: str) -> str:
        name, value = fields["field"].strip(), fields["value"]
        corrected = {name: value} if name else {}
        await deps.quarantine.release(number(key), by, notes=fields["notes"], fields=corrected)
        return f"Record {key} is published."

    async def reject(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.quarantine.reject(number(key), by, fields["notes"])
        return f"Record {key} is given up."

    notes = ("notes", "Notes")
    return ListPage(
        path="/quarantine",
        title="Quarantine",
        about="Records that looked wrong and were not published. Release them, with a field put right if need be.",
        empty="Nothing is set aside.",
        columns=[
            Column("since", lambda row: row.created_at),
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("why", lambda row: f"{row.reason}: {row.detail}"[:200]),
            Column("read", lambda row: ", ".join(f"{name}: {value}" for name, value in row.raw.items())[:300]),
            Column("page", lambda row: row.page_id, lambda row: f"/api/v1/pages/{row.page_id}/body"),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/quarantine",
        filters=[_SOURCE],
        actions=[
            RowAction(
                name="release", label="Release", do=release,
                fields=[("field", "Field to put right"), ("value", "Its value"), notes],
            ),
            RowAction(name="reject", label="Give up", do=reject, fields=[notes], warning="It is never published."),
        ],
    )  # fmt: skip


def targets(deps: WebDeps) -> ListPage:
    """Return the page of targets."""

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        status = chosen["status"]
        if status is not None and status not in TargetStatus.__members__.values():
            msg = f"there is no status {status!r}"
            raise BadParameter(msg)
        which = TargetFilter(
            source_id=await lookup.source_id(deps, chosen["source"]), status=TargetStatus(status) if status else None
        )
        return await deps.views.targets(which, after=key_cursor(cursor), limit=limit)

    async def pause(key: str, fields: Mapping[str, str], by: str) -> str:
        return f"{(await deps.targets.pause(key, by, fields['reason'])).url} is left alone until it is resumed."

    async def resume(key: str, _: Mapping[str, str], by: str) -> str:
        return f"{(await deps.targets.resume(key, by)).url} is taken up again."

    async def run(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.runs.start_target(key, by)
        return "It is being scraped." if done.jobs else f"Turned away: {done.reason}."

    async def remove(key: str, _: Mapping[str, str], by: str) -> str:
        return f"{(await deps.targets.remove(key, by)).url} is removed."

    return ListPage(
        path="/targets",
        title="Targets",
        about="The pages that are scraped, each by its schedule.",
        empty="No targets here. Import a file of them, or add a source.",
        columns=[
            Column("address", lambda row: row.url),
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("schedule", lambda row: row.schedule or "by its source"),
            Column("status", lambda row: row.status),
            Column("last", lambda row: row.last_scraped_at),
            Column("how", lambda row: row.last_status or ""),
            Column("next", lambda row: row.next_due_at),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/targets",
        filters=[_SOURCE, ("status", "Status", [each.value for each in TargetStatus])],
        actions=[
            RowAction(name="run", label="Scrape now", do=run),
            RowAction(
                name="pause", label="Pause", do=pause, fields=[("reason", "Why")],
                applies=lambda row: row.status == TargetStatus.ACTIVE,
            ),
            RowAction(
                name="resume", label="Resume", do=resume, applies=lambda row: row.status != TargetStatus.ACTIVE
            ),
            RowAction(name="remove", label="Remove", do=remove, warning="Its pages and records stay."),
        ],
    )  # fmt: skip


def breakers(deps: WebDeps) -> ListPage:
    """Return the page of circuit breakers."""

    async def load(chosen: Filters, _: str | None, __: int) -> Sequence[Any]:
        return [row for row in await deps.views.breakers() if chosen["source"] in {None, row.source_name}]

    async def reset(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.breakers.reset(key, by)
        return f"The breaker of {done.source} was {done.was.lower()} and is closed."

    return ListPage(
        path="/breakers",
        title="Circuit breakers",
        about="A source that keeps failing is left alone for a while; then one request tries it.",
        empty="No breaker was ever asked.",
        columns=[
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("state", lambda row: row.state),
            Column("failures in a row", lambda row: row.failure_count),
            Column("last failure", lambda row: row.last_failure_at),
            Column("left alone until", lambda row: row.cooldown_until),
        ],
        load=load,
        key=lambda row: row.source_name,
        api="/api/v1/breakers",
        filters=[_SOURCE],
        actions=[RowAction(name="reset", label="Close it", do=reset, applies=lambda row: row.state != "CLOSED")],
        is_paged=False,
    )
