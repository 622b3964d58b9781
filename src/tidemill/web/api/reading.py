"""Read access to sources and runs under `/api/v1`."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views import RunDetail, RunView, SourceDetail, SourceView
from tidemill.operations.explanation import Explanation
from tidemill.web import lookup
from tidemill.web.answers import Listed, json_answer
from tidemill.web.api.questions import Cursor, Key, Limit, Name, Word, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers


def reading(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1")
    _sources(router, deps)
    _runs(router, deps)
    _why(router, deps)
    return router


def _sources(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/sources", tags=["sources"], responses=answers(Listed[SourceView], 422, 503))
    async def sources(vertical: Word = None) -> Response:
        """List all sources by name, with whether they may be asked now and if not why."""
        found = await deps.views.sources(deps.clock.now(), vertical=vertical)
        return json_answer(Listed(found))

    @router.get("/sources/{name:path}", tags=["sources"], responses=answers(SourceDetail, 404, 422, 503))
    async def source(name: Name) -> Response:
        """Show a source with its breaker, hosts, jobs and latest runs; by name or number."""
        return json_answer(await lookup.source(deps, name))


def _runs(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/runs", tags=["runs"], responses=answers(Listed[RunView], 404, 422, 503))
    async def runs(source: Word = None, status: Word = None, cursor: Cursor = None, limit: Limit = 50) -> Response:
        """List runs, the newest first."""
        source_id = None if source is None else (await lookup.source(deps, source)).view.id
        found = await deps.views.runs(source_id, status, before=run_cursor(cursor), limit=limit + 1)
        following = str(found[limit - 1].id) if len(found) > limit else None
        return json_answer(Listed(found[:limit], following))

    @router.get("/runs/{run_id}", tags=["runs"], responses=answers(RunDetail, 404, 422, 503))
    async def run(run_id: Key) -> Response:
        """Show a run, stage by stage, with its jobs; those that failed stand first."""
        return json_answer(await lookup.run(deps, run_id))


def _why(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/why/{subject:path}", tags=["why"], responses=answers(Explanation, 404, 422, 503))
    async def why(subject: Name) -> Response:
        """Explain `source:NAME`, `target:ID`, `job:ID`, `run:ID` or `event:ID.field`: which gate, rule and page."""
        return json_answer(await deps.why(subject))
