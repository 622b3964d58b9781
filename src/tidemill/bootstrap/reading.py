"""The database opened to look at: no fetchers, no verticals, no chores. Half a second less than the whole system."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tidemill.bootstrap.plugins import PLUGINS
from tidemill.core.checks.suggestions import unknown_name
from tidemill.engine.clock import RealClock
from tidemill.operations.mistakes import NotFound
from tidemill.settings import Settings
from tidemill.store.database.database import Database, open_database
from tidemill.store.database.steps import newest_own_step, step_of
from tidemill.store.pages.output_files import RowOutputs
from tidemill.store.views.views import Views


@dataclass(frozen=True, slots=True)
class ReadSide:
    """How things stand, and the time that it is compared with."""

    database: Database
    views: Views
    clock: RealClock

    async def source_id(self, which: str | None) -> int | None:
        """Return the key of a source that is named, or numbered; None if none is asked for."""
        if which is None:
            return None
        known = await self.views.source_keys()
        found = known.get(which) or next((key for key in known.values() if str(key) == which), None)
        if found is None:
            raise NotFound(unknown_name("source", which, known))
        return found


@asynccontextmanager
async def open_read_side(settings: Settings) -> AsyncIterator[ReadSide]:
    """Open the database to look at lists; its tables must be of this version."""
    database = open_database(
        settings.database.get_secret_value(),
        connections=settings.database_connections,
        is_pooled=settings.database_pooler,
    )
    try:
        await _require_current(database)
        yield ReadSide(database, Views(database, RowOutputs(), approvals=approvals()), RealClock())
    finally:
        await database.close()


def approvals() -> dict[str, bool]:
    """Return whether sources need approved terms, by vertical; one that does not say so by itself is loaded."""
    return {
        name: plugin.load().policy.needs_approval if plugin.needs_approval is None else plugin.needs_approval
        for name, plugin in PLUGINS.items()
    }


async def _require_current(database: Database) -> None:
    """Look at our own step quickly; where that is not enough, ask the migrations themselves."""
    has_chains = any(plugin.migrations for plugin in PLUGINS.values())
    if has_chains or await step_of(database) != newest_own_step():
        from tidemill.bootstrap.migrations import require_current  # noqa: PLC0415 - takes as long as all the rest

        await require_current(database)
