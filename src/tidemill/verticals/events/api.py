"""What is on, for readers: a list, a ranked feed, a calendar and an RSS feed, all by the same filters."""

from datetime import date, timedelta
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.source import Coordinates
from tidemill.core.views.records import BadCursor
from tidemill.verticals.events.calendars import icalendar, rss
from tidemill.verticals.events.feed import FeedPreferences, Weights
from tidemill.verticals.events.record import Category
from tidemill.verticals.events.store.cards import CardReader
from tidemill.verticals.events.views import Around, CardFilter, CardView, EventStory, FeedCursor
from tidemill.web import lookup
from tidemill.web.answers import BadQuestion, Listed, json_answer
from tidemill.web.api.questions import Cursor, Day, Key, Limit, Text, Word, event_cursor, event_filter
from tidemill.web.deps import WebDeps
from tidemill.web.schemas import answers, of_kind

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


def asked(
    text: Text = None,
    category: Word = None,
    source: Word = None,
    latitude: Latitude = None,
    longitude: Longitude = None,
    radius: Radius = None,
    date_from: Day = None,
    date_to: Day = None,
) -> CardFilter:
    """Which events a question means."""
    return card_filter(text, category, source, date_from, date_to, around=circle(latitude, longitude, radius))


Which = Annotated[CardFilter, Depends(asked)]


def card_filter(
    text: str | None,
    category: str | None,
    source: str | None,
    date_from: date | None,
    date_to: date | None,
    around: Around | None = None,
) -> CardFilter:
    """The filter; days are whole, in UTC, the last one included."""
    if category and category not in set(Category):
        msg = f"category: {category!r} is none; they are {', '.join(Category)}"
        raise BadQuestion(msg)
    plain = event_filter(text, category, source, date_from, date_to)
    return CardFilter(
        text=plain.text,
        category=plain.category,
        source=plain.source,
        date_from=plain.date_from,
        date_to=plain.date_to,
        around=around,
    )


def circle(latitude: float | None, longitude: float | None, radius: float | None) -> Around | None:
    """The circle that a question means; half a place is a mistake."""
    if latitude is None and longitude is None:
        if radius is not None:
            msg = "radius: say around which place, by latitude and longitude"
            raise BadQuestion(msg)
        return None
    if latitude is None or longitude is None:
        msg = "latitude and longitude belong together; give both"
        raise BadQuestion(msg)
    return Around(Coordinates(latitude, longitude), radius or USUAL_KM)


def tastes(likes: str | None) -> dict[str, float]:
    """What is liked, and how much."""
    found: dict[str, float] = {}
    for part in filter(None, (likes or "").replace(" ", "").split(",")):
        name, _, much = part.partition(":")
        if name not in set(Category):
            msg = f"likes: {name!r} is no category; they are {', '.join(Category)}"
            raise BadQuestion(msg)
        try:
            found[name] = min(1.0, max(0.0, float(much or 1)))
        except ValueError as error:
            msg = f"likes: write {name}:0.5 or just {name}"
            raise BadQuestion(msg) from error
    return found


def events(deps: WebDeps) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/v1", tags=["events"])
    reader = CardReader(deps.views.database, deps.clock)
    _list(router, reader)
    _feed(router, deps, reader)
    _for_programs(router, deps, reader)
    _one(router, deps, reader)
    return router


def _list(router: APIRouter, reader: CardReader) -> None:
    @router.get("/events", responses=answers(Listed[CardView], 422, 503))
    async def listed(which: Which, cursor: Cursor = None, limit: Limit = 100) -> Response:
        """List events by date, each once whoever tells of it; days are whole, in UTC, the last one included."""
        found = await reader.by_date(which, after=event_cursor(cursor), limit=limit + 1)
        following = found[limit - 1].cursor.text if len(found) > limit else None
        return json_answer(Listed(found[:limit], following))


def _feed(router: APIRouter, deps: WebDeps, reader: CardReader) -> None:
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
        weighed: Weights = msgspec.structs.replace(deps.feed_weights, **own)
        return weighed

    @router.get("/events/feed", responses=answers(Listed[CardView], 422, 503))
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
        found = await reader.feed(wish, which, after=after, limit=limit + 1)
        following = None
        if len(found) > limit:
            last = found[limit - 1]
            following = FeedCursor(as_of, last.score or 0.0, last.id).text
        return json_answer(Listed(found[:limit], following))


def feed_cursor(text: str | None) -> FeedCursor | None:
    """Where to go on in the feed."""
    try:
        return None if text is None else FeedCursor.parse(text)
    except BadCursor as error:
        raise BadQuestion(str(error)) from error


def _for_programs(router: APIRouter, deps: WebDeps, reader: CardReader) -> None:
    async def upcoming(which: CardFilter, limit: int) -> list[CardView]:
        """From today on, unless the question says otherwise."""
        if which.date_from is None:
            which = msgspec.structs.replace(which, date_from=deps.clock.now() - STILL_ON)
        return await reader.by_date(which, limit=limit)

    @router.get("/events.ics", responses=of_kind("text/calendar", 422, 503))
    async def calendar(request: Request, which: Which, limit: Limit = 250) -> Response:
        """Give what is on as a calendar that can be subscribed to (RFC 5545)."""
        cards = await upcoming(which, limit)
        body = icalendar(cards, "Tidemill", request.url.hostname or "tidemill.invalid")
        return Response(body, media_type="text/calendar; charset=utf-8")

    @router.get("/events.rss", responses=of_kind("application/rss+xml", 422, 503))
    async def syndicated(request: Request, which: Which, limit: Limit = 100) -> Response:
        """Give what is on as an RSS 2.0 feed."""
        cards = await upcoming(which, limit)
        body = rss(cards, "Tidemill: what is on", str(request.base_url).rstrip("/"), deps.clock.now())
        return Response(body, media_type="application/rss+xml; charset=utf-8")


def _one(router: APIRouter, deps: WebDeps, reader: CardReader) -> None:
    @router.get("/events/{event_id}", responses=answers(EventStory, 404, 422, 503))
    async def event(event_id: Key) -> Response:
        """Show an event with its history, the page it was last read from, and the card that it shares with others."""
        found = await lookup.event(deps, event_id)
        card = await reader.card_of(event_id)
        return json_answer(EventStory(event=found.event, history=found.history, page=found.page, card=card))
