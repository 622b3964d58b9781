"""The list of events and the page of one."""

from datetime import date
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.verticals.events.api import card_filter, event_cursor, find_event
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.views import EventViews
from tidemill.web.api.parameters import Cursor, Key, Text, Word
from tidemill.web.deps import WebDeps
from tidemill.web.extension import RenderPage
from tidemill.web.portal.form_fields import EmptyOrDay

EVENTS_PER_PAGE = 50


def router(deps: WebDeps, cards: CardReader, views: EventViews, render: RenderPage) -> APIRouter:
    """Return the routes of the pages of events."""
    router = APIRouter()

    @router.get("/events")
    async def events(
        text: Text = None,
        category: Word = None,
        source: Word = None,
        date_from: EmptyOrDay = None,
        date_to: EmptyOrDay = None,
        cursor: Cursor = None,
    ) -> Response:
        begins = deps.clock.now().date() if date_from is None and date_to is None else date_from
        which = card_filter(text, category, source, begins, date_to)
        found = await cards.by_date(which, after=event_cursor(cursor), limit=EVENTS_PER_PAGE + 1)
        shown = found[:EVENTS_PER_PAGE]
        asked = {"text": text, "category": category, "source": source, "date_from": date_from, "date_to": date_to}
        more = len(found) > EVENTS_PER_PAGE
        return render(
            "events/events.html", events=shown, asked=asked, first=cursor is None,
            following=next_page(asked, shown[-1].cursor.text) if more else None,
            categories=[str(each) for each in Category],
        )  # fmt: skip

    @router.get("/events/{event_id}")
    async def event(event_id: Key) -> Response:
        found = await find_event(views, event_id)
        return render("events/event.html", detail=found, why=await deps.why(f"event:{event_id}"))

    return router


def next_page(asked: dict[str, str | date | None], cursor: str) -> str:
    """Return the address of the page that follows, under the same filter."""
    filled = {name: str(value) for name, value in asked.items() if value}
    return "/events?" + urlencode({**filled, "cursor": cursor})
