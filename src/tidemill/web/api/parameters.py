"""Parameters and bodies that several routes take, with their bounds."""

import re
from datetime import UTC, date, datetime, time
from typing import Annotated

from fastapi import Path, Query
from pydantic import AwareDatetime, BeforeValidator, Field

from tidemill.web.responses import BadParameter
from tidemill.web.strict_input import RequestBody

LARGEST_KEY = 2**63 - 1
"""Keys are 64-bit; anything above would be the database's error instead of ours."""

LONGEST_TEXT = 1_000

_PRINTABLE = r"^[^\x00]*$"
"""PostgreSQL stores no NUL."""

Key = Annotated[int, Path(ge=0, le=LARGEST_KEY)]
OptionalKey = Annotated[int | None, Query(ge=0, le=LARGEST_KEY)]
Name = Annotated[str, Path(min_length=1, max_length=300, pattern=_PRINTABLE)]
Limit = Annotated[int, Query(ge=1, le=500, description="How many to answer with.")]
Cursor = Annotated[str | None, Query(max_length=60, description="`next` of the page before.")]
Text = Annotated[str | None, Query(max_length=200, pattern=_PRINTABLE, description="Words in the title or the venue.")]
Word = Annotated[str | None, Query(max_length=300, pattern=_PRINTABLE)]


def _written_day(value: object) -> object:
    """Return the value if it is written as a day; alone, a number would be taken for seconds since 1970."""
    if isinstance(value, str) and not _DAY.fullmatch(value):
        msg = "write the day as 2026-03-02"
        raise ValueError(msg)
    return value


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
Day = Annotated[date | None, BeforeValidator(_written_day), Query(description="A day, as 2026-03-02.")]


DryRunFlag = Annotated[bool, Query(description="Tell what would change, and change nothing.")]


def _written_moment(value: object) -> object:
    """Refuse a bare number: it would be taken for seconds since 1970."""
    if isinstance(value, str) and "-" not in value[1:]:
        msg = "write a moment as 2026-11-01T12:00:00Z"
        raise ValueError(msg)
    return value


AsOf = Annotated[
    AwareDatetime | None,
    BeforeValidator(_written_moment),
    Query(description="As readers saw it at this moment, with its zone, such as 2026-11-01T12:00:00Z."),
]


def past_moment(as_of: datetime | None, now: datetime) -> datetime | None:
    """Return the moment that is asked about; one that has not come yet is a mistake."""
    if as_of is not None and as_of > now:
        msg = f"as_of: {as_of.isoformat()} has not come yet; what will be is not known"
        raise BadParameter(msg)
    return as_of


class ReasonGiven(RequestBody):
    """Why, for the audit log."""

    reason: str = Field("", max_length=LONGEST_TEXT)


def midnight(day: date) -> datetime:
    """Return the moment at which a day begins, in UTC."""
    return datetime.combine(day, time(0), UTC)


def key_cursor(text: str | None) -> int:
    """Return the key after which a list in order of key goes on."""
    if text is None:
        return 0
    if not is_key(text):
        msg = f"{text!r} is not a place in this list; leave it out to start at the beginning"
        raise BadParameter(msg)
    return int(text)


def run_cursor(text: str | None) -> int | None:
    """Return the key before which the list of runs goes on."""
    if text is None:
        return None
    if not is_key(text):
        msg = f"{text!r} is not a place in the list of runs; leave it out to start at the newest"
        raise BadParameter(msg)
    return int(text)


def is_key(text: str) -> bool:
    """Whether a text is a number that can be a key."""
    return text.isascii() and text.isdigit() and int(text) <= LARGEST_KEY
