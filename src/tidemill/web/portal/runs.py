"""The pages of runs."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.web import lookup
from tidemill.web.api.parameters import Cursor, Key, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage

RUNS_PER_PAGE = 50


def add_run_pages(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the list of runs and the page of one."""

    @router.get("/runs")
    async def runs(cursor: Cursor = None) -> Response:
        found = await deps.views.runs(before=run_cursor(cursor), limit=RUNS_PER_PAGE + 1)
        shown = found[:RUNS_PER_PAGE]
        following = f"/runs?cursor={shown[-1].id}" if len(found) > RUNS_PER_PAGE else None
        return render("runs.html", runs=shown, following=following)

    @router.get("/runs/{run_id}")
    async def run(run_id: Key) -> Response:
        return render("run.html", detail=await lookup.run(deps, run_id))
