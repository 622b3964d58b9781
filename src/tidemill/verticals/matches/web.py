"""What matches add to the web app."""

from tidemill.verticals.matches.parts import MatchesParts
from tidemill.web.api.exports import export_routers
from tidemill.web.auth.permissions import Need, Permissions, rows
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.stream.resource import StreamedResource
from tidemill.web.stream.routes import STREAM_RESPONSE_TYPES, stream_router

RESOURCE = StreamedResource(
    vertical="matches",
    name="match",
    path="/api/v1/matches",
    group="series",
    summary_fields=("title", "status", "teams", "score", "current_innings", "start_time"),
)

PERMISSIONS: Permissions = {
    **rows(
        Need.READER,
        "GET /api/v1/matches", "GET /api/v1/matches/stream", "GET /api/v1/matches/{key}",
        "GET /api/v1/matches/{key}/changes", "GET /api/v1/matches/{key}/stream",
    ),
    **rows(Need.VIEWER, "GET /api/v1/exports/matches"),
}  # fmt: skip
"""What its routes need."""


def web_extension(deps: WebDeps, parts: MatchesParts) -> WebExtension:
    """Return the routes of matches: states, changes and streams, served by the machinery for every vertical."""
    return WebExtension(
        vertical="matches",
        permissions=PERMISSIONS,
        routers=[stream_router(RESOURCE, deps.streams), *export_routers(deps, parts.datasets)],
        response_types=STREAM_RESPONSE_TYPES,
    )
