"""Error responses: a page for a person, JSON for a program."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tidemill.core.checks.suggestions import unknown_name
from tidemill.operations.access.signing_in import SignInRefused
from tidemill.operations.mistakes import Conflict, Mistake, NotFound
from tidemill.pipeline.ports import StoreError
from tidemill.web.auth.refusals import NotAllowed
from tidemill.web.conditional import PreconditionFailed
from tidemill.web.extension import RenderPage
from tidemill.web.responses import BadParameter, ErrorText, Expired, ResourceNotFound, error_response
from tidemill.web.stream.queries import MalformedCursor

UNAUTHORIZED, TOO_OFTEN, AWAY = 401, 429, 503
AWAY_SECONDS = 5
_QUOTED = re.compile(r"'([^']*)'")

METHOD_NOT_ALLOWED = 405
KINDS = (
    HTTPException, RequestValidationError, StoreError, TimeoutError, ResourceNotFound, NotAllowed, SignInRefused,
    PreconditionFailed, BadParameter, Expired, MalformedCursor, Mistake, Exception,
)  # fmt: skip


def handle_errors(app: FastAPI, render: RenderPage) -> None:
    """Register a handler for every kind of error."""
    methods = AllowedMethods(app)

    async def respond(request: Request, error: Exception) -> Response:
        status, text = explain(error)
        if is_for_a_person(request):
            if status == UNAUTHORIZED and request.method == "GET":
                return RedirectResponse(f"/sign-in?next={quote(str(request.url.path), safe='/')}", 303)
            response = render("error.html", status, error=text, code=status)
        else:
            response = error_response(status, text.code, text.message, text.hint)
        response.headers.update(_headers(error, status))
        if status == METHOD_NOT_ALLOWED:
            allowed = methods.of(request.url.path) or (getattr(error, "headers", None) or {}).get("Allow", "GET")
            response.headers["Allow"] = allowed
        return response

    for kind in KINDS:
        app.add_exception_handler(kind, respond)


def _headers(error: Exception, status: int) -> dict[str, str]:
    """Return what an error says in headers: the methods that are allowed, when to come back, how to show who one is."""
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if isinstance(error, NotAllowed) and error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    elif status == AWAY:
        headers["Retry-After"] = str(AWAY_SECONDS)
    if status == UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return headers


class AllowedMethods:
    """Which methods each address of the API takes, by its description, which is read once."""

    def __init__(self, app: FastAPI) -> None:
        """The description is made when it is first needed: routes are still being added."""
        self._app = app

    @cached_property
    def _described(self) -> list[tuple[re.Pattern[str], int, str]]:
        paths = self._app.openapi()["paths"].items()
        return [
            (_path_pattern(path), path.count("{"), ", ".join(sorted(map(str.upper, methods))))
            for path, methods in paths
        ]

    def of(self, path: str) -> str:
        """Return the methods of the address that a path means: of those that fit, that with the fewest parameters."""
        fitting = [(parameters, methods) for pattern, parameters, methods in self._described if pattern.fullmatch(path)]
        return min(fitting)[1] if fitting else ""


def _path_pattern(template: str) -> re.Pattern[str]:
    return re.compile(
        "".join("[^/]+" if part.startswith("{") else re.escape(part) for part in _PARAMETER.split(template))
    )


_PARAMETER = re.compile(r"(\{\w+\})")


def is_for_a_person(request: Request) -> bool:
    """Return whether a browser asks for a page, rather than a program for data."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def explain(error: Exception) -> tuple[int, ErrorText]:  # noqa: C901, PLR0911, PLR0912 - one line per kind of error, read as a table
    """Return an error's status and what to say about it; a bug's own message stays inside."""
    match error:
        case ResourceNotFound(message=message, hint=hint):
            return 404, ErrorText("not_found", message, hint)
        case NotAllowed(status=status, message=message, hint=hint):
            return status, ErrorText("too_many_requests" if status == TOO_OFTEN else "not_allowed", message, hint)
        case SignInRefused():
            return 401, ErrorText("not_allowed", f"{error}")
        case PreconditionFailed():
            return 412, ErrorText("changed_meanwhile", f"{error}", "Read it again, and repeat your change.")
        case NotFound():
            return 404, ErrorText("not_found", f"{error}")
        case Conflict():
            return 409, ErrorText("conflict", f"{error}")
        case Expired():
            return 410, ErrorText("cursor_expired", f"{error}", "Read the list again, and follow on from there.")
        case MalformedCursor():
            hint = "A cursor is what `id:` of an event or X-Stream-Cursor said: 8 hex digits, a dot, a number."
            return 400, ErrorText("malformed_cursor", "This is no cursor.", hint)
        case BadParameter() | Mistake():
            return 422, ErrorText("bad_parameter", f"{error}")
        case RequestValidationError():
            return 422, ErrorText(
                "bad_parameter", _bad_parameters(error), "See /api/v1/openapi.json for what is allowed."
            )
        case StoreError():
            return 503, ErrorText("database_away", f"{error}", "Try again in a moment; /health says how things stand.")
        case TimeoutError():
            return 503, ErrorText("database_away", "The database did not answer in time.", "Try again in a moment.")
        case HTTPException(status_code=404):
            return 404, ErrorText("not_found", "There is nothing at this address.", "See /api/v1/openapi.json.")
        case HTTPException(status_code=405):
            return 405, ErrorText(
                "wrong_method", "This address does not take that method.", "The header Allow says which."
            )
        case HTTPException(status_code=400):
            return 422, ErrorText("bad_parameter", "The body cannot be read.", "Send JSON in UTF-8.")
        case HTTPException(status_code=status, detail=detail):
            return status, ErrorText("refused", str(detail))
        case _:
            return 500, ErrorText("bug", "Something broke on our side.", "The log holds its trace.")


def _bad_parameters(error: RequestValidationError) -> str:
    """Return which parameters are invalid and why; a value is repeated only beside those that it could have been."""
    return "; ".join(_bad_parameter(each) for each in error.errors())


def _bad_parameter(problem: Mapping[str, Any]) -> str:
    name, said = problem["loc"][-1], str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] in {"enum", "literal_error"}:
        return f"{name}: {unknown_name('value', str(problem['input']), _QUOTED.findall(said))}"
    return said if name == "body" else f"{name}: {said}"
