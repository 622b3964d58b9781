"""Finds one source or run for the API and the pages, or raises that there is none."""

from tidemill.core.views import RunDetail, SourceDetail
from tidemill.web.api.parameters import is_key
from tidemill.web.deps import WebDeps
from tidemill.web.responses import ResourceNotFound


async def source(deps: WebDeps, name: str) -> SourceDetail:
    """Return a source by name, or by number when no source has that name."""
    now = deps.clock.now()
    found = await deps.views.source(name, now)
    if found is None and is_key(name):
        found = await deps.views.source(int(name), now)
    if found is None:
        msg = f"There is no source called {name!r}."
        raise ResourceNotFound(msg, "`/api/v1/sources` lists all of them.")
    return found


async def source_id(deps: WebDeps, name: str | None) -> int | None:
    """Return the key of the source that a request names; None if it names none."""
    return None if name is None else (await source(deps, name)).view.id


async def run(deps: WebDeps, run_id: int) -> RunDetail:
    """Return a run by number."""
    found = await deps.views.run(run_id)
    if found is None:
        msg = f"There is no run {run_id}."
        raise ResourceNotFound(msg, "Old runs are let go by retention; `/api/v1/runs` lists the rest.")
    return found
