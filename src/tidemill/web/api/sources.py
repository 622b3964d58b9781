"""Sources under `/api/v1/sources`: list, add, change, import, switch on and off, remove."""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from starlette.requests import Request
from starlette.responses import Response

from tidemill.core.source import Source
from tidemill.core.views import SourceDetail, SourceView
from tidemill.operations.importing import Imported
from tidemill.operations.mistakes import Mistake
from tidemill.web import lookup
from tidemill.web.api.parameters import DryRunFlag, Name, ReasonGiven, Word
from tidemill.web.api.uploads import whole_file
from tidemill.web.auth.gate import ActorName
from tidemill.web.conditional import require_match
from tidemill.web.deps import WebDeps
from tidemill.web.lookup import require_vertical
from tidemill.web.responses import BadParameter, Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses

SourceEntry = Annotated[dict[str, Any], Body(description="A source as a sources file has it.")]


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of sources."""
    router = APIRouter(prefix="/api/v1", tags=["sources"])

    @router.get("/sources", responses=json_responses(Listed[SourceView], 422, 503))
    async def sources(vertical: Word = None) -> Response:
        """List all sources by name, with whether they may be asked now and if not why."""
        require_vertical(deps, vertical)
        found = await deps.views.sources(deps.clock.now(), vertical=vertical)
        return json_response(Listed(found))

    @router.get("/sources/{name:path}", responses=json_responses(SourceDetail, 404, 422, 503))
    async def source(name: Name) -> Response:
        """Show a source with its breaker, hosts, jobs and latest runs; by name or number."""
        return json_response(await lookup.source(deps, name))

    _change(router, deps)
    _switch(router, deps)
    return router


def _change(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/sources", status_code=201, responses=json_responses(Source, *CHANGE_ERRORS))
    async def add(entry: SourceEntry, by: ActorName) -> Response:
        """Add a source, written as in a sources file, with its targets."""
        if "name" not in entry:
            msg = "a source needs a name"
            raise BadParameter(msg)
        made = await deps.sources.add(entry, by)
        return json_response(made, 201)

    @router.post("/sources/import", responses=json_responses(Imported, *CHANGE_ERRORS))
    async def bring_in(request: Request, by: ActorName, dry_run: DryRunFlag = False) -> Response:  # noqa: FBT002 - a query
        """Bring in a sources file (YAML), sent as the body; good entries are kept, bad ones reported by line."""
        return json_response(await deps.importer.sources_file(await whole_file(request), by, dry_run=dry_run))

    @router.patch("/sources/{name}", responses=json_responses(SourceDetail, *CHANGE_ERRORS, 412))
    async def change(name: Name, entry: SourceEntry, request: Request, by: ActorName) -> Response:
        """Change fields of a source, written as in a sources file; what is left out stays.

        With If-Match it is changed only while it is as it was read.
        """
        before = await lookup.source(deps, name)
        require_match(request, before)
        if entry.get("name", before.view.name) != before.view.name:
            msg = "a source keeps its name; add a new one and remove this"
            raise BadParameter(msg)
        done = await deps.importer.source_entries([{**entry, "name": before.view.name}], by)
        if done.problems:
            raise Mistake("; ".join(f"{each.field}: {each.message}" for each in done.problems))
        return json_response(await lookup.source(deps, before.view.name))

    @router.delete("/sources/{name}", responses=json_responses(Source, *CHANGE_ERRORS))
    async def remove(name: Name, by: ActorName) -> Response:
        """Remove a source with its targets and runs; pages and published records stay. It cannot be undone."""
        return json_response(await deps.sources.remove(name, by))


def _switch(router: APIRouter, deps: WebDeps) -> None:
    @router.post("/sources/{name}/enable", responses=json_responses(Source, *CHANGE_ERRORS))
    async def enable(name: Name, by: ActorName) -> Response:
        """Switch a source on, and reset its breaker, failures and drift."""
        return json_response(await deps.sources.enable(name, by))

    @router.post("/sources/{name}/disable", responses=json_responses(Source, *CHANGE_ERRORS))
    async def disable(name: Name, why: ReasonGiven, by: ActorName) -> Response:
        """Switch a source off: no more requests are sent, not even for waiting jobs."""
        return json_response(await deps.sources.disable(name, by, why.reason))
