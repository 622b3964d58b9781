"""The lists that keep an installation well: adapters, proposals, candidates, incidents, periodic work, audit."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.core.access.roles import Role
from tidemill.core.discovery.candidates import CandidateStatus
from tidemill.web.api.parameters import run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.portal.filters import source_link
from tidemill.web.portal.lists import Column, Filters, ListPage, RowAction, as_text, number
from tidemill.web.responses import BadParameter


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
