"""The web app: the API, the pages and what each vertical adds to them, in one application."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from tidemill.web.api import (
    adapters,
    audit,
    breakers,
    browsers,
    candidates,
    dead_letters,
    exports,
    health,
    jobs,
    pages,
    people,
    proposals,
    quarantine,
    replays,
    runs,
    services,
    sources,
    targets,
    ticks,
    tokens,
    upgrades,
    why,
)
from tidemill.web.api.outgoing import webhooks
from tidemill.web.api.watching import incidents, objectives
from tidemill.web.auth.gate import Gate, build_gate
from tidemill.web.auth.permissions import PERMISSIONS
from tidemill.web.conditional import ConditionalGet
from tidemill.web.cross_origin import AllowedOrigins
from tidemill.web.deps import WebDeps
from tidemill.web.errors import handle_errors
from tidemill.web.extension import WebExtension
from tidemill.web.guard import RequestGuard
from tidemill.web.idempotency import IdempotentPosts
from tidemill.web.limits import BodyLimit
from tidemill.web.portal.renderer import PageRenderer
from tidemill.web.portal.routes import portal_routes
from tidemill.web.responses import json_response
from tidemill.web.schemas import RESPONSE_TYPES, describe
from tidemill.web.strict_input import refuse_unknown_parameters
from tidemill.web.system_monitor import SystemMonitor

STATIC = Path(__file__).parent / "static"
DESCRIPTION = "What Tidemill scrapes and how it fares; and, for whoever may act, what a person can do about it."
RESOURCES = (
    quarantine, targets, runs, adapters, incidents, objectives, sources, why, proposals, replays, services, upgrades,
    candidates, jobs, breakers, dead_letters, pages, ticks, browsers, audit, people, tokens, exports, webhooks,
)  # fmt: skip
"""The modules of the API that every vertical shares."""


class GuardedApp(FastAPI):
    """The FastAPI app inside our guard, so that even error responses carry its headers."""

    def __init__(self, deps: WebDeps, response_types: Sequence[Any], **described: Any) -> None:
        """`response_types` are added to the OpenAPI description; `described` goes to FastAPI."""
        self._deps = deps
        self._response_types = response_types
        super().__init__(**described)

    def build_middleware_stack(self) -> ASGIApp:
        """Return the middleware with the guard outermost."""
        deps = self._deps
        kept = IdempotentPosts(super().build_middleware_stack(), deps.access.answers, deps.clock)
        bounded = BodyLimit(ConditionalGet(kept), deps.limits.body_bytes)
        return RequestGuard(AllowedOrigins(bounded, deps.allowed_origins), deps.allowed_hosts, deps.report_bug)

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description, made once from the response types."""
        if self.openapi_schema is None:
            self.openapi_schema = describe(self, self._response_types, self._deps.views.totals.type)
        return self.openapi_schema


def create_app(deps: WebDeps, extensions: Sequence[WebExtension]) -> FastAPI:
    """Build the app: the generic routes, then those of each vertical."""
    own_types = [kind for extension in extensions for kind in extension.response_types]
    app = GuardedApp(
        deps,
        [*RESPONSE_TYPES, *own_types],
        title="Tidemill",
        version=deps.version,
        description=DESCRIPTION,
        openapi_url=None,  # the framework's own route would pass the gate by
        dependencies=[Depends(gate_of(deps, extensions)), Depends(refuse_unknown_parameters)],
        docs_url=None,  # the framework's own pages load scripts from elsewhere
        redoc_url=None,
    )
    monitor = SystemMonitor(deps, extensions)
    renderer = PageRenderer(deps, extensions)
    _add_description(app)
    app.include_router(health.router(deps, monitor))
    for resource in RESOURCES:
        app.include_router(resource.router(deps))
    for extension in extensions:
        for router in extension.routers:
            app.include_router(router)
    app.include_router(portal_routes(deps, monitor, renderer, extensions))
    for extension in extensions:
        if extension.portal is not None and extension.portal.static is not None:
            app.mount(f"/static/{extension.vertical}", StaticFiles(directory=extension.portal.static))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    handle_errors(app, renderer.render)
    return app


def _add_description(app: FastAPI) -> None:
    """Serve what the API is, behind the gate like every other route."""

    @app.get("/api/v1/openapi.json", include_in_schema=False)
    async def description() -> Response:
        return json_response(app.openapi())


def gate_of(deps: WebDeps, extensions: Sequence[WebExtension]) -> Gate:
    """Return the gate before every route, with the rows that verticals bring for theirs."""
    permissions = dict(PERMISSIONS)
    vertical_of: dict[tuple[str, str], str] = {}
    for extension in extensions:
        permissions |= extension.permissions
        vertical_of |= dict.fromkeys(extension.permissions, extension.vertical)
    return build_gate(deps.access, deps.clock, permissions, vertical_of)
