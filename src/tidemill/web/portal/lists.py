"""Pages that list things and let an operator act on them: one shape for all, with a form per action."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.core.access.roles import Role
from tidemill.web.api.parameters import Cursor, Word, is_key
from tidemill.web.auth.gate import ActorName, caller_of
from tidemill.web.extension import RenderPage
from tidemill.web.responses import BadParameter

ROWS_PER_PAGE = 50
SEE_OTHER = 303
LONGEST_NOTICE = 200

Filters = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, what stands in a row's cell, and where the cell leads."""

    heading: str
    value: Callable[[Any], Any]
    link: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAction:
    """What can be done with a row.

    `do` gets the row's key, the fields of the form and who acts, and returns what was done in words. `applies` tells
    for which rows the button stands there. `warning` is asked before what cannot be undone. `fields` are texts that
    the form asks for, by name.
    """

    name: str
    label: str
    do: Callable[[str, Mapping[str, str], str], Awaitable[str]]
    applies: Callable[[Any], bool] = lambda _: True
    warning: str = ""
    fields: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction:
    """What can be done with all rows that the filters mean."""

    name: str
    label: str
    do: Callable[[Filters, str], Awaitable[str]]
    warning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """A list as a page: `load` gets the filters, the cursor and how many rows; `key` names a row in addresses.

    `usual_status` is shown while the reader has not chosen another.
    """

    path: str
    title: str
    about: str
    empty: str
    columns: Sequence[Column]
    load: Callable[[Filters, str | None, int], Awaitable[Sequence[Any]]]
    key: Callable[[Any], str]
    api: str
    filters: Sequence[tuple[str, str, Sequence[str]]] = ()
    actions: Sequence[RowAction] = ()
    bulk: Sequence[BulkAction] = ()
    is_paged: bool = True
    usual_status: str | None = None
    acting_role: Role = Role.OPERATOR


def add_list_page(router: APIRouter, render: RenderPage, page: ListPage) -> None:
    """Add the page and the forms of its actions."""

    @router.get(page.path, name=f"list {page.path}")
    async def show(
        request: Request,
        source: Word = None,
        status: Word = None,
        cursor: Cursor = None,
        done: Word = None,
    ) -> Response:
        chosen = {"source": source or None, "status": status or page.usual_status}
        found = await page.load(chosen, cursor, ROWS_PER_PAGE + 1)
        shown = found[:ROWS_PER_PAGE] if page.is_paged else found
        caller = caller_of(request)
        return render(
            "list.html",
            page=page,
            rows=shown,
            chosen=chosen,
            following=_following(page, chosen, found),
            done=(done or "")[:LONGEST_NOTICE],
            acts=caller.role.includes(page.acting_role),
        )

    for action in page.actions:
        _add_row_action(router, page, action)
    for bulk in page.bulk:
        _add_bulk_action(router, page, bulk)


def _following(page: ListPage, chosen: Filters, found: Sequence[Any]) -> str | None:
    if not page.is_paged or len(found) <= ROWS_PER_PAGE:
        return None
    named = {name: value for name, value in chosen.items() if value}
    return f"{page.path}?{urlencode({**named, 'cursor': page.key(found[ROWS_PER_PAGE - 1])})}"


def _add_row_action(router: APIRouter, page: ListPage, action: RowAction) -> None:
    @router.post(f"{page.path}/{{key:path}}/{action.name}", name=f"{action.name} {page.path}")
    async def act(key: str, request: Request, by: ActorName) -> Response:
        form = await request.form()
        fields = {name: str(form.get(name, ""))[:1_000] for name, _ in action.fields}
        return _back(page, await action.do(key, fields, by))


def _add_bulk_action(router: APIRouter, page: ListPage, bulk: BulkAction) -> None:
    @router.post(f"{page.path}/{bulk.name}", name=f"{bulk.name} all {page.path}")
    async def act(request: Request, by: ActorName) -> Response:
        form = await request.form()
        chosen = {name: str(form.get(name, ""))[:300] or None for name in ("source", "status")}
        return _back(page, await bulk.do(chosen, by))


def _back(page: ListPage, done: str) -> Response:
    return RedirectResponse(f"{page.path}?{urlencode({'done': done[:LONGEST_NOTICE]})}", SEE_OTHER)


def number(key: str) -> int:
    """Return a row's key as a number."""
    if not is_key(key):
        msg = f"{quote(key)} is not a number"
        raise BadParameter(msg)
    return int(key)


def as_text(values: Mapping[str, Any] | None) -> str:
    """Return a mapping as a line of text."""
    return "; ".join(f"{name}: {value}" for name, value in (values or {}).items())[:300]
