"""The web app: the API, the pages and what watches us, in one application."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from tidemill.operations.mistakes import Conflict, Mistake, NotFound
from tidemill.pipeline.ports import StoreError
from tidemill.verticals.events.api import events
from tidemill.verticals.listings.api.listings import listings
from tidemill.verticals.listings.api.markets import markets
from tidemill.verticals.prices.api import prices
from tidemill.web.acting import MayNot
from tidemill.web.answers import BadQuestion, ErrorText, NotThere, error_answer
from tidemill.web.api.deciding import deciding
from tidemill.web.api.discovery import discovery
from tidemill.web.api.proposals import proposals
from tidemill.web.api.reading import reading
from tidemill.web.api.running import running
from tidemill.web.api.services import services
from tidemill.web.api.watching import watching
from tidemill.web.deps import WebDeps
from tidemill.web.guard import RequestGuard
from tidemill.web.portal.pages import Pages, portal
from tidemill.web.schemas import describe
from tidemill.web.system_watch import SystemWatch

STATIC = Path(__file__).parent / "static"
DESCRIPTION = "What Tidemill scrapes and how it fares; and, for whoever may act, what a person can do about it."


class GuardedApp(FastAPI):
    """The framework's app inside our guard, so that even the answer to a bug carries its headers."""

    def __init__(self, deps: WebDeps, **described: Any) -> None:
        """`described` is what the framework wants to know."""
        self._deps = deps
        super().__init__(**described)

    def build_middleware_stack(self) -> ASGIApp:
        """The guard stands outermost."""
        return RequestGuard(super().build_middleware_stack(), self._deps.allowed_hosts, self._deps.complain)

    def openapi(self) -> dict[str, Any]:
        """The description, made from the values that are sent."""
        return describe(self)


def create_app(deps: WebDeps) -> FastAPI:
    """Put the app together; it asks only what it is given, and changes things only at the actions it is given."""
    app = GuardedApp(
        deps,
        title="Tidemill",
        version=deps.version,
        description=DESCRIPTION,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # the framework's own pages load scripts from elsewhere
        redoc_url=None,
    )
    watch = SystemWatch(deps)
    pages = Pages(deps, watch)
    app.include_router(watching(deps, watch))
    app.include_router(prices(deps))
    app.include_router(deciding(deps))
    app.include_router(running(deps))
    app.include_router(reading(deps))
    app.include_router(events(deps))
    app.include_router(proposals(deps))
    app.include_router(services(deps))
    app.include_router(discovery(deps))
    app.include_router(listings(deps))
    app.include_router(markets(deps))
    app.include_router(portal(deps, pages))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _explain_errors(app, pages)
    return app


def _explain_errors(app: FastAPI, pages: Pages) -> None:
    """Every error becomes one shape: a page for a person, JSON for a program."""

    async def answer(request: Request, error: Exception) -> Response:
        status, trouble = explain(error)
        if _is_for_a_person(request):
            return pages.trouble(status, trouble)
        return error_answer(status, trouble.code, trouble.message, trouble.hint)

    kinds = (
        HTTPException, RequestValidationError, StoreError, TimeoutError, NotThere, MayNot, BadQuestion, Mistake,
        Exception,
    )  # fmt: skip
    for kind in kinds:
        app.add_exception_handler(kind, answer)


def _is_for_a_person(request: Request) -> bool:
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def explain(error: Exception) -> tuple[int, ErrorText]:  # noqa: C901, PLR0911 - one line per kind of error, read as a table
    """An error's status, and what to say about it; a bug's own words stay inside."""
    match error:
        case NotThere(message=message, hint=hint):
            return 404, ErrorText("not_found", message, hint)
        case MayNot(status=status, message=message, hint=hint):
            return status, ErrorText("not_allowed", message, hint)
        case NotFound():
            return 404, ErrorText("not_found", f"{error}")
        case Conflict():
            return 409, ErrorText("conflict", f"{error}")
        case BadQuestion() | Mistake():
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
        case HTTPException(status_code=status, detail=detail):
            return status, ErrorText("refused", str(detail))
        case _:
            return 500, ErrorText("bug", "Something broke on our side.", "The log holds its trace.")


def _bad_parameters(error: RequestValidationError) -> str:
    """Which parameters, and what is wrong with each; what was sent is not repeated."""
    return "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in error.errors())
