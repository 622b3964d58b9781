"""A stored page beside what was read from it: every value marked, and a click on the page makes a selector."""

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Form, Query
from starlette.responses import RedirectResponse, Response

from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import RawRecord
from tidemill.core.views import PageDetail
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.reader_functions.chosen_selectors import FieldSelector, spec_of
from tidemill.pipeline.reader_functions.stored_pages import (
    CHANGED,
    MARKED,
    REBUILT,
    MarkedPage,
    PageAndRecords,
    TwoPages,
)
from tidemill.reading.inspection.changes import TextChange
from tidemill.reading.inspection.marking import Mark
from tidemill.web import lookup
from tidemill.web.api.parameters import Cursor, Key, OptionalKey, Word, run_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.filters import source_link
from tidemill.web.responses import ResourceNotFound

PAGES_PER_LIST = 50
SEE_OTHER, UNPROCESSABLE = 303, 422
Selector = Annotated[str, Query(max_length=500)]
SelectorText = Annotated[str, Form(max_length=500)]

FRAME_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:12px;overflow-wrap:anywhere;color:#16282c;background:#fff}"
    "a{color:inherit;text-decoration:none}a:hover,a:focus{outline:2px solid #0e6e7a}"
    ".tm-mark{background:#fdeecb;outline:1px solid #b98a2b}.tm-exact{background:#dff3e6;outline-color:#17663a}"
    ".tm-mark:target{outline:3px solid #0e6e7a}.tm-label{background:#16282c;color:#fff;padding:0 4px;margin-left:3px}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.6 ui-monospace,monospace}h2{font-size:1rem}"
    "table{border-collapse:collapse}td,th{border:1px solid #dbe4e5;padding:2px 6px}"
)
_HASH = base64.b64encode(hashlib.sha256(FRAME_STYLE.encode()).digest()).decode()
FRAME_POLICY = (
    f"sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'sha256-{_HASH}'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
"""The rebuilt page runs nothing, loads nothing and sends nothing; a click on its text may lead to a page of ours."""


class PageBeside(msgspec.Struct, frozen=True, kw_only=True):
    """A stored page, what was read from it, and where."""

    detail: PageDetail
    page: Page
    records: Sequence[RawRecord]
    marks: Sequence[Mark]
    cut: str


def add_stored_pages(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the list of stored pages, the page of one, its frame, and the choice of selectors."""
    _reading(router, deps, render)
    _picking(router, deps, render)


def _reading(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    @router.get("/pages")
    async def pages(source: Word = None, target: OptionalKey = None, cursor: Cursor = None) -> Response:
        source_id = await lookup.source_id(deps, source or None)
        before = run_cursor(cursor)
        found = await deps.views.pages(source_id=source_id, target_id=target, before=before, limit=PAGES_PER_LIST + 1)
        shown = found[:PAGES_PER_LIST]
        asked = {name: value for name, value in (("source", source), ("target", target)) if value}
        more = f"/pages?{urlencode({**asked, 'cursor': shown[-1].id})}" if len(found) > PAGES_PER_LIST else None
        return render("pages.html", pages=shown, source=source or "", following=more)

    @router.get("/pages/{page_id:int}")
    async def page(page_id: Key, done: Word = None) -> Response:
        beside = await beside_of(deps, page_id)
        good = await good_page(deps, beside.detail)
        changes = await _changes(deps, beside.page, good) if good is not None and good != page_id else None
        return render(
            "page.html", beside=beside, view=beside.detail.page, by_record=_by_record(beside), good=good,
            changes=changes, done=(done or "")[:280],
        )  # fmt: skip

    @router.get("/pages/{page_id:int}/frame")
    async def frame(page_id: Key) -> Response:
        _, page, records = await stored_page(deps, page_id)
        link = f"/pages/{page_id}/pick?element="
        body = await deps.readers.call(REBUILT, PageAndRecords(page=page, records=records, link=link))
        return framed(f"<p>{html.escape(too_hard(body))}</p>" if isinstance(body, Fail) else body)


def framed(body: str) -> Response:
    """Return a rebuilt page as a document of its own, under the strictest policy."""
    markup = f'<!doctype html><html lang="und"><head><meta charset="utf-8"><title>Stored page</title>\
<style>{FRAME_STYLE}</style></head><body>{body}</body></html>'
    response = Response(markup.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = FRAME_POLICY
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response


async def beside_of(deps: WebDeps, page_id: int) -> PageBeside:
    """Return a stored page with what was read from it and where; raise `ResourceNotFound` once it is gone."""
    detail, page, records = await stored_page(deps, page_id)
    marked = await deps.readers.call(MARKED, PageAndRecords(page=page, records=records))
    if isinstance(marked, Fail):
        marked = MarkedPage(marks=(), cut=too_hard(marked))
    return PageBeside(detail=detail, page=page, records=records, marks=marked.marks, cut=marked.cut)


def too_hard(failure: Fail) -> str:
    """Return in words that a reader could not show the page."""
    return f"This page cannot be shown: {failure.detail or failure.failure}"


async def stored_page(deps: WebDeps, page_id: int) -> tuple[PageDetail, Page, Sequence[RawRecord]]:
    """Return a stored page with the records that were read from it; raise `ResourceNotFound` once it is gone."""
    detail, stored = await deps.views.page(page_id), await deps.read_page(page_id)
    if detail is None or stored is None:
        msg = f"There is no page {page_id}."
        raise ResourceNotFound(msg, "Old pages are let go by retention; `/pages` lists the rest.")
    found = await deps.views.found(page_id)
    return detail, stored, found.records if found is not None else ()


async def good_page(deps: WebDeps, detail: PageDetail) -> int | None:
    """Return the last good page of the same target, if it is known."""
    target = await deps.views.target(detail.page.target_id, deps.clock.now())
    return None if target is None else target.view.good_page_id


async def _changes(deps: WebDeps, page: Page, good_id: int) -> Sequence[TextChange] | None:
    good = await deps.read_page(good_id)
    if good is None:
        return None
    changed = await deps.readers.call(CHANGED, TwoPages(good, page))
    return None if isinstance(changed, Fail) else changed


def _by_record(beside: PageBeside) -> list[tuple[int, RawRecord, list[Mark]]]:
    marks: dict[int, list[Mark]] = {}
    for mark in beside.marks:
        marks.setdefault(mark.record, []).append(mark)
    return [(number, beside.records[number], found) for number, found in marks.items()]


def _picking(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    async def show(page_id: int, values: Mapping[str, Any], status: int = 200, wrong: str = "") -> Response:
        element, item, way, field = values["element"], values["item"], values["way"], values["field"]
        source = await deps.selectors.source_of(page_id)
        choice = await deps.selectors.choice(page_id, element, item) if element is not None else None
        chosen_item = item if item is not None else choice.item if choice else str(spec_of(source).get("item", ""))
        trials = []
        if way and field and not wrong:
            try:
                wanted = FieldSelector(field=field, way=way, item=chosen_item)
                trials = await deps.selectors.trial(page_id, wanted)
            except Mistake as error:
                status, wrong = UNPROCESSABLE, str(error)
        found = await deps.views.found(page_id)
        names = sorted({name for each in (found.records if found else ()) for name in each.fields})
        return render(
            "pick.html", status, page_id=page_id, source=source, choice=choice, element=element, item=chosen_item,
            way=way, field=field, trials=trials, names=names, spec=spec_of(source), wrong=wrong,
        )  # fmt: skip

    @router.get("/pages/{page_id:int}/pick")
    async def pick(
        page_id: Key, element: OptionalKey = None, item: Selector | None = None, way: Selector = "",
        own: Selector = "", field: Selector = "",
    ) -> Response:  # fmt: skip
        return await show(page_id, {"element": element, "item": item, "way": own or way, "field": field})

    @router.post("/pages/{page_id:int}/pick")
    async def keep(
        page_id: Key, by: ActorName, field: SelectorText, way: SelectorText, save: SelectorText, item: SelectorText = ""
    ) -> Response:
        wanted = FieldSelector(field=field, way=way, item=item)
        try:
            if save == "proposal":
                source = await deps.selectors.propose(page_id, wanted, by)
                return RedirectResponse(f"/proposals?{urlencode({'done': f'Proposed for {source.name}.'})}", SEE_OTHER)
            source, is_in_force = await deps.selectors.save(page_id, wanted, by)
        except Mistake as error:
            values = {"element": None, "item": item, "way": way, "field": field}
            return await show(page_id, values, UNPROCESSABLE, str(error))
        words = f"{field} is read by {way} from the next scrape on."
        if not is_in_force:
            words = f"{field} is read by {way} once the last stored pages were read so without loss; see Replays."
        return RedirectResponse(f"{source_link(source.name)}?{urlencode({'done': words})}", SEE_OTHER)
