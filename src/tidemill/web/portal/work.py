"""The lists that an operator works through: dead letters, quarantine, breakers, targets, adapters and the rest."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tidemill.core.access.roles import Role
from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.discovery.candidates import CandidateStatus
from tidemill.core.target import TargetStatus
from tidemill.core.views import DeadLetterFilter, TargetFilter
from tidemill.core.views.quality import QuarantineFilter
from tidemill.web import lookup
from tidemill.web.api.parameters import is_key, key_cursor, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.portal.filters import source_link
from tidemill.web.portal.lists import BulkAction, Column, Filters, ListPage, RowAction
from tidemill.web.responses import BadParameter

_SOURCE = ("source", "Source", ())
NO_FIELDS: Mapping[str, str] = {}


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


def adapters(deps: WebDeps) -> ListPage:
    """Return the page of adapters."""

    async def load(_: Filters, __: str | None, ___: int) -> Sequence[Any]:
        return await deps.adapters.every()

    async def enable(key: str, _: Mapping[str, str], by: str) -> str:
        await deps.adapters.enable(key, by, careful=True)
        return f"{key} is on after a dry run; its next run is watched."

    async def disable(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.adapters.disable(key, by, fields["reason"])
        return f"{key} is off: no page is asked for that it would read."

    return ListPage(
        path="/adapters",
        title="Adapters",
        about="What reads each site. One that drifts is switched off; switching it on does a dry run first.",
        empty="No adapter is installed.",
        columns=[
            Column("adapter", lambda row: row.id),
            Column("vertical", lambda row: row.vertical),
            Column("version", lambda row: row.version),
            Column("state", lambda row: "on" if row.enabled else "off"),
            Column("why", lambda row: " ".join(filter(None, (row.disabled_reason, row.disabled_by)))),
        ],
        load=load,
        key=lambda row: row.id,
        api="/api/v1/adapters",
        actions=[
            RowAction(name="enable", label="Switch on", do=enable, applies=lambda row: not row.enabled),
            RowAction(
                name="disable", label="Switch off", do=disable, applies=lambda row: row.enabled,
                fields=[("reason", "Why")], warning="Nothing that it reads is scraped until it is on again.",
            ),
        ],
        is_paged=False,
    )  # fmt: skip


def proposals(deps: WebDeps) -> ListPage:
    """Return the page of proposed selectors."""

    async def load(_: Filters, __: str | None, ___: int) -> Sequence[Any]:
        return await deps.proposals.every()

    async def accept(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.proposals.accept(number(key), by)
        return f"{done.source_name} is read by the proposed selectors from now on."

    async def reject(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.proposals.reject(number(key), by)
        return f"{done.source_name} stays as it is; the same is not proposed again."

    return ListPage(
        path="/proposals",
        title="Proposed selectors",
        about="Pages that were redesigned, and selectors learned from the last good page.",
        empty="Nothing is proposed.",
        columns=[
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("address", lambda row: row.url),
            Column("diagnosis", lambda row: row.diagnosis),
            Column("before", lambda row: as_text(row.before)),
            Column("after", lambda row: as_text(row.after)),
            Column("confidence", lambda row: f"{row.confidence:.0%}"),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/proposals",
        actions=[
            RowAction(name="accept", label="Accept", do=accept, applies=lambda row: row.after is not None),
            RowAction(name="reject", label="Reject", do=reject),
        ],
        is_paged=False,
    )


def candidates(deps: WebDeps) -> ListPage:
    """Return the page of sites that discovery found."""

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        status = chosen["status"]
        if status not in {each.value for each in CandidateStatus}:
            msg = f"there is no status {status!r}"
            raise BadParameter(msg)
        return await deps.discovery.listed(status=CandidateStatus(status), before=run_cursor(cursor), limit=limit)

    async def approve(key: str, fields: Mapping[str, str], by: str) -> str:
        done = await deps.discovery.approve(number(key), by, enable=True, note=fields["note"])
        return f"{done.url} is a source now, and on."

    async def reject(key: str, fields: Mapping[str, str], by: str) -> str:
        return f"{(await deps.discovery.reject(number(key), by, fields['note'])).url} is not shown again."

    note = [("note", "Note")]
    return ListPage(
        path="/candidates",
        title="Discovery",
        about="Sites that discovery found, with what a look at them showed.",
        empty="No candidates wait.",
        columns=[
            Column("found", lambda row: row.found_at),
            Column("place", lambda row: row.place),
            Column("address", lambda row: row.url),
            Column("title", lambda row: row.title),
            Column("confidence", lambda row: row.confidence),
            Column("why", lambda row: "; ".join(row.reasons)[:200]),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/candidates",
        usual_status=CandidateStatus.PENDING.value,
        filters=[("status", "Status", [each.value for each in CandidateStatus])],
        actions=[
            RowAction(name="approve", label="Approve", do=approve, fields=note),
            RowAction(name="reject", label="Reject", do=reject, fields=note),
        ],
    )


def incidents(deps: WebDeps) -> ListPage:
    """Return the page of incidents, which nobody acts on here: they close when their cause is gone."""

    async def load(chosen: Filters, _: str | None, limit: int) -> Sequence[Any]:
        return await deps.adapters.incidents(open_only=chosen["status"] != "all", limit=limit)

    return ListPage(
        path="/incidents",
        title="Incidents",
        about="Where what is read drifted from what should be there. An incident closes when its cause is gone.",
        empty="No incident is open.",
        columns=[
            Column("since", lambda row: row.opened_at),
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("adapter", lambda row: row.adapter_id),
            Column("rule", lambda row: row.rule),
            Column("detail", lambda row: row.detail),
            Column("seen", lambda row: f"{row.times} times"),
            Column("closed", lambda row: row.closed_at),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/incidents",
        usual_status="open",
        filters=[("status", "Show", ["open", "all"])],
        is_paged=False,
    )


def ticks(deps: WebDeps) -> ListPage:
    """Return the page of periodic work."""

    async def load(_: Filters, __: str | None, ___: int) -> Sequence[Any]:
        return await deps.views.ticks()

    async def run(key: str, _: Mapping[str, str], by: str) -> str:
        return f"{key}: {await deps.run_chore(key, by)}"

    return ListPage(
        path="/ticks",
        title="Periodic work",
        about="What the engine does by itself, and when it last went well.",
        empty="Nothing was done yet.",
        columns=[
            Column("name", lambda row: row.name),
            Column("last slot", lambda row: row.slot),
            Column("how", lambda row: row.status),
            Column("last success", lambda row: row.last_success),
            Column("what it did", lambda row: row.detail[:200]),
        ],
        load=load,
        key=lambda row: row.name,
        api="/api/v1/ticks",
        actions=[RowAction(name="run", label="Do it now", do=run)],
        is_paged=False,
    )


def audit(deps: WebDeps) -> ListPage:
    """Return the audit log as a page, for admins."""

    async def load(_: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        return await deps.audit.latest(limit, run_cursor(cursor))

    return ListPage(
        path="/audit",
        title="Audit log",
        about="Who did what. The log can be read, not changed.",
        empty="Nobody did anything yet.",
        columns=[
            Column("when", lambda row: row.at),
            Column("who", lambda row: row.entry.actor),
            Column("did", lambda row: row.entry.action),
            Column("to", lambda row: row.entry.subject),
            Column("detail", lambda row: as_text(row.entry.detail)),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/audit",
        acting_role=Role.ADMIN,
    )


def number(key: str) -> int:
    """Return a row's key as a number."""
    if not is_key(key):
        msg = f"{quote(key)} is not a number"
        raise BadParameter(msg)
    return int(key)


def as_text(values: Mapping[str, Any] | None) -> str:
    """Return a mapping as a line of text."""
    return "; ".join(f"{name}: {value}" for name, value in (values or {}).items())[:300]
