"""Targets under `/api/v1/targets`: list, add, import, pause, resume, remove."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.target import Target, TargetStatus
from tidemill.core.views import TargetFilter, TargetView
from tidemill.operations.importing import Imported
from tidemill.operations.plans import LARGEST_FILE
from tidemill.web import lookup
from tidemill.web.api.parameters import Cursor, Key, Limit, ReasonGiven, Text, Word, key_cursor
from tidemill.web.authorization import require_actor
from tidemill.web.deps import WebDeps
from tidemill.web.responses import BadParameter, Listed, json_response, list_page
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody


class NewTarget(RequestBody):
    """A page to scrape under a source."""

    source: str = Field(max_length=300)
    url: str = Field(max_length=2_000)
    adapter: str | None = Field(None, max_length=100)
    schedule: str | None = Field(None, max_length=100)
    priority: int = Field(0, ge=-1_000, le=1_000)
    notes: str | None = Field(None, max_length=1_000)


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of targets."""
    router = APIRouter(prefix="/api/v1", tags=["targets"])
    _list_and_add(router, deps)
    _change(router, deps)
    return router


def _list_and_add(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(require_actor(deps))

    @router.get("/targets", responses=json_responses(Listed[TargetView], 404, 422, 503))
    async def targets(
        source: Word = None,
        status: TargetStatus | None = None,
        text: Text = None,
        cursor: Cursor = None,
        limit: Limit = 100,
    ) -> Response:
        """List targets in order of key."""
        which = TargetFilter(source_id=await lookup.source_id(deps, source), status=status, text=text or None)
        found = await deps.views.targets(which, after=key_cursor(cursor), limit=limit + 1)
        return json_response(list_page(found, limit))

    @router.post("/targets", responses=json_responses(Target, *CHANGE_ERRORS))
    async def add(wanted: NewTarget, by: Annotated[str, actor]) -> Response:
        """Add a page to a source."""
        named = wanted.model_dump(exclude_none=True, exclude={"source", "url"})
        return json_response(await deps.targets.add(wanted.source, wanted.url, by, named), 201)

    @router.post("/targets/import", responses=json_responses(Imported, *CHANGE_ERRORS))
    async def bring_in(request: Request, by: Annotated[str, actor]) -> Response:
        """Bring in a CSV of targets, sent as the body; good rows are kept, bad ones reported by line."""
        return json_response(await deps.importer.targets_file(await _body(request), by))


async def _body(request: Request) -> bytes:
    """The body, unless it is larger than any file that is read."""
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST_FILE:
            msg = f"the file is larger than {LARGEST_FILE} bytes; split it"
            raise BadParameter(msg)
    return content


def _change(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(require_actor(deps))

    @router.post("/targets/{target_id}/pause", responses=json_responses(Target, *CHANGE_ERRORS))
    async def pause(target_id: Key, why: ReasonGiven, by: Annotated[str, actor]) -> Response:
        """Leave a target alone until it is resumed."""
        return json_response(await deps.targets.pause(str(target_id), by, why.reason))

    @router.post("/targets/{target_id}/resume", responses=json_responses(Target, *CHANGE_ERRORS))
    async def resume(target_id: Key, by: Annotated[str, actor]) -> Response:
        """Take a paused or broken target up again."""
        return json_response(await deps.targets.resume(str(target_id), by))

    @router.delete("/targets/{target_id:int}", responses=json_responses(Target, *CHANGE_ERRORS))
    async def remove(target_id: Key, by: Annotated[str, actor]) -> Response:
        """Remove a target; its pages and records stay."""
        return json_response(await deps.targets.remove(str(target_id), by))
