"""Adapters under `/api/v1/adapters`: list them, switch them on and off, accept what they read now."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from tidemill.operations.adapters import AdapterLine, Blessed, Enabled
from tidemill.operations.dry_run import DryRun
from tidemill.store.quality.adapter_fit import KeptBaseline
from tidemill.web.api.parameters import Name, ReasonGiven
from tidemill.web.auth.gate import ActorName
from tidemill.web.deps import WebDeps
from tidemill.web.responses import Listed, json_response
from tidemill.web.schemas import CHANGE_ERRORS, json_responses


def router(deps: WebDeps) -> APIRouter:
    """Return the routes of adapters."""
    router = APIRouter(prefix="/api/v1", tags=["adapters"])

    @router.get("/adapters", responses=json_responses(Listed[AdapterLine], 503))
    async def every() -> Response:
        """List adapters with their versions, and who switched which off and why."""
        return json_response(Listed(await deps.adapters.every()))

    @router.post("/adapters/{name}/enable", responses=json_responses(Enabled, *CHANGE_ERRORS))
    async def enable(
        name: Name,
        by: ActorName,
        careful: Annotated[bool, Query(description="Refuse when the dry run goes badly.")] = False,  # noqa: FBT002
    ) -> Response:
        """Switch an adapter on after a dry run on stored pages, which is shown; its next run is watched."""
        return json_response(await deps.adapters.enable(name, by, careful=careful))

    @router.post("/adapters/{name}/try", responses=json_responses(DryRun, *CHANGE_ERRORS))
    async def dry_run(name: Name) -> Response:
        """Read the newest stored pages of an adapter's targets, and write nothing."""
        return json_response(await deps.adapters.dry_run(name))

    @router.get("/adapters/{name}/baselines", responses=json_responses(Listed[KeptBaseline], 404, 422, 503))
    async def baselines(name: Name) -> Response:
        """List the shares of records that should have each field, as people took them for good."""
        return json_response(Listed(await deps.adapters.baselines(name)))

    @router.post("/adapters/{name}/disable", responses=json_responses(AdapterLine, *CHANGE_ERRORS))
    async def disable(name: Name, why: ReasonGiven, by: ActorName) -> Response:
        """Switch an adapter off: no page is asked for that it would read."""
        return json_response(await deps.adapters.disable(name, by, why.reason))

    @router.post("/adapters/{name}/bless", responses=json_responses(Blessed, *CHANGE_ERRORS))
    async def bless(name: Name, by: ActorName) -> Response:
        """Take the shares of fields, as the latest runs show them, for what should be."""
        done = await deps.adapters.bless(name, by)
        return json_response(Blessed({each.source_id: each.shares for each in done}))

    return router
