"""Stored pages under `/api/v1/pages`: what was fetched, its text, and its body as it came, harmless."""

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.views import PageDetail, PageView
from tidemill.web import lookup
from tidemill.web.api.parameters import Cursor, Key, Limit, OptionalKey, Word, run_cursor
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, ResourceNotFound, json_response, list_page, redacted_response
from tidemill.web.schemas import json_responses, text_responses

SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""A stored page may show itself and do nothing: no scripts, no forms, nothing from elsewhere."""


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of stored pages."""
    router = APIRouter(prefix="/api/v1", tags=["pages"])

    @router.get("/pages", responses=json_responses(Listed[PageView], 404, 422, 503))
    async def pages(
        source: Word = None, target: OptionalKey = None, cursor: Cursor = None, limit: Limit = 100
    ) -> Response:
        """List stored pages, the newest first."""
        source_id = await lookup.source_id(deps, source)
        before = run_cursor(cursor)
        found = await deps.views.pages(target_id=target, source_id=source_id, before=before, limit=limit + 1)
        return redacted_response(list_page(found, limit))

    @router.get("/pages/{page_id:int}", responses=json_responses(PageDetail, 404, 422, 503))
    async def page(page_id: Key) -> Response:
        """Show a stored page: where it came from, and what was made of it."""
        found = await deps.views.page(page_id)
        if found is None:
            raise _gone(page_id)
        return redacted_response(found)

    @router.get("/pages/{page_id:int}/records", responses=json_responses(Found, 404, 422, 503))
    async def records(page_id: Key) -> Response:
        """Show the raw records that were read from a page, with where on it each field stood."""
        found = await deps.views.found(page_id)
        if found is None:
            msg = f"Nothing that was read from page {page_id} is kept."
            raise ResourceNotFound(msg, "It was never parsed, or retention let it go.")
        return json_response(found)

    @router.get("/pages/{page_id:int}/text", responses=text_responses("text/plain", 404, 422, 503))
    async def text(page_id: Key) -> Response:
        """Return the markup of a stored page as plain text."""
        return PlainTextResponse((await _stored(deps, page_id)).text)

    @router.get("/pages/{page_id:int}/body", responses=text_responses("text/html", 404, 422, 503))
    async def body(page_id: Key) -> Response:
        """Return a stored page in a sandbox: it shows itself, runs nothing and loads nothing."""
        stored = await _stored(deps, page_id)
        response = Response(stored.text.encode(), media_type="text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = SANDBOX
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return response

    return router


async def _stored(deps: WebDeps, page_id: int) -> Page:
    found = await deps.read_page(page_id)
    if found is None:
        raise _gone(page_id)
    return found


def _gone(page_id: int) -> ResourceNotFound:
    return ResourceNotFound(f"There is no page {page_id}.", "Old pages are let go by retention; see `/api/v1/pages`.")
