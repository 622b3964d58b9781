"""Dead letters: the list with its buttons, and the page of one with its stack and its failing test."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.failure import Failure
from tidemill.core.outcome import Stage
from tidemill.core.views import DeadLetterDetail, DeadLetterFilter
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


def dead_letters(deps: WebDeps) -> ListPage:
    """Return the page of dead letters."""

    async def load(chosen: Filters, cursor: str | None, limit: int) -> Sequence[Any]:
        return await deps.views.dead_letters(await meant(chosen), before=run_cursor(cursor), limit=limit)

    async def count(chosen: Filters, most: int) -> int:
        return await deps.views.count_dead_letters(await meant(chosen), most)

    async def meant(chosen: Filters) -> DeadLetterFilter:
        return DeadLetterFilter(
            source_id=await lookup.source_id(deps, chosen["source"]), status=chosen["status"],
            stage=chosen.get("stage"), error_type=chosen.get("error_type"),
        )  # fmt: skip

    async def retry(key: str, _: Mapping[str, str], by: str) -> str:
        await deps.dead_letters.retry(number(key), by)
        return f"Dead letter {key} is being tried again."

    async def discard(key: str, fields: Mapping[str, str], by: str) -> str:
        await deps.dead_letters.discard(number(key), by, fields["notes"])
        return f"Dead letter {key} is discarded."

    async def retry_all(chosen: Filters, by: str) -> str:
        return (
            f"{(await deps.dead_letters.retry_all(await meant(chosen), by)).count} dead letters are being tried again."
        )

    async def discard_all(chosen: Filters, by: str) -> str:
        return f"{(await deps.dead_letters.discard_all(await meant(chosen), by)).count} dead letters are discarded."

    async def requeue_stale(chosen: Filters, by: str) -> str:
        return f"{await deps.runs.requeue_stale(chosen['source'], by)} jobs that waited too long are taken up again."

    return ListPage(
        path="/dead-letters",
        title="Dead letters",
        about="Jobs that failed for good. Each can be tried again at the stage where it failed.",
        empty="No dead letters here.",
        columns=[
            Column("letter", lambda row: row.id),
            Column("since", lambda row: row.created_at),
            Column("source", lambda row: row.source_name, lambda row: source_link(row.source_name)),
            Column("why", lambda row: f"{row.stage}: {in_words(row.error_type)}, {row.error_message}"[:160]),
            Column("address", lambda row: row.url[:120]),
            Column("status", lambda row: row.status, state=True),
        ],
        load=load,
        key=letter_key,
        api="/api/v1/dead-letters",
        usual_status=DeadLetterStatus.PENDING.value,
        filters=[
            SOURCE_FILTER, ("status", "Status", [each.value for each in DeadLetterStatus]),
            ("error_type", "What failed", sorted(each.value for each in Failure)),
            ("stage", "Stage", sorted(each.value for each in Stage)),
        ],
        actions=[
            RowAction(
                name="retry", label="Try again", do=retry, applies=is_pending, many=True,
                effect="Its job goes on at the stage where it failed; what went well before is not done again.",
            ),
            RowAction(
                name="discard", label="Discard", do=discard, applies=is_pending, fields=[("notes", "Why")], many=True,
                warning="It is not tried again, and that cannot be undone. The page is scraped anew by its schedule.",
            ),
        ],
        bulk=[
            BulkAction(
                name="retry-all", label="Try all of this list again", do=retry_all,
                warning="Every pending one is tried.",
            ),
            BulkAction(
                name="discard-all", label="Discard all of this list", do=discard_all,
                warning="They are not tried again, and that cannot be undone.",
            ),
            BulkAction(
                name="requeue-stale", label="Take up jobs that waited too long", do=requeue_stale,
                warning="Jobs that nobody came to in time were set aside; they go on where they stood.",
                offered_when_empty=True,
            ),
        ],
        count=count,
        thing=ThingPage(
            find=lambda key: deps.dead_letters.find(number(key)),
            title=lambda row: f"Dead letter {row.letter.id}",
            facts=letter_facts,
            subject=lambda row: f"dead letter {row.letter.id}",
            why=lambda row: f"letter:{row.letter.id}",
            parts=letter_parts,
        ),
    )  # fmt: skip


def is_pending(row: Any) -> bool:
    """Return whether a dead letter waits for somebody; of its page's value, the letter in it does."""
    return bool(getattr(row, "letter", row).status == DeadLetterStatus.PENDING)


def letter_key(row: Any) -> str:
    """Return the key of a dead letter, or of its page's value."""
    return str(getattr(row, "letter", row).id)


def letter_facts(detail: DeadLetterDetail) -> list[tuple[str, Any]]:
    """Return what stands first on a dead letter's page."""
    letter = detail.letter
    return [
        ("Source", (source_link(letter.source_name), letter.source_name)),
        ("Address", letter.url),
        ("Failed at", f"{letter.stage}: {in_words(letter.error_type)}"),
        ("Message", letter.error_message),
        ("Since", letter.created_at),
        ("Its own retries", f"{letter.retry_count} of {letter.max_retries}"),
        ("Next retry", letter.next_retry_at),
        ("Status", letter.status),
        ("Notes", letter.resolution_notes),
    ]


async def letter_parts(detail: DeadLetterDetail) -> list[ThingPart]:
    """Return the rest of a dead letter's page: the failing test that it makes, its stack and its payload."""
    letter = detail.letter
    parts = [
        ThingPart(
            heading="As a failing test",
            links=[
                (f"/api/v1/dead-letters/{letter.id}/bundle", "Download the bundle"),
                (f"/why?subject=job:{letter.job_id}", f"Why of job {letter.job_id}"),
                (f"/pages?target={letter.target_id}", "Stored pages of its target"),
            ],
        )
    ]
    if detail.error_stack:
        parts.append(ThingPart(heading="Where it failed", text=detail.error_stack[:20_000]))
    rows = [(name, str(value)[:500]) for name, value in sorted(detail.payload.items()) if value not in (None, "", {})]
    return [*parts, ThingPart(heading="What a retry starts from", headings=("Name", "Value"), rows=rows)]
