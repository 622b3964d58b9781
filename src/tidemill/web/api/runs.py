"""Runs under `/api/v1`: list them, look at one, and start one by hand under the gates of the schedule."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.admission import Rejection
from tidemill.core.run import RunStatus
from tidemill.core.views import RunDetail, RunView
from tidemill.operations.mistakes import SwitchedOff
from tidemill.operations.runs import Started
from tidemill.web import lookup
from tidemill.web.api.parameters import Cursor, Key, Limit, Name, Word, run_cursor
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, error_response, json_response, list_page
from tidemill.web.schemas import json_responses

START_ERRORS = (401, 403, 404, 409, 422, 429, 503)


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of runs."""
    router = APIRouter(prefix="/api/v1", tags=["runs"])
    _start(router, deps)
    _read(router, deps)
    return router


def _start(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/targets/{target_id}/run", responses=json_responses(Started, *START_ERRORS))
    async def run_target(target_id: Key, by: ActorName) -> Response:
        """Scrape one target now: 409 when it is off, 429 with Retry-After when there is no room."""
        return start_response(await deps.runs.start_target(str(target_id), by))

    @router.post("/sources/{name}/run", responses=json_responses(Started, *START_ERRORS))
    async def run_source(name: Name, by: ActorName) -> Response:
        """Scrape every target of a source now: 409 when it is off, 429 with Retry-After when there is no room."""
        return start_response(await deps.runs.start_source(name, by))


def _read(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/runs", responses=json_responses(Listed[RunView], 404, 422, 503))
    async def runs(
        source: Word = None, status: RunStatus | None = None, cursor: Cursor = None, limit: Limit = 50
    ) -> Response:
        """List runs, the newest first."""
        source_id = await lookup.source_id(deps, source)
        found = await deps.views.runs(source_id, status, before=run_cursor(cursor), limit=limit + 1)
        return json_response(list_page(found, limit))

    @router.get("/runs/{run_id}", responses=json_responses(RunDetail, 404, 422, 503))
    async def run(run_id: Key) -> Response:
        """Show a run, stage by stage, with its jobs; those that failed stand first."""
        return json_response(await lookup.run(deps, run_id))


def start_response(done: Started) -> Response:
    """Return what came of asking for a run: 202, or 429 if all of it was turned away."""
    if done.jobs or not done.rejected:
        return json_response(done, 202)
    if done.reason == Rejection.ADAPTER_DISABLED:
        msg = "its adapter is switched off"
        raise SwitchedOff(msg)
    seconds = max(1, round(done.retry_after_seconds or 1))
    words = f"Turned away: {str(done.reason).replace('_', ' ')}."
    response = error_response(429, str(done.reason), words, f"Try again in {seconds} seconds.")
    response.headers["Retry-After"] = str(seconds)
    return response
