"""What events add to the web app."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tidemill.core.views import Totals
from tidemill.verticals.events import api
from tidemill.verticals.events.parts import EventsParts
from tidemill.verticals.events.portal import pages
from tidemill.verticals.events.portal.record_fields import record_fields, shown_fields
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.counter import COUNTER
from tidemill.verticals.events.views import CardFilter, CardView, EventStory
from tidemill.web.api.exports import export_routers
from tidemill.web.api.outgoing.changes import change_router
from tidemill.web.auth.permissions import Need, Permissions, rows
from tidemill.web.deps import WebDeps
from tidemill.web.extension import HomeSection, HomeTile, NavigationLink, PortalExtension, WebExtension
from tidemill.web.responses import Listed

TEMPLATES = Path(__file__).parent / "portal" / "templates"
UPCOMING_SHOWN = 6


PERMISSIONS: Permissions = {
    **rows(
        Need.READER,
        "GET /api/v1/events", "GET /api/v1/events.ics", "GET /api/v1/events.rss", "GET /api/v1/events/feed",
        "GET /api/v1/events/changes",
        "GET /api/v1/events/{event_id}", "GET /api/v1/events/{event_id}/calendar",
        "GET /events", "GET /events/{event_id}",
    ),
    **rows(Need.VIEWER, "GET /api/v1/exports/events", "GET /api/v1/exports/agenda"),
}  # fmt: skip
"""What its routes need."""


def web_extension(deps: WebDeps, parts: EventsParts) -> WebExtension:
    """Return the routes and pages of events."""
    cards, events = parts.cards, parts.store.views
    return WebExtension(
        permissions=PERMISSIONS,
        vertical="events",
        routers=[
            change_router("events", parts.store.changes),
            api.router(deps, cards, events, parts.feed_weights),
            *export_routers(deps, parts.datasets),
        ],
        response_types=[Listed[CardView], EventStory],
        portal=PortalExtension(
            templates=TEMPLATES,
            routes=partial(pages.router, deps, cards, events),
            navigation=[NavigationLink("Events", "/events")],
            filters={"event_fields": record_fields, "shown_fields": shown_fields},
            home_tiles=home_tiles,
            home_sections=[HomeSection("events/upcoming.html", partial(upcoming, cards))],
            records_path=lambda source: f"/events?source={quote(source)}",
        ),
    )


def home_tiles(totals: Totals) -> Sequence[HomeTile]:
    """Return how many events there are."""
    listed, gone = totals.of(COUNTER.total)
    return [HomeTile("Events listed", listed, f"{gone:,} gone", "/events")]


async def upcoming(cards: CardReader, now: datetime) -> Mapping[str, Any]:
    """Return the next few events."""
    return {"events": await cards.by_date(CardFilter(date_from=now), limit=UPCOMING_SHOWN)}
