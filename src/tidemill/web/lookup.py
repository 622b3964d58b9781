"""Finds one source or run for the API and the pages, or raises that there is none."""

from tidemill.core.checks.suggestions import unknown_name
from tidemill.core.views import RunDetail, SourceDetail
from tidemill.operations.mistakes import NotFound
from tidemill.web.api.parameters import is_key
from tidemill.web.deps import WebDeps
from tidemill.web.responses import BadParameter, ResourceNotFound


async def source(deps: WebDeps, name: str) -> SourceDetail:
    """Return a source by name, or by number when no source has that name."""
    now = deps.clock.now()
    found = await deps.views.source(name, now)
    if found is None and is_key(name):
        found = await deps.views.source(int(name), now)
    if found is None:
        names = [each.name for each in await deps.views.sources(now)]
        raise _no_source(name, unknown_name("source", name, names))
    return found


def _no_source(name: str, words: str) -> ResourceNotFound:
    return ResourceNotFound(
        f"There is no source called {name[:80]!r}: {words}.", "`/api/v1/sources` lists all of them."
    )


def require_vertical(deps: WebDeps, name: str | None) -> None:
    """Raise `BadParameter` for a vertical that does not exist."""
    if name is not None and name not in deps.verticals:
        msg = f"vertical: {unknown_name('vertical', name, deps.verticals)}"
        raise BadParameter(msg)


async def source_id(deps: WebDeps, name: str | None) -> int | None:
    """Return the key of the source that a request names; None if it names none. Nothing is counted for that."""
    if name is None:
        return None
    try:
        return (await deps.sources.find(name)).id
    except NotFound as error:
        raise _no_source(name, str(error)) from error


async def run(deps: WebDeps, run_id: int) -> RunDetail:
    """Return a run by number."""
    found = await deps.views.run(run_id)
    if found is None:
        msg = f"There is no run {run_id}."
        raise ResourceNotFound(msg, "Old runs are let go by retention; `/api/v1/runs` lists the rest.")
    return found
