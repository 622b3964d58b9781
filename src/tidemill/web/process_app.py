"""What a process without the web app says of itself: `/metrics` for Prometheus, `/alive` for whoever starts it."""

import hmac
from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from tidemill.telemetry.metrics import Metrics
from tidemill.web.auth.origins import is_local
from tidemill.web.responses import error_response, json_response


def process_app(metrics: Metrics, state: Callable[[], Mapping[str, Any]], watch_token: str | None) -> ASGIApp:
    """Return the app; from elsewhere numbers are for who sends the watch token, that the process lives is for all."""

    async def numbers(request: Request) -> Response:
        if not (is_local(request) or _has_token(request, watch_token)):
            return error_response(401, "unauthorized", "send `Authorization: Bearer` with the watch_token")
        return Response(metrics.render(None), media_type=CONTENT_TYPE_LATEST)

    async def alive(_request: Request) -> Response:
        return json_response(state())

    return Starlette(routes=[Route("/metrics", numbers), Route("/alive", alive)])


def _has_token(request: Request, watch_token: str | None) -> bool:
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    return watch_token is not None and scheme.lower() == "bearer" and hmac.compare_digest(sent, watch_token)
