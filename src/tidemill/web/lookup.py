"""Finds one thing, or says that it is not there; the API and the pages ask alike."""

from tidemill.core.views import EventDetail, RunDetail, SourceDetail
from tidemill.web.answers import NotThere
from tidemill.web.api.questions import LARGEST_KEY
from tidemill.web.deps import WebDeps


async def source(deps: WebDeps, name: str) -> SourceDetail:
    """A source by name, or by number when nothing bears that name."""
    now = deps.clock.now()
    found = await deps.views.source(name, now)
    if found is None and name.isascii() and name.isdigit() and int(name) <= LARGEST_KEY:
        found = await deps.views.source(int(name), now)
    if found is None:
        msg = f"There is no source called {name!r}."
        raise NotThere(msg, "`/api/v1/sources` lists all of them.")
    return found


async def run(deps: WebDeps, run_id: int) -> RunDetail:
    """A run by number."""
    found = await deps.views.run(run_id)
    if found is None:
        msg = f"There is no run {run_id}."
        raise NotThere(msg, "Old runs are let go by retention; `/api/v1/runs` lists the rest.")
    return found


async def event(deps: WebDeps, event_id: int) -> EventDetail:
    """An event by number."""
    found = await deps.views.event(event_id)
    if found is None:
        msg = f"There is no event {event_id}."
        raise NotThere(msg, "`/api/v1/events` lists all of them.")
    return found
