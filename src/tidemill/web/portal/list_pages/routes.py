"""A list as routes: the page, its rows as CSV, the page of one row, and a form per action."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from tidemill.operations.exporting.formats import cell, csv_lines
from tidemill.operations.mistakes import Mistake
from tidemill.web.api.parameters import Cursor, Word
from tidemill.web.auth.gate import ActorName, caller_of
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.filters import masked
from tidemill.web.portal.lists import (
    COUNTED_UP_TO,
    LONGEST_NOTICE,
    ROWS_PER_PAGE,
    BulkAction,
    Filters,
    ListPage,
    RowAction,
    ThingPage,
)
from tidemill.web.responses import BadParameter

SEE_OTHER = 303
ROWS_A_BATCH = 500
MOST_CSV_ROWS = 1_000_000
MOST_TICKED = 500
NAMES_SHOWN = 20
PLAIN_PATH = re.compile(r"(?:/[\w.~%-]+)+", re.ASCII)
"""A path of ours without a query, where a form may lead back to."""


def given_filters(  # noqa: PLR0917 - one parameter per filter; the framework passes them by name
    source: Word = None, status: Word = None, text: Word = None, vertical: Word = None, reason: Word = None,
    stage: Word = None, error_type: Word = None, subject: Word = None, actor: Word = None,
) -> dict[str, str]:  # fmt: skip
    """Return the filters that a request names."""
    given = {
        "source": source, "status": status, "text": text, "vertical": vertical, "reason": reason, "stage": stage,
        "error_type": error_type, "subject": subject, "actor": actor,
    }  # fmt: skip
    return {name: value for name, value in given.items() if value}


Given = Annotated[dict[str, str], Depends(given_filters)]


def chosen_filters(page: ListPage, given: Mapping[str, str]) -> dict[str, str | None]:
    """Return what a list is filtered by; raise `BadParameter` for a filter that it does not have."""
    known = {name for name, _, _ in page.filters} | {"source", "status"}
    for name in given:
        if name not in known:
            msg = f"{page.title} cannot be filtered by {name}; by {', '.join(sorted(known))} it can"
            raise BadParameter(msg)
    chosen: dict[str, str | None] = {name: given.get(name) for name in known}
    chosen["status"] = given.get("status") or page.usual_status
    return chosen


def add_list_page(router: APIRouter, deps: WebDeps, render: RenderPage, page: ListPage) -> None:
    """Add the page, its rows as a file, and the forms of its actions."""

    @router.get(page.path, name=f"list {page.path}")
    async def show(request: Request, given: Given, cursor: Cursor = None, done: Word = None) -> Response:
        chosen = chosen_filters(page, given)
        found = await page.load(chosen, cursor, ROWS_PER_PAGE + 1)
        shown = found[:ROWS_PER_PAGE] if page.is_paged else found
        counted = len(found) if page.count is None else await page.count(chosen, COUNTED_UP_TO)
        acts = caller_of(request).role.includes(page.acting_role)
        query = urlencode({name: value for name, value in chosen.items() if value})
        return render(
            "list.html", page=page, rows=shown, chosen=chosen, following=_following(page, chosen, found),
            done=(done or "")[:LONGEST_NOTICE], acts=acts, query=query, first=cursor is None,
            counted=counted if page.count is not None or not page.is_paged else None, most=COUNTED_UP_TO,
            filtered=any(value and not (name == "status" and value == page.usual_status)
                         for name, value in chosen.items()),
            ticked=[each for each in page.actions if each.many] if acts else [],
        )  # fmt: skip

    @router.get(f"{page.path}/rows.csv", name=f"rows {page.path}")
    async def rows(given: Given) -> Response:
        chosen = chosen_filters(page, given)
        name = f"{page.path.strip('/')}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(csv_rows(page, chosen), media_type="text/csv; charset=utf-8", headers=headers)

    for action in page.actions:
        _add_row_action(router, page, action)
    for bulk in page.bulk:
        _add_bulk_action(router, page, bulk)
    if any(action.many for action in page.actions):
        _add_ticked_action(router, render, page)
    if page.thing is not None:
        _add_thing_page(router, deps, render, page, page.thing)


def _following(page: ListPage, chosen: Filters, found: Sequence[Any]) -> str | None:
    if not page.is_paged or len(found) <= ROWS_PER_PAGE:
        return None
    named = {name: value for name, value in chosen.items() if value}
    return f"{page.path}?{urlencode({**named, 'cursor': page.key(found[ROWS_PER_PAGE - 1])})}"


async def csv_rows(page: ListPage, chosen: Filters) -> AsyncIterator[bytes]:
    """Yield the whole list as CSV, batch by batch; no cell becomes a formula."""
    yield csv_lines([[column.heading for column in page.columns]])
    cursor: str | None = None
    written = 0
    while written < MOST_CSV_ROWS:
        found = await page.load(chosen, cursor, ROWS_A_BATCH)
        if found:
            yield csv_lines([[cell(_plain(column.value(row))) for column in page.columns] for row in found])
        written += len(found)
        if not page.is_paged or len(found) < ROWS_A_BATCH:
            return
        cursor = page.key(found[-1])


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, datetime | int | float) else masked(str(value))


def _add_row_action(router: APIRouter, page: ListPage, action: RowAction) -> None:
    @router.post(f"{page.path}/{{key:path}}/{action.name}", name=f"{action.name} {page.path}")
    async def act(key: str, request: Request, by: ActorName) -> Response:
        form = await request.form()
        fields = {name: str(form.get(name, ""))[:1_000] for name, _ in action.fields}
        return _back(page, await action.do(key, fields, by), str(form.get("back", "")))


def _add_bulk_action(router: APIRouter, page: ListPage, bulk: BulkAction) -> None:
    @router.post(f"{page.path}/{bulk.name}", name=f"{bulk.name} all {page.path}")
    async def act(request: Request, by: ActorName) -> Response:
        form = await request.form()
        given = {name: str(form.get(name, ""))[:300] for name, _, _ in page.filters}
        chosen = chosen_filters(page, {name: value for name, value in given.items() if value})
        return _back(page, await bulk.do(chosen, by))


def _add_ticked_action(router: APIRouter, render: RenderPage, page: ListPage) -> None:
    """Add the form of ticked rows; what cannot be undone names them and asks once."""

    @router.post(f"{page.path}/ticked", name=f"ticked {page.path}")
    async def act(request: Request, by: ActorName) -> Response:
        form = await request.form()
        keys = list(dict.fromkeys(str(key)[:300] for key in form.getlist("key")))[:MOST_TICKED]
        action = next((each for each in page.actions if each.many and each.name == form.get("deed")), None)
        if action is None or not keys:
            msg = "tick the rows that are meant, and choose what is to be done with them"
            raise BadParameter(msg)
        fields = {name: str(form.get(name, ""))[:1_000] for name, _ in action.fields}
        if (action.warning or action.fields) and form.get("confirmed") != "yes":
            return render(
                "ticked_confirm.html", page=page, action=action, keys=keys, shown=keys[:NAMES_SHOWN],
                left=max(0, len(keys) - NAMES_SHOWN),
            )  # fmt: skip
        return _back(page, await do_with_all(action, keys, fields, by))


async def do_with_all(action: RowAction, keys: Sequence[str], fields: Mapping[str, str], by: str) -> str:
    """Do an action with every row, and return in words with how many it went and why not with the others."""
    refused: list[str] = []
    words = ""
    for key in keys:
        try:
            words = await action.do(key, fields, by)
        except Mistake as reason:
            refused.append(f"{key}: {reason}")
    went = len(keys) - len(refused)
    if not refused:
        return words if went == 1 else f"{action.label}: done with {went}."
    return f"{action.label}: done with {went}, not with {len(refused)}. {refused[0]}"


def _add_thing_page(router: APIRouter, deps: WebDeps, render: RenderPage, page: ListPage, thing: ThingPage) -> None:
    @router.get(f"{page.path}/{{key:path}}", name=f"one {page.path}")
    async def one(key: str, request: Request, done: Word = None) -> Response:
        row = await thing.find(key)
        subject = thing.why(row)
        acts = caller_of(request).role.includes(page.acting_role)
        return render(
            "thing.html", page=page, title=thing.title(row), facts=thing.facts(row), key=page.key(row),
            why=await deps.why(subject) if subject else None,
            parts=await thing.parts(row) if thing.parts is not None else (),
            actions=[each for each in page.actions if each.applies(row)] if acts else [],
            audit=await deps.audit.latest(12, subject=thing.subject(row)),
            api=thing.api(row) if thing.api is not None else f"{page.api}/{quote(page.key(row), safe='')}",
            done=(done or "")[:LONGEST_NOTICE],
        )  # fmt: skip


def _back(page: ListPage, done: str, back: str = "") -> Response:
    """Return to the list, or to the page of ours whose form it was."""
    path = back if PLAIN_PATH.fullmatch(back) else page.path
    return RedirectResponse(f"{path}?{urlencode({'done': done[:LONGEST_NOTICE]})}", SEE_OTHER)
