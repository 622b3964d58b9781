"""The feed of a vertical's changes under `/api/v1/VERTICAL/changes`."""

from fastapi import APIRouter
from starlette.responses import Response

from tidemill.core.views.changes import RecordChange
from tidemill.store.records.changes import RecordChangeReads
from tidemill.web.api.parameters import Cursor, Limit, key_cursor
from tidemill.web.responses import Expired, Listed, json_response
from tidemill.web.schemas import json_responses


def change_router(vertical: str, reads: RecordChangeReads) -> APIRouter:
    """Return the route of a vertical's changes."""
    router = APIRouter(prefix="/api/v1", tags=[vertical])

    @router.get(
        f"/{vertical}/changes",
        name=f"{vertical}_changes",
        operation_id=f"{vertical}_changes",
        responses=json_responses(Listed[RecordChange], 410, 422, 503),
    )
    async def changes(cursor: Cursor = None, limit: Limit = 100) -> Response:
        """List what changed after the cursor, in the order in which it became visible; `next` is never missing.

        Whoever passes `next` on each time misses no change and sees none twice. Without a cursor it begins with the
        oldest change that is kept; a cursor from before that is refused (410).
        """
        after = key_cursor(cursor)
        if cursor is not None and after < (oldest := await reads.oldest_cursor()):
            msg = f"changes after {after} have been let go; the oldest cursor that misses nothing is {oldest}"
            raise Expired(msg)
        found = await reads.after(after, limit)
        return json_response(Listed(found, str(found[-1].seq if found else after)))

    return router
