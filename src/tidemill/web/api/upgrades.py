"""Suggested fetcher upgrades under `/api/v1/upgrades`: list, accept, dismiss."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views import UpgradeView
from tidemill.web.api.parameters import Name
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of suggested upgrades."""
    router = APIRouter(prefix="/api/v1", tags=["services"])

    @router.get("/upgrades", responses=json_responses(Listed[UpgradeView], 503))
    async def upgrades() -> Response:
        """List the sources for which another fetcher is suggested, and what became of earlier suggestions."""
        return json_response(Listed(await deps.upgrades.every(everything=True)))

    @router.post("/upgrades/{name}/accept", responses=json_responses(UpgradeView, *CHANGE_ERRORS))
    async def accept(name: Name, by: ActorName) -> Response:
        """Let a source be got by the suggested fetcher from now on."""
        return json_response(await deps.upgrades.accept(name, by))

    @router.post("/upgrades/{name}/dismiss", responses=json_responses(UpgradeView, *CHANGE_ERRORS))
    async def dismiss(name: Name, by: ActorName) -> Response:
        """Leave a source as it is, and do not suggest the same again."""
        return json_response(await deps.upgrades.dismiss(name, by))

    return router
