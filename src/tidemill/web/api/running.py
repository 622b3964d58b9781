"""Targets, runs by hand and adapters under `/api/v1`: manual triggers obey the gates of the schedule."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.admission import Rejection
from tidemill.core.target import Target, TargetStatus
from tidemill.core.views import TargetFilter, TargetView
from tidemill.core.views.quality import IncidentView
from tidemill.operations.adapters import AdapterLine, Blessed, Enabled
from tidemill.operations.importing import Imported
from tidemill.operations.mistakes import SwitchedOff
from tidemill.operations.plans import LARGEST_FILE
from tidemill.operations.runs import Started
from tidemill.verticals.prices.api import key_cursor
from tidemill.web import lookup
from tidemill.web.acting import may_act
from tidemill.web.answers import BadQuestion, Listed, error_answer, json_answer
from tidemill.web.api.deciding import ACTING
from tidemill.web.api.questions import Cursor, Key, Limit, Name, Text, Word
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers

STARTING = (401, 403, 404, 409, 422, 429, 503)


class NewTarget(BaseModel):
    """A page to scrape under a source."""

    source: str = Field(max_length=300)
    url: str = Field(max_length=2_000)
    adapter: str | None = Field(None, max_length=100)
    schedule: str | None = Field(None, max_length=100)
    priority: int = Field(0, ge=-1_000_000, le=1_000_000)
    notes: str | None = Field(None, max_length=1_000)


class ReasonGiven(BaseModel):
    """Why, for the audit log."""

    reason: str = Field("", max_length=1_000)


def running(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1")
    _targets(router, deps)
    _changes_of_targets(router, deps)
    _starts(router, deps)
    _adapters(router, deps)
    return router


def _targets(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))

    @router.get("/targets", tags=["targets"], responses=answers(Listed[TargetView], 404, 422, 503))
    async def targets(
        source: Word = None,
        status: TargetStatus | None = None,
        text: Text = None,
        cursor: Cursor = None,
        limit: Limit = 100,
    ) -> Response:
        """List targets in order of key."""
        owner = None if source is None else (await lookup.source(deps, source)).view.id
        which = TargetFilter(source_id=owner, status=status, text=text or None)
        found = await deps.views.targets(which, after=key_cursor(cursor), limit=limit + 1)
        return json_answer(Listed(found[:limit], str(found[limit - 1].id) if len(found) > limit else None))

    @router.post("/targets", tags=["targets"], responses=answers(Target, *ACTING))
    async def add(wanted: NewTarget, acting: Annotated[str, actor]) -> Response:
        """Add a page to a source."""
        named = wanted.model_dump(exclude_none=True, exclude={"source", "url"})
        return json_answer(await deps.actions.targets.add(wanted.source, wanted.url, acting, named), 201)

    @router.post("/targets/import", tags=["targets"], responses=answers(Imported, *ACTING))
    async def bring_in(request: Request, acting: Annotated[str, actor]) -> Response:
        """Bring in a CSV of targets, sent as the body; good rows are kept, bad ones reported by line."""
        return json_answer(await deps.actions.importer.targets_file(await _body(request), acting))


async def _body(request: Request) -> bytes:
    """The body, unless it is larger than any file that is read."""
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST_FILE:
            msg = f"the file is larger than {LARGEST_FILE} bytes; split it"
            raise BadQuestion(msg)
    return content


def _changes_of_targets(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))

    @router.post("/targets/{target_id}/pause", tags=["targets"], responses=answers(Target, *ACTING))
    async def pause(target_id: Key, why: ReasonGiven, acting: Annotated[str, actor]) -> Response:
        """Leave a target alone until it is resumed."""
        return json_answer(await deps.actions.targets.pause(str(target_id), acting, why.reason))

    @router.post("/targets/{target_id}/resume", tags=["targets"], responses=answers(Target, *ACTING))
    async def resume(target_id: Key, acting: Annotated[str, actor]) -> Response:
        """Take a paused or broken target up again."""
        return json_answer(await deps.actions.targets.resume(str(target_id), acting))

    @router.delete("/targets/{target_id}", tags=["targets"], responses=answers(Target, *ACTING))
    async def remove(target_id: Key, acting: Annotated[str, actor]) -> Response:
        """Remove a target; its pages and records stay."""
        return json_answer(await deps.actions.targets.remove(str(target_id), acting))


def _starts(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))

    @router.post("/targets/{target_id}/run", tags=["runs"], responses=answers(Started, *STARTING))
    async def run_target(target_id: Key, acting: Annotated[str, actor]) -> Response:
        """Scrape one target now: 409 when it is off, 429 with Retry-After when there is no room."""
        return started(await deps.actions.runs.start_target(str(target_id), acting))

    @router.post("/sources/{name}/run", tags=["runs"], responses=answers(Started, *STARTING))
    async def run_source(name: Name, acting: Annotated[str, actor]) -> Response:
        """Scrape every target of a source now: 409 when it is off, 429 with Retry-After when there is no room."""
        return started(await deps.actions.runs.start_source(name, acting))


def started(done: Started) -> Response:
    """What came of asking for a run, as HTTP says it; a part that was turned away is told in the body."""
    if done.jobs or not done.rejected:
        return json_answer(done, 202)
    if done.reason == Rejection.ADAPTER_DISABLED:
        msg = "its adapter is switched off"
        raise SwitchedOff(msg)
    seconds = max(1, round(done.retry_after_seconds or 1))
    words = f"Turned away: {str(done.reason).replace('_', ' ')}."
    answer = error_answer(429, str(done.reason), words, f"Try again in {seconds} seconds.")
    answer.headers["Retry-After"] = str(seconds)
    return answer


def _adapters(router: APIRouter, deps: WebDeps) -> None:
    actor = Depends(may_act(deps))
    desk = deps.actions.adapters

    @router.get("/adapters", tags=["adapters"], responses=answers(Listed[AdapterLine], 503))
    async def every() -> Response:
        """List adapters with their versions, and who switched which off and why."""
        return json_answer(Listed(await desk.every()))

    @router.get("/incidents", tags=["adapters"], responses=answers(Listed[IncidentView], 422, 503))
    async def incidents(
        over: Annotated[bool, Query(description="Also those that are over.")] = False,  # noqa: FBT002 - a query's flag
        limit: Limit = 50,
    ) -> Response:
        """List what drift detection noticed, the newest first."""
        return json_answer(Listed(await desk.incidents(open_only=not over, limit=limit)))

    @router.post("/adapters/{name}/enable", tags=["adapters"], responses=answers(Enabled, *ACTING))
    async def enable(
        name: Name,
        acting: Annotated[str, actor],
        careful: Annotated[bool, Query(description="Refuse when the dry run goes badly.")] = False,  # noqa: FBT002
    ) -> Response:
        """Switch an adapter on after a dry run on stored pages, which is shown; its next run is watched."""
        return json_answer(await desk.enable(name, acting, careful=careful))

    @router.post("/adapters/{name}/disable", tags=["adapters"], responses=answers(AdapterLine, *ACTING))
    async def disable(name: Name, why: ReasonGiven, acting: Annotated[str, actor]) -> Response:
        """Switch an adapter off: no page is asked for that it would read."""
        return json_answer(await desk.disable(name, acting, why.reason))

    @router.post("/adapters/{name}/bless", tags=["adapters"], responses=answers(Blessed, *ACTING))
    async def bless(name: Name, acting: Annotated[str, actor]) -> Response:
        """Take the shares of fields, as the latest runs show them, for what should be."""
        done = await desk.bless(name, acting)
        return json_answer(Blessed({each.source_id: each.shares for each in done}))
