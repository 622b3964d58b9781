"""Targets under `/api/v1/targets`: list, add, import, pause, resume, remove."""

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.target import Target, TargetStatus
from tidemill.core.views import TargetDetail, TargetFilter, TargetView
from tidemill.operations.importing import Imported
from tidemill.web import lookup
from tidemill.web.api.parameters import Cursor, DryRunFlag, Key, Limit, ReasonGiven, Text, Word, key_cursor
from tidemill.web.api.uploads import whole_file
from tidemill.web.auth.gate import ActorName
from tidemill.web.conditional import require_match
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, ResourceNotFound, json_response, list_page, redacted_response
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


class TargetChange(RequestBody):
    """What is to change; what is left out stays."""

    schedule: str | None = Field(None, max_length=100)
    priority: int = Field(0, ge=-1_000, le=1_000)


async def _found(deps: WebDeps, target_id: int) -> TargetDetail:
    found = await deps.views.target(target_id, deps.clock.now())
    if found is None:
        msg = f"There is no target {target_id}."
        raise ResourceNotFound(msg, "`/api/v1/targets` lists them.")
    return found


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of targets."""
    router = APIRouter(prefix="/api/v1", tags=["targets"])
    _list_and_add(router, deps)
    _change(router, deps)
    return router


def _list_and_add(router: APIRouter, deps: WebDeps) -> None:
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
        return redacted_response(list_page(found, limit))

    @router.get("/targets/{target_id:int}", responses=json_responses(TargetDetail, 404, 422, 503))
    async def target(target_id: Key) -> Response:
        """Show a target with its source, its host and its latest jobs."""
        return redacted_response(await _found(deps, target_id))

    @router.post("/targets", responses=json_responses(Target, *CHANGE_ERRORS))
    async def add(wanted: NewTarget, by: ActorName) -> Response:
        """Add a page to a source."""
        named = wanted.model_dump(exclude_none=True, exclude={"source", "url"})
        return json_response(await deps.targets.add(wanted.source, wanted.url, by, named), 201)

    @router.post("/targets/import", responses=json_responses(Imported, *CHANGE_ERRORS))
    async def bring_in(request: Request, by: ActorName, dry_run: DryRunFlag = False) -> Response:  # noqa: FBT002 - a query
        """Bring in a CSV of targets, sent as the body; good rows are kept, bad ones reported by line."""
        return json_response(await deps.importer.targets_file(await whole_file(request), by, dry_run=dry_run))


def _change(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/targets/{target_id}/pause", responses=json_responses(Target, *CHANGE_ERRORS))
    async def pause(target_id: Key, why: ReasonGiven, by: ActorName) -> Response:
        """Leave a target alone until it is resumed."""
        return json_response(await deps.targets.pause(str(target_id), by, why.reason))

    @router.post("/targets/{target_id}/resume", responses=json_responses(Target, *CHANGE_ERRORS))
    async def resume(target_id: Key, by: ActorName) -> Response:
        """Take a paused or broken target up again."""
        return json_response(await deps.targets.resume(str(target_id), by))

    @router.patch("/targets/{target_id:int}", responses=json_responses(TargetDetail, *CHANGE_ERRORS, 412))
    async def change(target_id: Key, wanted: TargetChange, request: Request, by: ActorName) -> Response:
        """Change a target's schedule (null is its source's own) or priority; what is left out stays.

        With If-Match it is changed only while it is as it was read.
        """
        before = await _found(deps, target_id)
        require_match(request, before)
        said = wanted.model_dump(exclude_unset=True)
        schedule = said.get("schedule", before.target.schedule)
        await deps.targets.change(str(target_id), by, schedule=schedule, priority=said.get("priority"))
        return redacted_response(await _found(deps, target_id))

    @router.delete("/targets/{target_id:int}", responses=json_responses(Target, *CHANGE_ERRORS))
    async def remove(target_id: Key, by: ActorName) -> Response:
        """Remove a target; its pages and records stay."""
        return json_response(await deps.targets.remove(str(target_id), by))
