"""Outside services and suggested fetcher upgrades under `/api/v1`."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from tidemill.core.degradation import ServiceStatus
from tidemill.core.views import UpgradeView
from tidemill.web.acting import may_act
from tidemill.web.answers import Listed, json_answer
from tidemill.web.api.questions import Name
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers


def services(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1", tags=["services"])
    actor = Depends(may_act(deps))

    @router.get("/services", responses=answers(Listed[ServiceStatus], 503))
    async def standing() -> Response:
        """List outside services: how each stands, since when, why, and what happens instead."""
        return json_answer(Listed(list(await deps.services())))

    @router.get("/upgrades", responses=answers(Listed[UpgradeView], 503))
    async def upgrades() -> Response:
        """List the sources for which another fetcher is suggested, and what became of earlier suggestions."""
        return json_answer(Listed(await deps.upgrades.every(everything=True)))

    @router.post("/upgrades/{name}/accept", responses=answers(UpgradeView, 401, 403, 404, 422, 503))
    async def accept(name: Name, acting: Annotated[str, actor]) -> Response:
        """Let a source be got by the suggested fetcher from now on."""
        return json_answer(await deps.upgrades.accept(name, acting))

    @router.post("/upgrades/{name}/dismiss", responses=answers(UpgradeView, 401, 403, 404, 422, 503))
    async def dismiss(name: Name, acting: Annotated[str, actor]) -> Response:
        """Leave a source as it is, and do not suggest the same again."""
        return json_answer(await deps.upgrades.dismiss(name, acting))

    return router
