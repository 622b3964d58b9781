"""Records that were set aside: the list, and the page of one with what was read."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.core.views.quality import QuarantinedView, QuarantineFilter
from tidemill.web import lookup
from tidemill.web.api.parameters import run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.portal.filters import in_words, source_link
from tidemill.web.portal.lists import (
    SOURCE_FILTER,
    BulkAction,
    Column,
    Filters,
    ListPage,
    RowAction,
    ThingPage,
    ThingPart,
    number,
)


def quarantine(deps: WebDeps) -> ListPage:
    """Return the page of records that were set aside."""

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        return await deps.quarantine.every(await meant(chosen), before=run_cursor(cursor), limit=limit)

    async def count(chosen: Filters, most: int) -> int:
        return await deps.quarantine.count(await meant(chosen), most)

    async def meant(chosen: Filters) -> QuarantineFilter:
        return QuarantineFilter(
            source_id=await lookup.source_id(deps, chosen["source"]), vertical=chosen.get("vertical"),
            reason=chosen.get("reason"), waiting=chosen["status"] != "all",
        )  # fmt: skip

    async def release_all(chosen: Filters, by: str) -> str:
        done = await deps.quarantine.release_all(await meant(chosen), by)
        refused = f"; {len(done.refused)} were refused: {next(iter(done.refused.values()))}" if done.refused else ""
        return f"{done.records} records are published{refused}."

    async def reject_all(chosen: Filters, by: str) -> str:
        return f"{(await deps.quarantine.reject_all(await meant(chosen), by)).records} records are given up."

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
            Column("record", lambda row: row.id),
            Column("since", lambda row: row.created_at),
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("why", lambda row: f"{in_words(row.reason)}: {row.detail}"[:200]),
            Column("read", lambda row: "; ".join(f"{name}: {value}" for name, value in read_fields(row))[:200]),
            Column("page", lambda row: row.page_id, lambda row: f"/pages/{row.page_id}"),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/quarantine",
        filters=[
            SOURCE_FILTER, ("vertical", "Kind", sorted(deps.verticals)), ("reason", "Why", ()),
            ("status", "Show", ["waiting", "all"]),
        ],
        usual_status="waiting",
        actions=[
            RowAction(
                name="release", label="Release", do=release, applies=is_undecided, many=True,
                fields=[("field", "Field to put right, if one is wrong"), ("value", "Its value"), notes],
                effect="It is judged again with the field put right, and published. Readers see it at once.",
            ),
            RowAction(
                name="reject", label="Give up", do=reject, fields=[notes], applies=is_undecided, many=True,
                warning="It is never published; that cannot be undone. It stays here with its reason.",
            ),
        ],
        bulk=[
            BulkAction(
                name="release-all", label="Release all of this list", do=release_all,
                warning="Each is judged again and published when the rules accept it. That cannot be undone.",
            ),
            BulkAction(
                name="reject-all", label="Give up all of this list", do=reject_all,
                warning="They are never published; that cannot be undone.",
            ),
        ],
        count=count,
        thing=ThingPage(
            find=lambda key: deps.quarantine.find(number(key)),
            title=lambda row: f"Record {row.id}, set aside",
            facts=lambda row: [
                ("Source", (source_link(row.source_name), row.source_name)),
                ("Kind", row.vertical),
                ("Why", f"{in_words(row.reason)}: {row.detail}"),
                ("Page", (f"/pages/{row.page_id}", row.page_url)),
                ("Since", row.created_at),
                ("Decided", f"{row.review} by {row.reviewed_by}" if row.review else "not yet"),
                ("Notes", row.review_notes),
            ],
            subject=lambda row: f"record {row.id}",
            why=lambda row: f"quarantine:{row.id}",
            parts=quarantined_parts,
        ),
    )  # fmt: skip


def is_undecided(row: Any) -> bool:
    """Return whether nobody decided about a record yet."""
    return row.review is None


def read_fields(row: QuarantinedView) -> list[tuple[str, Any]]:
    """Return the fields that were read of a record, whichever way it was set aside."""
    inner = row.raw.get("record") or row.raw.get("fields") or row.raw
    return [(name, value) for name, value in inner.items() if value not in (None, "", [], {})]


async def quarantined_parts(row: QuarantinedView) -> list[ThingPart]:
    """Return the rest of a quarantined record's page: what was read, and where its page is."""
    rows = [(name, str(value)[:1_000]) for name, value in read_fields(row)]
    links = [(f"/pages/{row.page_id}", "See the stored page, values marked"), (f"/runs/{row.run_id}", "Its run")]
    return [ThingPart(heading="What was read", headings=("Field", "Value"), rows=rows, links=links)]
