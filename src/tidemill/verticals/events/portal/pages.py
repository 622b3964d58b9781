"""The list of events and the page of one."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from pydantic import BeforeValidator
from starlette.responses import Response

from tidemill.verticals.events.api import card_filter, circle, event_cursor, find_event
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import CardView, EventView
from tidemill.web.api.parameters import Cursor, Key, Text, Word
from tidemill.web.charts.place_map import MapPoint, place_map
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.form_fields import EmptyOrDay, none_if_empty

EVENTS_PER_PAGE = 50

EmptyOrLatitude = Annotated[float | None, BeforeValidator(none_if_empty), Query(ge=-90, le=90)]
EmptyOrLongitude = Annotated[float | None, BeforeValidator(none_if_empty), Query(ge=-180, le=180)]
EmptyOrKilometres = Annotated[float | None, BeforeValidator(none_if_empty), Query(gt=0, le=500)]


def router(deps: WebDeps, cards: CardReader, views: EventViews, render: RenderPage) -> APIRouter:
    """Return the routes of the pages of events."""
    router = APIRouter()

    @router.get("/events")
    async def events(  # noqa: PLR0917 - one parameter per criterion; the framework passes them by name
        text: Text = None,
        category: Word = None,
        source: Word = None,
        date_from: EmptyOrDay = None,
        date_to: EmptyOrDay = None,
        latitude: EmptyOrLatitude = None,
        longitude: EmptyOrLongitude = None,
        radius: EmptyOrKilometres = None,
        cursor: Cursor = None,
    ) -> Response:
        begins = deps.clock.now().date() if date_from is None and date_to is None else date_from
        which = card_filter(text, category, source, begins, date_to, circle(latitude, longitude, radius))
        found = await cards.by_date(which, after=event_cursor(cursor), limit=EVENTS_PER_PAGE + 1)
        shown = found[:EVENTS_PER_PAGE]
        asked = {
            "text": text, "category": category, "source": source, "date_from": date_from, "date_to": date_to,
            "latitude": latitude, "longitude": longitude, "radius": radius,
        }  # fmt: skip
        more = len(found) > EVENTS_PER_PAGE
        query = {name: str(value) for name, value in asked.items() if value not in {None, ""}}
        return render(
            "events/events.html", events=shown, asked=asked, first=cursor is None, query=urlencode(query),
            following=next_page(asked, shown[-1].cursor.text) if more else None, map=place_map(points(shown), "Events"),
            categories=[str(each) for each in Category],
        )  # fmt: skip

    @router.get("/events/{event_id}")
    async def event(event_id: Key) -> Response:
        found = await find_event(views, event_id)
        return render(
            "events/event.html", detail=found, why=await deps.why(f"event:{event_id}"),
            map=place_map(points([found.event]), "This event"), card=await cards.card_of(event_id),
        )  # fmt: skip

    return router


def points(events: Sequence[CardView | EventView]) -> list[MapPoint]:
    """Return where events are, as far as it is told."""
    return [
        MapPoint(each.latitude, each.longitude, f"{each.title}, {each.venue_name}", f"/events/{each.id}")
        for each in events
        if each.latitude is not None and each.longitude is not None
    ]


def next_page(asked: Mapping[str, str | date | float | None], cursor: str) -> str:
    """Return the address of the page that follows, under the same filter."""
    filled = {name: str(value) for name, value in asked.items() if value not in {None, ""}}
    return "/events?" + urlencode({**filled, "cursor": cursor})
