"""The pages of replays: the list of them, and the report of one."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.replay.views import ChangeStatus, ReplayStatus, ReplayView
from tidemill.web.api.parameters import Key
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.lists import Column, Filters, ListPage, RowAction, as_text, number
from tidemill.web.portal.replay_reports import report_values


def replays(deps: WebDeps) -> ListPage:
    """Return the list of replays."""

    async def load(_: Filters, __: str | None, limit: int) -> Sequence[Any]:
        return await deps.replays.every(limit=limit)

    async def accept(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.replays.accept(number(key), by)
        return f"Replay {done.id} of {done.scope.words} is accepted."

    async def refuse(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.replays.refuse(number(key), by)
        return f"Replay {done.id} of {done.scope.words} is refused; everything stays as it is."

    async def apply(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.replays.apply(number(key), by)
        return f"Replay {done.id} is in the records: {as_text(done.applied)}."

    async def revert(key: str, _: Mapping[str, str], by: str) -> str:
        done = await deps.replays.revert(number(key), by)
        return f"What replay {done.id} had corrected is as it was."

    return ListPage(
        path="/replays",
        title="Replays",
        about="Stored pages read again: what would differ from what was kept. Changes that alter too much wait here.",
        empty="Nothing was replayed yet; `tidemill replay --source NAME` does.",
        columns=[
            Column("replay", lambda row: row.id, lambda row: f"/replays/{row.id}"),
            Column("of", lambda row: row.scope.words),
            Column("pages", lambda row: f"{row.pages_done} of {row.pages_total}"),
            Column("state", lambda row: row.state_words),
            Column("held because", lambda row: "; ".join(row.held_because)),
            Column("by", lambda row: row.created_by),
            Column("when", lambda row: row.created_at),
        ],
        load=load,
        key=lambda row: str(row.id),
        api="/api/v1/replays",
        actions=[
            RowAction(name="accept", label="Accept", do=accept, applies=waits),
            RowAction(name="refuse", label="Refuse", do=refuse, applies=waits),
            RowAction(
                name="apply", label="Apply to the records", do=apply, applies=can_be_applied,
                warning="Records are corrected, as history that names this replay; it can be reverted.",
            ),
            RowAction(name="revert", label="Revert", do=revert, applies=is_applied),
        ],
        is_paged=False,
    )  # fmt: skip


def waits(row: ReplayView) -> bool:
    """Return whether a replay waits for a person's word."""
    open_ones = {ChangeStatus.WAITING, ChangeStatus.PROVEN, ChangeStatus.DOUBTFUL}
    return row.status is ReplayStatus.DONE and row.change in open_ones


def can_be_applied(row: ReplayView) -> bool:
    """Return whether what a replay read may go into the records."""
    return row.change in {ChangeStatus.ACCEPTED, ChangeStatus.PASSED} and not is_applied(row)


def is_applied(row: ReplayView) -> bool:
    """Return whether what a replay read is in the records."""
    return row.applied_at is not None and row.reverted_at is None


def add_replay_page(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the page of one replay."""

    @router.get("/replays/{replay_id}")
    async def replay(replay_id: Key) -> Response:
        return render("replay.html", **report_values(await deps.replays.show(replay_id)))
