"""The audit log and the settings in force, for admins."""

import msgspec
from fastapi import APIRouter
from starlette.responses import Response

from tidemill.store.upkeep.audit import Noted
from tidemill.web.answers import SettingView
from tidemill.web.api.parameters import Cursor, Limit, Word, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response, list_page
from tidemill.web.schemas import json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of the audit log and the settings."""
    router = APIRouter(prefix="/api/v1", tags=["audit"])

    @router.get("/audit", responses=json_responses(Listed[Noted], 401, 403, 422, 503))
    async def audit(subject: Word = None, cursor: Cursor = None, limit: Limit = 100) -> Response:
        """List who did what, the newest first; the log can be read, not changed."""
        found = await deps.audit.latest(limit + 1, run_cursor(cursor), subject)
        return json_response(list_page(found, limit))

    @router.get("/settings", responses=json_responses(Listed[SettingView], 401, 403, 503))
    async def settings() -> Response:
        """List the settings in force, where each comes from and what it does."""
        shown = [
            SettingView(each.name, msgspec.json.encode(each.value).decode(), each.origin, each.description)
            for each in deps.settings()
        ]
        return json_response(Listed(shown))

    return router
