"""The list of matches and the page of one, which moves while it is open."""

import json
from urllib.parse import quote, urlencode

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.core.snapshots.cursors import StreamCursor
from tidemill.verticals.matches.actions import MatchActions
from tidemill.verticals.matches.portal.board import MatchBoard, board_of, score_line
from tidemill.verticals.matches.record import MatchStatus
from tidemill.web.api.parameters import Word
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.stream.resource import StreamedResource
from tidemill.web.stream.routes import ThingMetadata, ThingName, metadata_of

MATCHES_PER_PAGE = 50
CHANGES_SHOWN = 20
SEE_OTHER = 303


class MatchLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the list."""

    key: str
    path: str
    board: MatchBoard
    score: str
    about: ThingMetadata


class ShownChange(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the log as the page shows it: what became of which fields."""

    entry: LoggedChange
    words: str


def router(deps: WebDeps, resource: StreamedResource, actions: MatchActions, render: RenderPage) -> APIRouter:
    """Return the routes of the pages of matches."""
    router = APIRouter()
    hub = deps.streams.hub

    @router.get("/matches")
    async def matches(status: Word = None, cursor: Word = None, done: Word = None) -> Response:
        chosen = status if status in set(MatchStatus) else None
        await hub.start()
        await hub.checks.refresh()
        found = await hub.reads.listed(
            resource.vertical, status=chosen, group=None, after=cursor or "", limit=MATCHES_PER_PAGE + 1
        )
        shown = [_listed(each) for each in found[:MATCHES_PER_PAGE]]
        asked = {"status": chosen} if chosen else {}
        more = len(found) > MATCHES_PER_PAGE
        return render(
            "matches/matches.html", matches=shown, chosen=chosen or "", statuses=[str(each) for each in MatchStatus],
            first=cursor is None, doubts=await actions.doubts(), done=(done or "")[:200],
            following=f"/matches?{urlencode({**asked, 'cursor': shown[-1].key})}" if more else None,
        )  # fmt: skip

    def _listed(found: ThingSnapshot) -> MatchLine:
        state, key = found.state, found.thing.key
        return MatchLine(
            key=key, path=match_path(key), board=board_of(key, state), score=score_line(state),
            about=metadata_of(hub, found),
        )  # fmt: skip

    @router.post("/matches/settle")
    async def settle(request: Request, by: ActorName) -> Response:
        form = await request.form()
        source, source_key, wanted = (str(form.get(name, ""))[:300] for name in ("source", "source_key", "match"))
        _, after = await actions.settle(source, source_key, wanted.strip() or None, by)
        return RedirectResponse(f"/matches?{urlencode({'done': f'{source} {source_key} is {after}.'})}", SEE_OTHER)

    @router.post("/matches/{key}/switch")
    async def switch(key: ThingName, request: Request, by: ActorName) -> Response:
        resumes = (await request.form()).get("to") == "on"
        count = await (actions.resume(key, by) if resumes else actions.pause(key, by))
        words = f"{count} of its pages are {'watched again' if resumes else 'left alone until it is resumed'}."
        return RedirectResponse(f"{match_path(key)}?{urlencode({'done': words})}", SEE_OTHER)

    @router.get("/matches/{key}")
    async def match(key: ThingName, done: Word = None) -> Response:
        found = await deps.streams.find(resource, key)
        changes = await deps.streams.changes(found.thing_id, max(0, found.seq - CHANGES_SHOWN), CHANGES_SHOWN)
        known = await actions.is_known(key)
        return render(
            "matches/match.html", key=key, path=match_path(key), board=board_of(key, found.state), found=found,
            about=metadata_of(hub, found), cursor=str(StreamCursor(hub.epoch, found.offset)),
            stream=resource.path, changes=[_shown(each) for each in reversed(changes)],
            why=await deps.why(f"match:{key}") if known else None, known=known, done=(done or "")[:200],
        )  # fmt: skip

    return router


def match_path(key: str) -> str:
    """Return the path of a match's page."""
    return f"/matches/{quote(key, safe='')}"


def _shown(change: LoggedChange) -> ShownChange:
    if change.moved_to:
        return ShownChange(entry=change, words=f"{change.moved_from or 'new'} to {change.moved_to}")
    patch = json.loads(change.patch)
    event = patch.get("last_event") or {}
    return ShownChange(entry=change, words=event.get("description") or ", ".join(sorted(patch)))
