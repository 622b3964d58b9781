"""What matches add to the web app."""

from functools import partial
from pathlib import Path

from tidemill.verticals.matches.api import ACTING_RESPONSE_TYPES, acting_router
from tidemill.verticals.matches.parts import MatchesParts
from tidemill.verticals.matches.portal import pages
from tidemill.verticals.matches.record import MatchStatus
from tidemill.verticals.matches.rules import labels_of
from tidemill.web.api.exports import export_routers
from tidemill.web.auth.permissions import Need, Permissions, rows
from tidemill.web.deps import WebDeps
from tidemill.web.extension import NavigationLink, PortalExtension, WebExtension
from tidemill.web.stream.resource import StreamedResource
from tidemill.web.stream.routes import STREAM_RESPONSE_TYPES, stream_router

PORTAL = Path(__file__).parent / "portal"

RESOURCE = StreamedResource(
    vertical="matches",
    name="match",
    path="/api/v1/matches",
    group="series",
    statuses=tuple(MatchStatus),
    summary_fields=("title", "status", "teams", "score", "current_innings", "start_time"),
    labels=labels_of,
)

PERMISSIONS: Permissions = {
    **rows(
        Need.READER,
        "GET /api/v1/matches", "GET /api/v1/matches/stream", "GET /api/v1/matches/{key}",
        "GET /api/v1/matches/{key}/changes", "GET /api/v1/matches/{key}/stream", "GET /matches", "GET /matches/{key}",
    ),
    **rows(Need.VIEWER, "GET /api/v1/exports/matches", "GET /api/v1/match-ids"),
    **rows(
        Need.OPERATOR, "POST /api/v1/match-ids/settle", "POST /api/v1/matches/{key}/pause",
        "POST /api/v1/matches/{key}/resume", "POST /matches/{key}/switch", "POST /matches/settle",
    ),
}  # fmt: skip
"""What its routes need."""


def web_extension(deps: WebDeps, parts: MatchesParts) -> WebExtension:
    """Return the routes and pages of matches; states, changes and streams are served as for every vertical."""
    return WebExtension(
        vertical="matches",
        permissions=PERMISSIONS,
        routers=[
            acting_router(parts.matches),
            stream_router(RESOURCE, deps.streams),
            *export_routers(deps, parts.datasets),
        ],
        response_types=[*STREAM_RESPONSE_TYPES, *ACTING_RESPONSE_TYPES],
        portal=PortalExtension(
            templates=PORTAL / "templates",
            static=PORTAL / "static",
            routes=partial(pages.router, deps, RESOURCE, parts.matches),
            navigation=[NavigationLink("Matches", "/matches")],
            filters={"match_colour": match_colour},
        ),
    )


def match_colour(status: str) -> str:
    """Return the state whose colour a match's status has on pages."""
    return "healthy" if status == MatchStatus.LIVE else "plain"
