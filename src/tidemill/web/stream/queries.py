"""What a request for things or for a stream asks for, with its bounds."""

from collections.abc import Collection
from datetime import timedelta

import msgspec
from starlette.requests import Request

from tidemill.core.snapshots.cursors import StreamCursor, parse_cursor
from tidemill.web.responses import BadParameter
from tidemill.web.stream.reader import Wanted
from tidemill.web.stream.resource import StreamedResource

MOST_THINGS = 50
MOST_FIELDS = 20
LONGEST_NAME = 200
HEARTBEATS = (5, 30)
LIMITS = (1, 500)


class MalformedCursor(Exception):
    """A cursor that cannot be read."""


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which things a list shows, and after which key."""

    status: str | None
    group: str | None
    after: str
    limit: int


def list_query(request: Request, resource: StreamedResource) -> ListQuery:
    """Return what a list is asked for; raise `BadParameter` for what it does not know."""
    only_known(request, {"status", resource.group, "cursor", "limit"})
    return ListQuery(
        status=_word(request, "status"),
        group=_word(request, resource.group),
        after=_word(request, "cursor") or "",
        limit=number(request, "limit", 50, LIMITS),
    )


def stream_query(request: Request, resource: StreamedResource, key: str | None) -> Wanted:
    """Return what a stream is asked for: one thing, several by name, or all of a status."""
    known = {"after", "heartbeat", "fields"} | (set() if key is not None else {resource.name, "status"})
    only_known(request, known)
    keys = frozenset([key] if key is not None else request.query_params.getlist(resource.name))
    status = None if key is not None else _word(request, "status")
    if bool(keys) == (status is not None):
        msg = f"name things by `{resource.name}`, or all of one `status`; one of the two"
        raise BadParameter(msg)
    if len(keys) > MOST_THINGS:
        msg = f"{len(keys)} things are too many for one stream; {MOST_THINGS} at most, or a `status`"
        raise BadParameter(msg)
    return Wanted(
        keys=keys,
        status=status,
        after=cursor_of(request),
        heartbeat=timedelta(seconds=number(request, "heartbeat", 10, HEARTBEATS)),
        fields=fields_of(request),
    )


def cursor_of(request: Request) -> StreamCursor | None:
    """Return where a stream goes on: `Last-Event-ID` first, which a browser sends when it comes back by itself."""
    text = request.headers.get("last-event-id") or request.query_params.get("after")
    if not text:
        return None
    cursor = parse_cursor(text)
    if cursor is None:
        raise MalformedCursor
    return cursor


def fields_of(request: Request) -> tuple[str, ...]:
    """Return the fields of a state that are wanted; none for all of them."""
    text = request.query_params.get("fields")
    if text is None:
        return ()
    fields = tuple(dict.fromkeys(text.split(",")))
    if not all(0 < len(field) <= LONGEST_NAME for field in fields) or len(fields) > MOST_FIELDS:
        msg = f"fields are names with commas between them, {MOST_FIELDS} at most"
        raise BadParameter(msg)
    return fields


def number(request: Request, name: str, default: int, bounds: tuple[int, int]) -> int:
    """Return a number of the query; raise `BadParameter` for one that is out of its bounds."""
    text = request.query_params.get(name)
    if text is None:
        return default
    low, high = bounds
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(high)) else low - 1
    if not low <= value <= high:
        msg = f"{name} is a number from {low} to {high}"
        raise BadParameter(msg)
    return value


def only_known(request: Request, names: Collection[str]) -> None:
    """Raise `BadParameter` for parameters that mean nothing here."""
    unknown = sorted(set(request.query_params) - set(names))
    if unknown:
        msg = f"there is no parameter {unknown[0][:LONGEST_NAME]!r} here; there are {', '.join(sorted(names))}"
        raise BadParameter(msg)


def _word(request: Request, name: str) -> str | None:
    text = request.query_params.get(name)
    if text is not None and (not 0 < len(text) <= LONGEST_NAME or "\0" in text):
        msg = f"{name} is 1 to {LONGEST_NAME} ordinary characters"
        raise BadParameter(msg)
    return text
