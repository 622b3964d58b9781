"""What a request for things or for a stream asks for, with its bounds."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from fastapi import Query
from starlette.requests import Request

from tidemill.core.snapshots.cursors import StreamCursor, parse_cursor
from tidemill.web.api.parameters import AsOf
from tidemill.web.responses import BadParameter
from tidemill.web.stream.reader import Wanted
from tidemill.web.stream.resource import StreamedResource

MOST_THINGS = 50
MOST_FIELDS = 20
LONGEST_NAME = 200
PRINTABLE = r"^[^\x00]*$"

Named = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME, pattern=PRINTABLE)]
After = Annotated[
    str | None,
    Query(
        max_length=60,
        description="The cursor to go on from, as `Last-Event-ID` names it; 400 for what is none.",
        json_schema_extra={"pattern": r"^[0-9a-f]{8}\.[0-9]{1,15}$"},  # described, not checked here: that would be 422
    ),
]
Heartbeat = Annotated[int, Query(ge=5, le=30, description="Seconds without an event before a heartbeat.")]
Fields = Annotated[str | None, Query(max_length=4_000, description="Fields at the top of a state, comma by comma.")]
PageLimit = Annotated[int, Query(ge=1, le=500, description="How many to answer with.")]


class MalformedCursor(Exception):
    """A cursor that cannot be read."""


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which things a list shows, and after which key."""

    status: str | None
    group: str | None
    after: str
    limit: int
    as_of: datetime | None = None


def list_parameters(resource: StreamedResource) -> Callable[..., Awaitable[ListQuery]]:
    """Return the parameters of a list as a dependency of its route."""
    by_group = Query(alias=resource.group, min_length=1, max_length=LONGEST_NAME, pattern=PRINTABLE)

    async def read(
        status: Named = None,
        group: Annotated[str | None, by_group] = None,
        cursor: Named = None,
        limit: PageLimit = 50,
        as_of: AsOf = None,
    ) -> ListQuery:
        check_status(resource, status)
        return ListQuery(status=status, group=group, after=cursor or "", limit=limit, as_of=as_of)

    return read


async def one_stream_parameters(
    request: Request, key: str, after: After = None, heartbeat: Heartbeat = 10, fields: Fields = None
) -> Wanted:
    """Read the parameters of the stream of one thing; a dependency of its route."""
    return _wanted(request, frozenset([key]), None, after, heartbeat, fields)


def stream_parameters(resource: StreamedResource) -> Callable[..., Awaitable[Wanted]]:
    """Return the parameters of a stream of several things as a dependency of its route."""
    by_name = Query(alias=resource.name, description=f"Up to {MOST_THINGS} by their ids.")

    async def read(
        request: Request,
        keys: Annotated[list[str] | None, by_name] = None,
        status: Named = None,
        after: After = None,
        heartbeat: Heartbeat = 10,
        fields: Fields = None,
    ) -> Wanted:
        if bool(keys) == (status is not None):
            msg = f"name things by `{resource.name}`, or all of one `status`; one of the two"
            raise BadParameter(msg)
        check_status(resource, status)
        named = frozenset(keys or ())
        if len(named) > MOST_THINGS:
            msg = f"{len(named)} things are too many for one stream; {MOST_THINGS} at most, or a `status`"
            raise BadParameter(msg)
        return _wanted(request, named, status, after, heartbeat, fields)

    return read


def check_status(resource: StreamedResource, status: str | None) -> None:
    """Refuse a status that nothing can ever have: the answer would stay empty without a word."""
    if status is not None and resource.statuses and status not in resource.statuses:
        msg = f"{status[:80]!r} is no status; there is {', '.join(resource.statuses)}"
        raise BadParameter(msg)


def _wanted(
    request: Request, keys: frozenset[str], status: str | None, after: str | None, heartbeat: int, fields: str | None
) -> Wanted:
    return Wanted(
        keys=keys,
        status=status,
        after=cursor_from(request.headers.get("last-event-id") or after),
        heartbeat=timedelta(seconds=heartbeat),
        fields=fields_from(fields),
    )


def cursor_from(text: str | None) -> StreamCursor | None:
    """Return where a stream goes on; raise `MalformedCursor` for what is none.

    `Last-Event-ID` comes first: a browser that comes back by itself sends it beside the query of its first request.
    """
    cursor = parse_cursor(text) if text else None
    if text and cursor is None:
        raise MalformedCursor
    return cursor


def fields_from(text: str | None) -> tuple[str, ...]:
    """Return the fields of a state that are wanted; none for all of them."""
    if text is None:
        return ()
    fields = tuple(dict.fromkeys(text.split(",")))
    if not all(0 < len(field) <= LONGEST_NAME for field in fields) or len(fields) > MOST_FIELDS:
        msg = f"fields are names with commas between them, {MOST_FIELDS} at most"
        raise BadParameter(msg)
    return fields
