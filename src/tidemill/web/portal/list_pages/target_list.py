"""Targets: the list with its buttons, and the page of one with its latest jobs."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tidemill.core.target import TargetStatus
from tidemill.core.views import TargetDetail, TargetFilter, TargetView
from tidemill.operations.mistakes import require_found
from tidemill.web import lookup
from tidemill.web.api.parameters import key_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.portal.filters import in_words, source_link
from tidemill.web.portal.lists import (
    SOURCE_FILTER,
    Column,
    Filters,
    ListPage,
    RowAction,
    ThingPage,
    ThingPart,
    number,
)
from tidemill.web.responses import BadParameter


def targets(deps: WebDeps) -> ListPage:
    """Return the page of targets."""

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        return await deps.views.targets(await meant(chosen), after=key_cursor(cursor), limit=limit)

    async def count(chosen: Filters, most: int) -> int:
        return await deps.views.count_targets(await meant(chosen), most)

    async def meant(chosen: Filters) -> TargetFilter:
        status = chosen["status"]
        if status is not None and status not in TargetStatus.__members__.values():
            msg = f"there is no status {status!r}"
            raise BadParameter(msg)
        return TargetFilter(
            source_id=await lookup.source_id(deps, chosen["source"]), text=chosen.get("text"),
            status=TargetStatus(status) if status else None,
        )  # fmt: skip

    async def find(key: str) -> TargetDetail:
        return require_found(await deps.views.target(number(key), deps.clock.now()), "target", key)

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
            Column("status", lambda row: row.status, state=True),
            Column("last", lambda row: row.last_scraped_at),
            Column("how", lambda row: in_words(row.last_status or "")),
            Column("next", lambda row: row.next_due_at),
        ],
        load=load,
        key=lambda row: str(target_of(row).id),
        api="/api/v1/targets",
        filters=[
            ("text", "Words in the address", ()), SOURCE_FILTER,
            ("status", "Status", [each.value for each in TargetStatus]),
        ],
        next_step=("/add-source", "Add a source"),
        actions=[
            RowAction(
                name="run", label="Scrape now", do=run, many=True,
                effect="Its page is fetched now, at the pace of its host; the schedule stays.",
            ),
            RowAction(
                name="pause", label="Pause", do=pause, fields=[("reason", "Why")], many=True,
                applies=lambda row: target_of(row).status == TargetStatus.ACTIVE,
                effect="Its page is not asked for until it is resumed.",
            ),
            RowAction(
                name="resume", label="Resume", do=resume, many=True,
                applies=lambda row: target_of(row).status != TargetStatus.ACTIVE,
                effect="It is scraped by its schedule again, and its failures are forgotten.",
            ),
            RowAction(
                name="remove", label="Remove", do=remove, many=True,
                warning="It is no longer scraped; its pages and records stay. Adding it again undoes it.",
            ),
        ],
        count=count,
        thing=ThingPage(
            find=find,
            title=lambda row: row.view.url,
            facts=target_facts,
            subject=lambda row: f"target {row.view.id}",
            why=lambda row: f"target:{row.view.id}",
            parts=target_parts,
        ),
    )  # fmt: skip


def target_of(row: Any) -> TargetView:
    """Return the target in the list, or in its page's value."""
    return cast("TargetView", getattr(row, "view", row))


def target_facts(detail: TargetDetail) -> list[tuple[str, Any]]:
    """Return what stands first on a target's page."""
    view = detail.view
    return [
        ("Source", (source_link(view.source_name), view.source_name)),
        ("Schedule", view.schedule or "by its source"),
        ("Status", in_words(view.status)),
        ("Last scrape", view.last_scraped_at),
        ("How it went", in_words(view.last_status or "")),
        ("Next due", view.next_due_at if view.enabled else "paused"),
        ("Read by", detail.target.adapter_id or detail.source.view.adapter_id),
    ]


async def target_parts(detail: TargetDetail) -> list[ThingPart]:
    """Return the rest of a target's page: its latest jobs, and where its pages are."""
    rows = [
        ((f"/why?subject=job:{job.id}", f"job {job.id}"), job.created_at, in_words(job.status), in_words(job.stage),
         f"{in_words(job.failure or '')} {job.error or ''}"[:300])
        for job in detail.jobs[:20]
    ]  # fmt: skip
    links = [
        (f"/pages?target={detail.view.id}", "Its stored pages"),
        (source_link(detail.view.source_name), "Change its schedule"),
    ]
    headings = ("Job", "Made", "State", "Stage", "What went wrong")
    return [ThingPart(heading="Its latest jobs", headings=headings, rows=rows, links=links)]
