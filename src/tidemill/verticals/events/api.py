"""What is on, for readers: a list, a ranked feed, a calendar and an RSS feed, all by the same filters."""

from datetime import date, timedelta
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.source import Coordinates
from tidemill.core.views.records import BadCursor
from tidemill.verticals.events.calendars import icalendar, rss
from tidemill.verticals.events.feed import FeedPreferences, Weights
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.store.views import EventViews
from tidemill.verticals.events.views import (
    Around,
    CardFilter,
    CardView,
    EventCursor,
    EventDetail,
    EventStory,
    FeedCursor,
)
from tidemill.web.api.parameters import LARGEST_KEY, AsOf, Cursor, Day, Key, Limit, Text, Word, midnight, past_moment
from tidemill.web.deps import WebDeps
from tidemill.web.responses import BadParameter, Listed, ResourceNotFound, json_response, list_page
from tidemill.web.schemas import json_responses, text_responses

FURTHEST_KM = 500.0
USUAL_KM = 25.0
STILL_ON = timedelta(hours=3)
"""What has begun not longer ago than this is still of use to a calendar."""

Latitude = Annotated[float | None, Query(ge=-90, le=90, description="Of the place that is searched around.")]
Longitude = Annotated[float | None, Query(ge=-180, le=180, description="Of the place that is searched around.")]
Radius = Annotated[
    float | None,
    Query(gt=0, le=FURTHEST_KM, description="Kilometres around it; 25 unless said, but no limit to a feed."),
]
Weight = Annotated[float | None, Query(ge=0, le=1_000, description="How much it counts; 0 leaves it out.")]
FeedPlace = Annotated[str | None, Query(max_length=200, description="`next` of the page before.")]
Likes = Annotated[
    str | None, Query(max_length=300, description="Categories that are liked: `music,family` or `music:1,family:0.4`.")
]


def filter_from_query(
    text: Text = None,
    category: Word = None,
    source: Word = None,
    latitude: Latitude = None,
    longitude: Longitude = None,
    radius: Radius = None,
    date_from: Day = None,
    date_to: Day = None,
) -> CardFilter:
    """Return the filter that the parameters of a request mean."""
    return card_filter(text, category, source, date_from, date_to, around=circle(latitude, longitude, radius))


Which = Annotated[CardFilter, Depends(filter_from_query)]


def card_filter(
    text: str | None,
    category: str | None,
    source: str | None,
    date_from: date | None,
    date_to: date | None,
    around: Around | None = None,
) -> CardFilter:
    """Return the filter; days are whole, in UTC, the last one included."""
    if category and category not in set(Category):
        msg = f"category: {unknown_name('category', category, Category)}"
        raise BadParameter(msg)
    return CardFilter(
        text=text or None,
        category=category or None,
        source=source or None,
        date_from=None if date_from is None else midnight(date_from),
        date_to=None if date_to is None else midnight(date_to) + timedelta(days=1),
        around=around,
    )


def circle(latitude: float | None, longitude: float | None, radius: float | None) -> Around | None:
    """Return the circle that is searched; half a place is a mistake."""
    if latitude is None and longitude is None:
        if radius is not None:
            msg = "radius: say around which place, by latitude and longitude"
            raise BadParameter(msg)
        return None
    if latitude is None or longitude is None:
        msg = "latitude and longitude belong together; give both"
        raise BadParameter(msg)
    return Around(Coordinates(latitude, longitude), radius or USUAL_KM)


def tastes(likes: str | None) -> dict[str, float]:
    """Return the categories that are liked, and how much."""
    found: dict[str, float] = {}
    for part in filter(None, (likes or "").replace(" ", "").split(",")):
        name, _, much = part.partition(":")
        if name not in set(Category):
            msg = f"likes: {unknown_name('category', name, Category)}"
            raise BadParameter(msg)
        try:
            found[name] = min(1.0, max(0.0, float(much or 1)))
        except ValueError as error:
            msg = f"likes: write {name}:0.5 or just {name}"
            raise BadParameter(msg) from error
    return found


def router(deps: WebDeps, cards: CardReader, events: EventViews, weights: Weights) -> APIRouter:
    """Return the routes of events; `weights` rank a feed unless the request brings its own."""
    router = APIRouter(prefix="/api/v1", tags=["events"])
    _list(router, deps, cards)
    _feed(router, deps, cards, weights)
    _calendar_and_rss(router, deps, cards)
    _one(router, cards, events)
    return router


def _list(router: APIRouter, deps: WebDeps, cards: CardReader) -> None:
    @router.get("/events", responses=json_responses(Listed[CardView], 422, 503))
    async def listed(which: Which, cursor: Cursor = None, limit: Limit = 100, as_of: AsOf = None) -> Response:
        """List events by date, each once whoever tells of it; days are whole, in UTC, the last one included."""
        then = past_moment(as_of, deps.clock.now())
        found = await cards.by_date(which, after=event_cursor(cursor), limit=limit + 1, as_of=then)
        return json_response(list_page(found, limit, lambda last: last.cursor.text))


def _feed(router: APIRouter, deps: WebDeps, cards: CardReader, usual: Weights) -> None:
    def own_weights(
        weight_distance: Weight = None,
        weight_category: Weight = None,
        weight_time: Weight = None,
        weight_reliability: Weight = None,
        weight_popularity: Weight = None,
    ) -> Weights:
        given = (weight_distance, weight_category, weight_time, weight_reliability, weight_popularity)
        names = ("distance", "category", "time", "reliability", "popularity")
        own = {name: weight for name, weight in zip(names, given, strict=True) if weight is not None}
        weighed: Weights = msgspec.structs.replace(usual, **own)
        return weighed

    @router.get("/events/feed", responses=json_responses(Listed[CardView], 422, 503))
    async def feed(
        which: Which,
        weights: Annotated[Weights, Depends(own_weights)],
        likes: Likes = None,
        cursor: FeedPlace = None,
        limit: Limit = 50,
        radius: Radius = None,
    ) -> Response:
        """Rank what is on for one person: near, liked, soon, from reliable sources, told of by many.

        A place is a wish; with a radius nothing outside of it is shown.
        """
        after = feed_cursor(cursor)
        place = which.around.centre if which.around else None
        if radius is None:
            which = msgspec.structs.replace(which, around=None)
        as_of = after.as_of if after else deps.clock.now()
        wish = FeedPreferences(as_of=as_of, place=place, tastes=tastes(likes), weights=weights)
        found = await cards.feed(wish, which, after=after, limit=limit + 1)
        return json_response(list_page(found, limit, lambda last: FeedCursor(as_of, last.score or 0.0, last.id).text))


def event_cursor(text: str | None) -> EventCursor | None:
    """Return where the list of events goes on."""
    if text is None:
        return None
    try:
        cursor = EventCursor.parse(text)
    except BadCursor as error:
        raise BadParameter(str(error)) from error
    if abs(cursor.id) > LARGEST_KEY:
        msg = f"{text!r} is not a place in the list of events; leave it out to start at the beginning"
        raise BadParameter(msg)
    return cursor


def feed_cursor(text: str | None) -> FeedCursor | None:
    """Return where the feed goes on."""
    try:
        return None if text is None else FeedCursor.parse(text)
    except BadCursor as error:
        raise BadParameter(str(error)) from error


def _calendar_and_rss(router: APIRouter, deps: WebDeps, cards: CardReader) -> None:
    async def upcoming(which: CardFilter, limit: int) -> list[CardView]:
        """From today on, unless the question says otherwise."""
        if which.date_from is None:
            which = msgspec.structs.replace(which, date_from=deps.clock.now() - STILL_ON)
        return await cards.by_date(which, limit=limit)

    @router.get("/events.ics", responses=text_responses("text/calendar", 422, 503))
    async def calendar(request: Request, which: Which, limit: Limit = 250) -> Response:
        """Give what is on as a calendar that can be subscribed to (RFC 5545)."""
        found = await upcoming(which, limit)
        body = icalendar(found, "Tidemill", request.url.hostname or "tidemill.invalid")
        return Response(body, media_type="text/calendar; charset=utf-8")

    @router.get("/events.rss", responses=text_responses("application/rss+xml", 422, 503))
    async def syndicated(request: Request, which: Which, limit: Limit = 100) -> Response:
        """Give what is on as an RSS 2.0 feed."""
        found = await upcoming(which, limit)
        body = rss(found, "Tidemill: what is on", str(request.base_url).rstrip("/"), deps.clock.now())
        return Response(body, media_type="application/rss+xml; charset=utf-8")


def _one(router: APIRouter, cards: CardReader, events: EventViews) -> None:
    @router.get("/events/{event_id}/calendar", responses=text_responses("text/calendar", 404, 422, 503))
    async def entry(request: Request, event_id: Key) -> Response:
        """Give one event as a calendar with one entry, to be taken over into one's own."""
        await find_event(events, event_id)
        card = await cards.card_of(event_id)
        if card is None:
            msg = f"Event {event_id} is on no card: it is gone, or waits to be published."
            raise ResourceNotFound(msg, "`/api/v1/events` lists what is on.")
        body = icalendar([card], "Tidemill", request.url.hostname or "tidemill.invalid")
        headers = {"Content-Disposition": f'attachment; filename="event-{event_id}.ics"'}
        return Response(body, media_type="text/calendar; charset=utf-8", headers=headers)

    @router.get("/events/{event_id}", responses=json_responses(EventStory, 404, 422, 503))
    async def event(event_id: Key) -> Response:
        """Show an event with its history, the page it was last read from, and the card that it shares with others."""
        found = await find_event(events, event_id)
        card = await cards.card_of(event_id)
        return json_response(EventStory(event=found.event, history=found.history, page=found.page, card=card))


async def find_event(events: EventViews, event_id: int) -> EventDetail:
    """Return an event by number, or raise that there is none."""
    found = await events.event(event_id)
    if found is None:
        msg = f"There is no event {event_id}."
        raise ResourceNotFound(msg, "`/api/v1/events` lists all of them.")
    return found
