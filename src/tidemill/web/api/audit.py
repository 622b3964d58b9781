"""The audit log and the settings in force, for admins."""

from collections.abc import AsyncIterator

import msgspec
from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from tidemill.store.upkeep.audit import Noted
from tidemill.web.answers import SettingView
from tidemill.web.api.parameters import Cursor, Limit, Word, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response, list_page
from tidemill.web.schemas import json_responses, text_responses

BATCH = 500


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of the audit log and the settings."""
    router = APIRouter(prefix="/api/v1", tags=["audit"])

    @router.get("/audit", responses=json_responses(Listed[Noted], 401, 403, 422, 503))
    async def audit(subject: Word = None, actor: Word = None, cursor: Cursor = None, limit: Limit = 100) -> Response:
        """List who did what, the newest first; the log can be read, not changed."""
        found = await deps.audit.latest(limit + 1, run_cursor(cursor), subject, actor)
        return json_response(list_page(found, limit))

    @router.get("/audit/export", responses=text_responses("application/x-ndjson", 401, 403, 422, 503))
    async def export(subject: Word = None, actor: Word = None) -> Response:
        """Give the whole log as JSON Lines, the newest first."""
        return StreamingResponse(lines(subject, actor), media_type="application/x-ndjson")

    async def lines(subject: str | None, actor: str | None) -> AsyncIterator[bytes]:
        before: int | None = None
        while found := await deps.audit.latest(BATCH, before, subject, actor):
            yield b"".join(msgspec.json.encode(each) + b"\n" for each in found)
            before = found[-1].id

    @router.get("/settings", responses=json_responses(Listed[SettingView], 401, 403, 503))
    async def settings() -> Response:
        """List the settings in force, where each comes from and what it does."""
        shown = [
            SettingView(each.name, msgspec.json.encode(each.value).decode(), each.origin, each.description)
            for each in deps.settings()
        ]
        return json_response(Listed(shown))

    return router
