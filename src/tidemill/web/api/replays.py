"""Replays under `/api/v1/replays`: start, look, accept, refuse, apply, revert."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.background import BackgroundTask
from starlette.responses import Response

from tidemill.core.replay.views import ReadingChange, ReplayView, ReplayWithReport
from tidemill.operations.replay.requests import ReplayRequest
from tidemill.web.api.parameters import Key, Name
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses

Waiting = Annotated[bool, Query(description="Only those that wait for a person.")]


class NewReplay(BaseModel):
    """A replay to start; exactly one of `source`, `adapter` and `vertical` is named."""

    model_config = ConfigDict(extra="forbid")

    source: str = Field("", max_length=200)
    adapter: str = Field("", max_length=200)
    vertical: str = Field("", max_length=50)
    since: str = Field("", max_length=20, description="How old pages may be: 12h, 30d or 4w.")
    pages: int = Field(200, ge=1, le=2_000, description="The newest pages that are read.")
    with_version: str = Field("", max_length=50)
    selectors: dict[str, Any] | None = Field(None, description="Selectors that stand in for those of the source.")


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of replays."""
    router = APIRouter(prefix="/api/v1", tags=["replays"])

    @router.get("/replays", responses=json_responses(Listed[ReplayView], 422, 503))
    async def listed(*, waiting: Waiting = False) -> Response:
        """List replays, the newest first."""
        return json_response(Listed(await deps.replays.every(waiting=waiting)))

    @router.get("/reading-changes", responses=json_responses(Listed[ReadingChange], 503))
    async def changes() -> Response:
        """List changes of reading: versions of adapters and selectors of sources, and what the gate made of each."""
        return json_response(Listed(await deps.replays.every_change()))

    @router.get("/replays/{replay_id}", responses=json_responses(ReplayWithReport, 404, 422, 503))
    async def one(replay_id: Key) -> Response:
        """Show a replay with its report."""
        return json_response(await deps.replays.show(replay_id))

    @router.post("/replays", responses=json_responses(ReplayView, *CHANGE_ERRORS))
    async def start(asked: NewReplay, by: ActorName) -> Response:
        """Start a replay; its report is there once all pages are read."""
        started = await deps.replays.start(ReplayRequest(**asked.model_dump()), by)
        answer = json_response(started)
        answer.background = BackgroundTask(deps.replays.run, started.id)
        return answer

    @router.post("/replays/{replay_id}/accept", responses=json_responses(ReplayView, *CHANGE_ERRORS))
    async def accept(replay_id: Key, by: ActorName) -> Response:
        """Accept what a replay shows: a change that waited takes effect."""
        return json_response(await deps.replays.accept(replay_id, by))

    @router.post("/replays/{replay_id}/refuse", responses=json_responses(ReplayView, *CHANGE_ERRORS))
    async def refuse(replay_id: Key, by: ActorName) -> Response:
        """Refuse what a replay shows: everything stays as it is."""
        return json_response(await deps.replays.refuse(replay_id, by))

    @router.post("/replays/{replay_id}/apply", responses=json_responses(ReplayView, *CHANGE_ERRORS))
    async def apply(replay_id: Key, by: ActorName) -> Response:
        """Bring an accepted reading into the records, as corrections that name this replay."""
        return json_response(await deps.replays.apply(replay_id, by))

    @router.post("/sources/{name}/roll-back", responses=json_responses(ReplayWithReport, *CHANGE_ERRORS))
    async def roll_back(name: Name, by: ActorName) -> Response:
        """Go back to the selectors that a source had before its last change; they are replayed like any other."""
        return json_response(await deps.replays.roll_back(name, by))

    @router.post("/replays/{replay_id}/revert", responses=json_responses(ReplayView, *CHANGE_ERRORS))
    async def revert(replay_id: Key, by: ActorName) -> Response:
        """Take back what applying a replay did."""
        return json_response(await deps.replays.revert(replay_id, by))

    return router
