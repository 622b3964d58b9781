"""What people do with matches over HTTP: pause and resume one, and settle which match a site's id means."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from tidemill.verticals.matches.actions import MatchActions
from tidemill.verticals.matches.views import MappedId
from tidemill.web.auth.gate import ActorName
from tidemill.web.responses import Counted, Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.stream.routes import ThingName
from tidemill.web.strict_input import RequestBody

ACTING_RESPONSE_TYPES = (Counted, Listed[MappedId], MappedId)


class SettledId(RequestBody):
    """Which match a source's id means; without one, that which it has already."""

    source: str = Field(max_length=300)
    source_key: str = Field(max_length=300)
    match: str | None = Field(None, max_length=300)


def acting_router(matches: MatchActions) -> APIRouter:
    """Return the routes; they stand before those of streams, whose names of matches would swallow them."""
    router = APIRouter(prefix="/api/v1", tags=["matches"])

    @router.get("/match-ids", responses=json_responses(Listed[MappedId], 503))
    async def doubts() -> Response:
        """List the ids of sites that wait for a person to say which match they mean."""
        return json_response(Listed(await matches.doubts()))

    @router.post("/match-ids/settle", responses=json_responses(Listed[MappedId], *CHANGE_ERRORS))
    async def settle(said: SettledId, by: ActorName) -> Response:
        """Let a source's id mean a match; what is left to settle is answered."""
        await matches.settle(said.source, said.source_key, said.match, by)
        return json_response(Listed(await matches.doubts()))

    @router.post("/matches/{key}/pause", responses=json_responses(Counted, *CHANGE_ERRORS))
    async def pause(key: ThingName, by: ActorName) -> Response:
        """Leave the pages of a match alone until it is resumed."""
        return json_response(Counted(await matches.pause(key, by)))

    @router.post("/matches/{key}/resume", responses=json_responses(Counted, *CHANGE_ERRORS))
    async def resume(key: ThingName, by: ActorName) -> Response:
        """Take the pages of a match up again."""
        return json_response(Counted(await matches.resume(key, by)))

    return router
