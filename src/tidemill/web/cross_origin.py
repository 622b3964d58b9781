"""Pages of other sites: the API answers them where the operator named their origin, and nowhere else."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SENT_HEADERS = ("Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "Last-Event-ID")
READ_HEADERS = (
    "ETag", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "Allow",
    "Idempotent-Replayed", "X-Stream-Cursor",
)  # fmt: skip


class AllowedOrigins:
    """ASGI middleware that lets scripts of named origins call the API (CORS); cookies are never part of that.

    The pages of the portal are left out: nobody else's page may read or send their forms.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        """Wrap `app`; without origins nothing changes."""
        self._app = app
        self._shared: ASGIApp = app
        if origins:
            self._shared = CORSMiddleware(
                app, allow_origins=origins, allow_methods=METHODS, allow_headers=SENT_HEADERS,
                expose_headers=READ_HEADERS, max_age=600,
            )  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a browser's question whether it may send a request, or pass the request on."""
        is_api = scope["type"] == "http" and scope["path"].startswith("/api/")
        await (self._shared if is_api else self._app)(scope, receive, send)
