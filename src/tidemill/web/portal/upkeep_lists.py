"""The lists that keep an installation well: adapters, proposals, candidates, periodic work, audit."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from tidemill.core.access.roles import Role
from tidemill.core.discovery.candidates import CandidateStatus
from tidemill.operations.mistakes import require_found
from tidemill.web.api.parameters import run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.portal.filters import source_link
from tidemill.web.portal.lists import Column, Filters, ListPage, RowAction, ThingPage, ThingPart, as_text, number
from tidemill.web.responses import BadParameter


def adapters(deps: WebDeps) -> ListPage:
    """Return the page of adapters."""

    async def load(_: Filters, __: str | None, ___: int) -> Sequence[Any]:
        return await deps.adapters.every()

    async def enable(key: str, _: Mapping[str, str], by: str) -> str:
        await deps.adapters.enable(key, by, careful=True)
        return f"{key} is on after a dry run; its next run is watched."

    async def find(key: str) -> Any:
        return require_found(next((row for row in await deps.adapters.every() if row.id == key), None), "adapter", key)

    async def parts(row: Any) -> Sequence[ThingPart]:
        baselines = await deps.adapters.baselines(row.id)
        rows = [
            (each.source_name, each.field, f"{each.share:.0%}", each.records, each.blessed_by, each.blessed_at)
            for each in baselines
        ]
        headings = ("Source", "Field", "Filled in", "Of records", "By", "Since")
        told = "" if rows else "Nobody took anything for good yet; drift is judged by the latest runs."
        return [ThingPart(heading="How often each field is filled in", headings=headings, rows=rows, text=told)]

    async def dry_run(key: str, _: Mapping[str, str], __: str) -> str:
        trial = await deps.adapters.dry_run(key)
        common = f" Most often: {next(iter(trial.reasons))}." if trial.reasons else ""
        return f"{trial.well} of {trial.pages} stored pages went well in a dry run of {key} {trial.version}.{common}"

    async def bless(key: str, _: Mapping[str, str], by: str) -> str:
        return f"{len(await deps.adapters.bless(key, by))} fields of {key} are judged by what is read now."

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
            Column("state", lambda row: "on" if row.enabled else "off", state=True),
            Column("why", lambda row: " ".join(filter(None, (row.disabled_reason, row.disabled_by)))),
        ],
        load=load,
        key=lambda row: row.id,
        api="/api/v1/adapters",
        thing=ThingPage(
            find=find,
            title=lambda row: f"Adapter {row.id}",
            facts=lambda row: [
                ("Vertical", row.vertical),
                ("Version", row.version),
                ("State", "on" if row.enabled else "off"),
                ("Why", " ".join(filter(None, (row.disabled_reason, row.disabled_by)))),
                ("Its sources", (f"/sources?adapter={quote(row.id)}", "those that it reads")),
            ],
            subject=lambda row: f"adapter {row.id}",
            parts=parts,
            api=lambda _: "/api/v1/adapters",
        ),
        actions=[
            RowAction(
                name="enable", label="Switch on", do=enable, applies=lambda row: not row.enabled, many=True,
                effect="It reads its last good pages first; it is only switched on when they still make sense.",
            ),
            RowAction(
                name="try", label="Try it", do=dry_run,
                effect="It reads the newest stored pages of its targets; nothing is written.",
            ),
            RowAction(
                name="bless", label="Take what it reads now as good", do=bless, applies=lambda row: row.enabled,
                warning="Drift is judged by what its sources bring now. What was good before is forgotten.",
            ),
            RowAction(
                name="disable", label="Switch off", do=disable, applies=lambda row: row.enabled, many=True,
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
            Column("proposal", lambda row: row.id),
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
            RowAction(
                name="accept",
                label="Accept",
                do=accept,
                applies=lambda row: row.after is not None,
                many=True,
                effect="The source is read by these selectors from its next page on; its settings keep the old ones.",
            ),
            RowAction(
                name="reject",
                label="Reject",
                do=reject,
                many=True,
                effect="It stays as it is, and the same is not proposed again.",
            ),
        ],
        thing=ThingPage(
            find=lambda key: deps.proposals.find(number(key)),
            title=lambda row: f"Proposed selectors for {row.source_name}",
            facts=lambda row: [
                ("Source", (source_link(row.source_name), row.source_name)),
                ("Address", row.url),
                ("Diagnosis", row.diagnosis),
                ("Confidence", f"{row.confidence:.0%}"),
            ],
            subject=lambda row: f"proposal {row.id}",
            parts=selectors_beside,
        ),
        is_paged=False,
    )


async def selectors_beside(row: Any) -> Sequence[ThingPart]:
    """Return the selectors of a proposal, the old beside the new."""
    before, after = row.before or {}, row.after or {}
    rows = [(name, str(before.get(name, "")), str(after.get(name, ""))) for name in sorted({*before, *after})]
    return [ThingPart(heading="What would change", headings=("Setting", "Now", "Then"), rows=rows)]


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
        next_step=("/ticks", "Discovery is one of the periodic tasks"),
        columns=[
            Column("site", lambda row: row.id),
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
            RowAction(
                name="approve",
                label="Approve",
                do=approve,
                fields=note,
                applies=is_waiting,
                many=True,
                effect="It becomes a source that is on, and is scraped by the schedule of its kind.",
            ),
            RowAction(
                name="reject",
                label="Reject",
                do=reject,
                fields=note,
                applies=is_waiting,
                many=True,
                warning="It is never shown again; that cannot be undone.",
            ),
        ],
        thing=ThingPage(
            find=lambda key: deps.discovery.find(number(key)),
            title=lambda row: row.title or row.url,
            facts=lambda row: [
                ("Address", row.url),
                ("Place", row.place),
                ("Found", row.found_at),
                ("Confidence", row.confidence),
                ("Status", row.status),
            ],
            subject=lambda row: f"candidate {row.id}",
            parts=candidate_parts,
        ),
    )


def is_waiting(row: Any) -> bool:
    """Return whether nobody decided about a site yet."""
    return bool(row.status == CandidateStatus.PENDING)


async def candidate_parts(row: Any) -> Sequence[ThingPart]:
    """Return what a look at a site showed: reasons, and sample events."""
    samples = [[str(value) for value in msgspec.structs.astuple(each)] for each in row.samples]
    reasons = [(each,) for each in row.reasons]
    return [ThingPart(heading="Why it was found good or not", rows=reasons), ThingPart(heading="Samples", rows=samples)]


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
            Column("how", lambda row: row.status, state=True),
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

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        subject, actor = chosen.get("subject"), chosen.get("actor")
        return await deps.audit.latest(limit, run_cursor(cursor), subject=subject, actor=actor)

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
        filters=[("subject", "Done to, such as source NAME", ()), ("actor", "Who", ())],
        acting_role=Role.ADMIN,
    )
