"""The list of sources for an operator who has hundreds: search, filters, order, tags, and actions on many at once."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Query
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.core.views.source_list import SourceListFilter, SourceOrder, SourceState
from tidemill.operations.mistakes import Mistake
from tidemill.store.views.source_list import PlaceGone
from tidemill.web import lookup
from tidemill.web.api.parameters import OptionalKey, Word, is_key
from tidemill.web.auth.gate import ActorName
from tidemill.web.charts.drawing import sparkline
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.responses import BadParameter

SOURCES_PER_PAGE = 50
NAMES_SHOWN = 20
SEE_OTHER = 303
LONGEST_NOTICE = 280

State = Annotated[SourceState | None, Query()]
DEEDS = {
    "run": "Scrape now",
    "disable": "Pause",
    "enable": "Switch on",
    "tag": "Tag",
    "untag": "Remove tag",
}
"""What can be done with many sources at once, and the words on its button."""


class BulkChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a form asks for: the deed, the sources by key, and the filter that its page had."""

    deed: str
    keys: Sequence[int]
    tag: str
    reason: str
    is_confirmed: bool
    is_all: bool
    shown: Mapping[str, str]


def add_source_list(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the list and the form for many at once."""

    @router.get("/sources")
    async def sources(
        text: Word = None, vertical: Word = None, state: Word = None, tag: Word = None, adapter: Word = None,
        order: Word = None, after: OptionalKey = None, done: Word = None,
    ) -> Response:  # fmt: skip
        given = {
            "text": text, "vertical": vertical, "state": state, "tag": tag, "adapter": adapter, "order": order,
        }  # fmt: skip
        shown = {name: value for name, value in given.items() if value}
        which = filter_of(deps, shown)
        try:
            page = await deps.views.source_page(which, deps.clock.now(), after=after, limit=SOURCES_PER_PAGE)
        except PlaceGone:
            return RedirectResponse(address_of(shown), SEE_OTHER)
        following = address_of({**shown, "after": str(page.next)}) if page.next is not None else None
        return render(
            "sources.html", page=page, shown=shown, which=which, following=following, first=after is None,
            states=list(SourceState), orders=list(SourceOrder), verticals=sorted(deps.verticals), deeds=DEEDS,
            sparkline=sparkline, done=(done or "")[:LONGEST_NOTICE], address=address_of(shown),
        )  # fmt: skip

    @router.post("/sources/bulk")
    async def bulk(request: Request, by: ActorName) -> Response:
        choice = await choice_of(deps, await request.form())
        if choice.deed == "disable" and not choice.is_confirmed:
            found = await deps.sources.listed(choice.keys)
            return render(
                "sources_confirm.html", choice=choice, names=[each.name for each in found[:NAMES_SHOWN]],
                left=max(0, len(found) - NAMES_SHOWN), count=len(found), back=address_of(choice.shown),
            )  # fmt: skip
        words = await act_on_all(deps, choice, by)
        return RedirectResponse(address_of({**choice.shown, "done": words[:LONGEST_NOTICE]}), SEE_OTHER)


def filter_of(deps: WebDeps, shown: Mapping[str, str]) -> SourceListFilter:
    """Return the filter that an address names; raise `BadParameter` for what does not exist."""
    lookup.require_vertical(deps, shown.get("vertical"))
    return SourceListFilter(
        text=shown.get("text"),
        vertical=shown.get("vertical"),
        tag=shown.get("tag"),
        adapter=shown.get("adapter"),
        state=_chosen(SourceState, shown.get("state"), "state"),
        order=_chosen(SourceOrder, shown.get("order"), "order") or SourceOrder.NAME,
    )


def _chosen(kind: Any, value: str | None, name: str) -> Any:
    try:
        return kind(value) if value else None
    except ValueError as error:
        msg = f"{name}: write one of {', '.join(kind)}"
        raise BadParameter(msg) from error


def address_of(shown: Mapping[str, str]) -> str:
    """Return the address of the list with these filters, which can be shared."""
    return f"/sources?{urlencode(dict(shown))}" if shown else "/sources"


async def choice_of(deps: WebDeps, form: FormData) -> BulkChoice:
    """Return what the form asks for; raise `BadParameter` when it names no source."""
    names = ("text", "vertical", "state", "tag", "adapter", "order")
    shown = {name: value for name in names if (value := str(form.get(f"shown_{name}", ""))[:300])}
    is_all = form.get("all") == "yes"
    if is_all:
        keys = await deps.views.matching_sources(filter_of(deps, shown))
    else:
        keys = [int(key) for key in map(str, form.getlist("key")) if is_key(key)]
    deed = str(form.get("deed", ""))
    if deed not in DEEDS:
        msg = "choose what is to be done with the sources"
        raise BadParameter(msg)
    if not keys:
        msg = "no source was chosen; tick some, or choose all that the filter shows"
        raise BadParameter(msg)
    return BulkChoice(
        deed=deed, keys=keys, tag=str(form.get("new_tag", "")).strip().lower()[:60], is_all=is_all, shown=shown,
        reason=str(form.get("reason", ""))[:1_000], is_confirmed=form.get("confirmed") == "yes",
    )  # fmt: skip


async def act_on_all(deps: WebDeps, choice: BulkChoice, by: str) -> str:
    """Do it, and return in words what was done."""
    match choice.deed:
        case "run":
            started, left = await deps.runs.start_all(choice.keys, by)
            words = f"{started.jobs} pages of {len(started.run_ids)} sources are being scraped."
            refused = f" {len(left)} were left alone: {left[0]}" if left else ""
            turned_away = f" {started.rejected} pages were turned away: {started.reason}." if started.rejected else ""
            return words + turned_away + refused
        case "tag" | "untag":
            is_removal = choice.deed == "untag"
            changed = await deps.sources.tag_all(choice.keys, choice.tag, by, remove=is_removal)
            return f"{_sources(len(changed))} {'lost' if is_removal else 'got'} the tag {choice.tag}."
        case "enable":
            changed = await deps.sources.switch_all(choice.keys, by, enabled=True, reason=choice.reason)
            return f"{_sources(len(changed))} switched on; {len(choice.keys) - len(changed)} were on already."
        case "disable":
            changed = await deps.sources.switch_all(choice.keys, by, enabled=False, reason=choice.reason)
            return f"{_sources(len(changed))} paused: no request is sent for them until they are switched on again."
        case _:
            raise Mistake(choice.deed)


def _sources(count: int) -> str:
    return "1 source" if count == 1 else f"{count} sources"
