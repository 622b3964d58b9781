"""The addresses of a vertical's streamed things: list, one, its changes, and streams."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.core.snapshots.cursors import StreamCursor
from tidemill.core.snapshots.staleness import is_fresh
from tidemill.web.api.parameters import past_moment
from tidemill.web.responses import error_response, json_response
from tidemill.web.schemas import json_responses, text_responses
from tidemill.web.stream.access import StreamAccess
from tidemill.web.stream.hub import StreamHub
from tidemill.web.stream.limits import identity_of
from tidemill.web.stream.past import past_summaries
from tidemill.web.stream.queries import ListQuery, list_parameters, one_stream_parameters, stream_parameters
from tidemill.web.stream.reader import Wanted
from tidemill.web.stream.resource import StreamedResource
from tidemill.web.stream.response import EventStreamResponse

ThingName = Annotated[str, Path(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
SeqAfter = Annotated[int, Query(ge=0, le=2**53, description="The sequence number to go on from.")]
ChangeLimit = Annotated[int, Query(ge=1, le=1_000, description="How many to answer with.")]
Route = Callable[..., Awaitable[Response]]
RETRY_AFTER = {"Retry-After": "5"}


class ThingMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about an answer: when it was checked and changed, by whom, and its place in the log."""

    scraped_at: datetime
    data_age_seconds: float
    scraper_id: str
    source: str
    seq: int
    checksum: str
    changed_at: datetime
    freshness: str
    trouble: str = ""


class ThingList(msgspec.Struct, frozen=True, kw_only=True):
    """A page of things in short, where to go on, and the cursor from which a stream misses nothing of them."""

    items: Sequence[Mapping[str, Any]]
    next: str | None
    stream_cursor: str


class ChangeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a thing's log."""

    seq: int
    kind: str
    patch: msgspec.Raw
    checksum: str
    changed_at: datetime
    source: str = ""
    skipped: int = 0
    reason: str = ""
    was: msgspec.Raw
    moved_from: str = ""
    moved_to: str = ""


class ChangeList(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a thing in order; pass `next` on as `after`, None when there are no more now."""

    items: Sequence[ChangeEntry]
    next: int | None


STREAM_RESPONSE_TYPES = (ThingList, ThingMetadata, ChangeList)


def stream_router(resource: StreamedResource, access: StreamAccess) -> APIRouter:
    """Return the routes of a vertical's things; it adds them to its web extension."""
    hub = access.hub
    hub.add_resource(resource)
    router = APIRouter(prefix=resource.path, tags=[resource.path.rpartition("/")[2]])
    many = Depends(stream_parameters(resource))

    @readable(router, "", json_responses(ThingList, 422, 503))
    async def listed(query: Annotated[ListQuery, Depends(list_parameters(resource))]) -> Response:
        """List what there is, by status and group, in order of keys.

        As of a moment in the past, when things were checked is not known.
        """
        await hub.start()
        await hub.catch_up()
        cursor = hub.head
        moment = past_moment(query.as_of, hub.clock.now())
        if moment is not None:
            shown, following = await past_summaries(hub.reads, resource, query, moment)
            return json_response(ThingList(items=shown, next=following, stream_cursor=str(cursor)))
        found = await hub.reads.listed(
            resource.vertical, status=query.status, group=query.group, after=query.after, limit=query.limit + 1
        )
        shown = [summary(hub, resource, each) for each in found[: query.limit]]
        following = found[query.limit - 1].thing.key if len(found) > query.limit else None
        return json_response(ThingList(items=shown, next=following, stream_cursor=str(cursor)))

    @readable(router, "/stream", text_responses("text/event-stream", 400, 404, 422, 429, 503))
    async def stream_many(request: Request, wanted: Annotated[Wanted, many]) -> Response:
        """Stream up to 50 things by name, or all of a status."""
        return await open_stream(request, resource, access, wanted)

    @readable(router, "/{key}", json_responses(dict[str, Any], 404, 422, 503))
    async def one(request: Request, key: ThingName) -> Response:
        """Show one whole, with how fresh it is."""
        found = await access.find(resource, key)
        return thing_response(request, hub, found)

    @readable(router, "/{key}/changes", json_responses(ChangeList, 404, 422, 503))
    async def changes(key: ThingName, after: SeqAfter = 0, limit: ChangeLimit = 100) -> Response:
        """Show every change after a sequence number, in order and for good."""
        found = await access.find(resource, key)
        entries = await access.changes(found.thing_id, after, limit + 1)
        following = entries[limit - 1].seq if len(entries) > limit else None
        return json_response(ChangeList(items=[_entry(each) for each in entries[:limit]], next=following))

    @readable(router, "/{key}/stream", text_responses("text/event-stream", 400, 404, 422, 429, 503))
    async def stream_one(request: Request, wanted: Annotated[Wanted, Depends(one_stream_parameters)]) -> Response:
        """Stream one thing."""
        return await open_stream(request, resource, access, wanted)

    return router


def readable(router: APIRouter, path: str, responses: dict[int | str, dict[str, Any]]) -> Callable[[Route], Route]:
    """Return the decorator of a route for GET and HEAD; the description of the API names it once."""

    def add(route: Route) -> Route:
        router.get(path, responses=responses)(route)
        router.head(path, include_in_schema=False)(route)
        return route

    return add


async def open_stream(request: Request, resource: StreamedResource, access: StreamAccess, wanted: Wanted) -> Response:
    """Return the stream that a request asks for, or why there is none."""
    if access.hub.is_closed:
        return refusal(access, 503, "restarting", "The server is restarting.")
    await access.hub.start()
    await require_all(access, resource, wanted)
    identity = identity_of(request)
    match access.limits.admit(identity):
        case "process":
            return refusal(access, 503, "too_many_readers", "This process has as many readers as it can serve.")
        case "token":
            return refusal(access, 429, "too_many_streams", "This token has as many streams as it may have.")
    return EventStreamResponse(access.hub, resource, wanted, access.limits, identity, access.caller_of(request))


def refusal(access: StreamAccess, status: int, code: str, message: str) -> Response:
    """Return a refusal that says when to come back."""
    access.hub.counts.refused += 1
    response = error_response(status, code, message, "Come back after Retry-After, or close another stream first.")
    response.headers.update(RETRY_AFTER)
    return response


async def require_all(access: StreamAccess, resource: StreamedResource, wanted: Wanted) -> None:
    """Raise `ResourceNotFound` unless all things that are named exist."""
    for key in sorted(wanted.keys):
        await access.find(resource, key)


def thing_response(request: Request, hub: StreamHub, found: ThingSnapshot) -> Response:
    """Return a thing with its headers; 304 for who has this state already."""
    about = metadata_of(hub, found)
    headers = {
        "ETag": f'"{hub.epoch}.{found.seq}"',
        "X-Data-Freshness": about.scraped_at.isoformat().replace("+00:00", "Z"),
        "X-Data-Age-Seconds": str(int(about.data_age_seconds)),
        "X-Stream-Cursor": str(StreamCursor(hub.epoch, found.offset)),
    }
    asked = request.headers.get("if-none-match", "")
    if headers["ETag"] in {tag.strip().removeprefix("W/") for tag in asked.split(",")}:
        return Response(status_code=304, headers=headers)
    separator = b"," if found.encoded != b"{}" else b""
    body = b"".join((found.encoded[:-1], separator, b'"_metadata":', msgspec.json.encode(about), b"}"))
    return Response(body, 200, headers, media_type="application/json")


def metadata_of(hub: StreamHub, found: ThingSnapshot) -> ThingMetadata:
    """Return how fresh a thing is, and from whom."""
    now = hub.clock.now()
    at, check = hub.checked(*found.thing, found.checked_at)
    resource = hub.resources[found.thing.vertical]
    is_live = found.labels.status in resource.live_statuses
    fresh = is_fresh(at, now, is_live=is_live, rests=check.rests)
    return ThingMetadata(
        scraped_at=at,
        data_age_seconds=max(0.0, round((now - at).total_seconds(), 1)),
        scraper_id=check.scraper_id,
        source=found.source,
        seq=found.seq,
        checksum=found.checksum,
        changed_at=found.changed_at,
        freshness="fresh" if fresh else "stale",
        trouble="" if fresh else check.trouble,
    )


def summary(hub: StreamHub, resource: StreamedResource, found: ThingSnapshot) -> dict[str, Any]:
    """Return a thing in short, as lists show it."""
    about, state = metadata_of(hub, found), found.state
    shown: dict[str, Any] = {"id": found.thing.key, "status": found.labels.status, resource.group: found.labels.group}
    shown |= {field: state[field] for field in resource.summary_fields if field in state}
    return shown | {
        "seq": found.seq, "checked_at": about.scraped_at, "changed_at": found.changed_at,
        "data_age_seconds": about.data_age_seconds, "freshness": about.freshness,
    }  # fmt: skip


def _entry(change: LoggedChange) -> ChangeEntry:
    return ChangeEntry(
        seq=change.seq,
        kind=change.kind.value,
        patch=msgspec.Raw(change.patch.encode()),
        checksum=change.checksum,
        changed_at=change.changed_at,
        source=change.source,
        skipped=change.skipped,
        reason=change.reason,
        was=msgspec.Raw(change.was.encode()),
        moved_from=change.moved_from,
        moved_to=change.moved_to,
    )
