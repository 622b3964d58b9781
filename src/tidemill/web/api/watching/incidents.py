"""Incidents under `/api/v1/incidents`, what was sent about them, summaries of runs, and a test message."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from tidemill.core.alerts.rounds import RoundSummary
from tidemill.core.views.incidents import IncidentDetail, IncidentView
from tidemill.operations.incidents import AlertLine, TestedChannel
from tidemill.store.alerts.outbox import OutboxLine
from tidemill.web.api.parameters import LONGEST_TEXT, Key, Limit
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody


class IncidentWords(RequestBody):
    """What somebody says about an incident."""

    note: str = Field("", max_length=LONGEST_TEXT)


class IncidentSnooze(RequestBody):
    """For how long nothing is said of an incident."""

    minutes: int = Field(ge=1, le=43_200)
    note: str = Field("", max_length=LONGEST_TEXT)


class ChannelWanted(RequestBody):
    """By which channel a test message is sent; by all that are set up if none is named."""

    channel: str | None = Field(None, max_length=20)


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of incidents."""
    router = APIRouter(prefix="/api/v1", tags=["incidents"])
    _read(router, deps)
    _act(router, deps)
    return router


def _read(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/incidents", responses=json_responses(Listed[IncidentView], 422, 503))
    async def incidents(
        over: Annotated[bool, Query(description="Also those that are over.")] = False,  # noqa: FBT002 - a query's flag
        limit: Limit = 50,
    ) -> Response:
        """List what people are told of: open ones with the most urgent first, or all with the newest first."""
        return json_response(Listed(await deps.incidents.every(open_only=not over, limit=limit)))

    @router.get("/incidents/{incident_id:int}", responses=json_responses(IncidentDetail, 404, 422, 503))
    async def incident(incident_id: Key) -> Response:
        """Show an incident with its notes, what it means, what to do, and its runbook."""
        return json_response(await deps.incidents.show(incident_id))

    @router.get("/alerts/rules", responses=json_responses(Listed[AlertLine], 422, 503))
    async def rules() -> Response:
        """List every alert there is: when it is told, to whom, what it means, and how many incidents of it are open."""
        return json_response(Listed(await deps.incidents.rules()))

    @router.get("/alerts/outbox", responses=json_responses(Listed[OutboxLine], 422, 503))
    async def outbox(limit: Limit = 50) -> Response:
        """List the newest messages to people, sent or waiting."""
        return json_response(Listed(await deps.incidents.outbox(limit)))

    @router.get("/rounds", responses=json_responses(Listed[RoundSummary], 422, 503))
    async def rounds(limit: Limit = 20) -> Response:
        """List the last rounds of runs with their summaries, the newest first."""
        return json_response(Listed(list(await deps.rounds(limit))))


def _act(router: APIRouter, deps: WebDeps) -> None:
    changed = json_responses(IncidentDetail, *CHANGE_ERRORS)

    @router.post("/incidents/{incident_id:int}/acknowledge", responses=changed)
    async def acknowledge(incident_id: Key, words: IncidentWords, by: ActorName) -> Response:
        """Say that somebody is at it: it is not repeated any more."""
        return json_response(await deps.incidents.acknowledge(incident_id, by, words.note))

    @router.post("/incidents/{incident_id:int}/snooze", responses=changed)
    async def snooze(incident_id: Key, wanted: IncidentSnooze, by: ActorName) -> Response:
        """Say nothing of it for a while."""
        length = timedelta(minutes=wanted.minutes)
        return json_response(await deps.incidents.snooze(incident_id, by, length, wanted.note))

    @router.post("/incidents/{incident_id:int}/comment", responses=changed)
    async def comment(incident_id: Key, words: IncidentWords, by: ActorName) -> Response:
        """Write something down about it."""
        return json_response(await deps.incidents.comment(incident_id, by, words.note))

    @router.post("/incidents/{incident_id:int}/close", responses=changed)
    async def close(incident_id: Key, words: IncidentWords, by: ActorName) -> Response:
        """Close it by hand; if its condition still holds, it opens anew."""
        return json_response(await deps.incidents.close(incident_id, by, words.note))

    @router.post("/alerts/test", responses=json_responses(Listed[TestedChannel], *CHANGE_ERRORS))
    async def test(wanted: ChannelWanted, by: ActorName) -> Response:
        """Send a test message now, and answer what became of it."""
        return json_response(Listed(await deps.incidents.test(by, wanted.channel)))
