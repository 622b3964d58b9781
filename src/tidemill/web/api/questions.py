"""The parameters that questions share, with their bounds."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

from fastapi import Path, Query

from tidemill.core.views import EventCursor, EventFilter
from tidemill.core.views.records import BadCursor
from tidemill.web.answers import BadQuestion

LARGEST_KEY = 2**63 - 1
"""Keys are 64-bit; anything above would be the database's error instead of ours."""

_PRINTABLE = r"^[^\x00]*$"
"""PostgreSQL stores no NUL."""

Key = Annotated[int, Path(ge=0, le=LARGEST_KEY)]
Name = Annotated[str, Path(min_length=1, max_length=300, pattern=_PRINTABLE)]
Limit = Annotated[int, Query(ge=1, le=500, description="How many to answer with.")]
Cursor = Annotated[str | None, Query(max_length=60, description="`next` of the page before.")]
Text = Annotated[str | None, Query(max_length=200, pattern=_PRINTABLE, description="Words in the title or the venue.")]
Word = Annotated[str | None, Query(max_length=300, pattern=_PRINTABLE)]
Day = Annotated[date | None, Query(description="A day, as 2026-03-02.")]


def event_filter(
    text: str | None, category: str | None, source: str | None, date_from: date | None, date_to: date | None
) -> EventFilter:
    """The filter that a question means; days are whole, in UTC, the last one included."""
    return EventFilter(
        text=text or None,
        category=category or None,
        source=source or None,
        date_from=None if date_from is None else _midnight(date_from),
        date_to=None if date_to is None else _midnight(date_to) + timedelta(days=1),
    )


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(0), UTC)


def event_cursor(text: str | None) -> EventCursor | None:
    """Where to go on in the list of events."""
    if text is None:
        return None
    try:
        cursor = EventCursor.parse(text)
    except BadCursor as error:
        raise BadQuestion(str(error)) from error
    if abs(cursor.id) > LARGEST_KEY:
        msg = f"{text!r} is not a place in the list of events; leave it out to start at the beginning"
        raise BadQuestion(msg)
    return cursor


def run_cursor(text: str | None) -> int | None:
    """Where to go on in the list of runs."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST_KEY):
        msg = f"{text!r} is not a place in the list of runs; leave it out to start at the newest"
        raise BadQuestion(msg)
    return int(text)
