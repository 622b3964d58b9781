"""People under `/api/v1/people`, and oneself under `/api/v1/me`."""

from fastapi import APIRouter
from pydantic import Field, StrictBool
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.access.roles import Role
from tidemill.core.access.secrets_shown import name_problem
from tidemill.core.views.access import PersonView, SessionView
from tidemill.web.answers import LinkMade, Me
from tidemill.web.api.parameters import Name
from tidemill.web.auth.gate import ActorName, caller_of
from tidemill.web.deps import WebDeps
from tidemill.web.responses import BadParameter, Counted, Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses
from tidemill.web.strict_input import RequestBody


class NewPerson(RequestBody):
    """Somebody who is to sign in."""

    name: str = Field(min_length=1, max_length=80)
    role: Role


class PersonChange(RequestBody):
    """What changes about a person; what is left out stays."""

    role: Role | None = None
    disabled: StrictBool | None = None


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of people."""
    router = APIRouter(prefix="/api/v1", tags=["people"])
    _people(router, deps)
    _oneself(router, deps)
    return router


def _people(router: APIRouter, deps: WebDeps) -> None:
    people = deps.access.people

    @router.get("/people", responses=json_responses(Listed[PersonView], 401, 403, 503))
    async def every() -> Response:
        """List who can sign in."""
        return json_response(Listed(await people.every()))

    @router.post("/people", status_code=201, responses=json_responses(LinkMade, *CHANGE_ERRORS, 409))
    async def invite(wanted: NewPerson, by: ActorName) -> Response:
        """Invite a person: the answer holds the link by which they choose a password."""
        if problem := name_problem(wanted.name):
            raise BadParameter(problem)
        return json_response(LinkMade(welcome_path(await people.invite(wanted.name, wanted.role, by))), 201)

    @router.patch("/people/{name}", responses=json_responses(PersonView, *CHANGE_ERRORS, 409))
    async def change(name: Name, wanted: PersonChange, by: ActorName) -> Response:
        """Give a person another role, or switch them off or on; their sessions end."""
        if wanted.role is None and wanted.disabled is None:
            msg = "nothing to change: give `role` or `disabled`"
            raise BadParameter(msg)
        if wanted.role is not None:
            found = await people.change_role(name, wanted.role, by)
        if wanted.disabled is not None:
            found = await people.set_disabled(name, by, disabled=wanted.disabled)
        return json_response(found)

    @router.delete("/people/{name}", responses=json_responses(PersonView, *CHANGE_ERRORS, 409))
    async def remove(name: Name, by: ActorName) -> Response:
        """Remove a person; what they did stays in the audit log."""
        return json_response(await people.remove(name, by))

    @router.post("/people/{name}/reset", status_code=201, responses=json_responses(LinkMade, *CHANGE_ERRORS))
    async def reset(name: Name, by: ActorName) -> Response:
        """Make a link by which a person chooses a new password."""
        return json_response(LinkMade(welcome_path(await people.reset(name, by))), 201)


def _oneself(router: APIRouter, deps: WebDeps) -> None:
    @router.get("/me", responses=json_responses(Me, 401))
    async def me(request: Request) -> Response:
        """Tell who the caller is to us, and what they may do."""
        caller = caller_of(request)
        return json_response(Me(caller.name, caller.kind, caller.role))

    @router.get("/me/sessions", responses=json_responses(Listed[SessionView], 401, 503))
    async def sessions(request: Request) -> Response:
        """List one's own sessions."""
        return json_response(Listed(await deps.access.signing_in.sessions(caller_of(request).name)))

    @router.delete("/me/sessions/{session}", responses=json_responses(Counted, *CHANGE_ERRORS))
    async def end(session: Name, request: Request) -> Response:
        """End one of one's own sessions."""
        name = caller_of(request).name
        return json_response(Counted(await deps.access.signing_in.end(name, session, name)))


def welcome_path(secret: str) -> str:
    """Return the path of a one-time link."""
    return f"/welcome?link={secret}"
