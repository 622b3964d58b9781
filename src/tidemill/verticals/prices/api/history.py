"""Parameters of the histories of prices."""

from datetime import date, datetime
from typing import Annotated, Literal

from fastapi import Query

from tidemill.core.views.records import BadCursor
from tidemill.verticals.prices.views import PriceCursor, PricePoint
from tidemill.web.api.parameters import LARGEST_KEY, midnight
from tidemill.web.responses import BadParameter

Reading = Annotated[
    Literal["corrected", "raw"], Query(description="`raw` is what pages said, `corrected` what people made of it.")
]


def begins(day: date | None) -> datetime | None:
    """Return the moment from which on prices are shown."""
    return None if day is None else midnight(day)


def cursor_text(point: PricePoint) -> str:
    """Return where a history goes on after a price."""
    return point.cursor.text


def price_cursor(text: str | None) -> PriceCursor | None:
    """Return where a history of prices goes on."""
    if text is None:
        return None
    try:
        cursor = PriceCursor.parse(text)
    except BadCursor as error:
        raise BadParameter(str(error)) from error
    if abs(cursor.id) > LARGEST_KEY:
        msg = f"{text!r} is not a place in a history of prices; leave it out to start at the beginning"
        raise BadParameter(msg)
    return cursor
