"""The pages of freshness objectives: how each stands, what burns it, and whom it leaves out."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.web.api.parameters import Word
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage


def add_objective_page(router: APIRouter, deps: WebDeps, render: RenderPage) -> None:
    """Add the page of objectives."""

    @router.get("/objectives")
    async def objectives(name: Word = None) -> Response:
        found = await (deps.objectives.every() if name is None else _one(deps, name))
        return render("objectives.html", objectives=found, is_one=name is not None)


async def _one(deps: WebDeps, name: str) -> list[object]:
    return [await deps.objectives.find(name)]
