"""The test's own view of a running installation: it brings work in, and counts what came of it."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Table, select, text, update

from rig.site import Site
from tidemill.bootstrap import system as bootstrap
from tidemill.core.run import Trigger
from tidemill.lab.scripted import ScriptedSite
from tidemill.pipeline.ports import Clock
from tidemill.settings import load_settings
from tidemill.store.schema import jobs, targets

STAGES = ("fetch", "parse", "normalize", "persist")
UNHURRIED = {"interval_seconds": 0, "burst": 1, "parallel": 100}


class Works:
    """A system in the test's own process, beside those that work on the same database."""

    def __init__(self, system: bootstrap.System, url: str) -> None:
        """See everything that `system` sees."""
        self.system = system
        self.url = url

    async def source(
        self, site: Site | ScriptedSite, name: str = "agenda", paths: Sequence[str] = (), **fields: Any
    ) -> int:
        """Bring a site in as a source; answers its key."""
        aims = [{"url": site.origin + path, "schedule": "0 6 * * *"} for path in paths or site.paths]
        entry = {"name": name, "vertical": "events", "base_url": site.origin, "adapter": "events.generic",
                 "city": "Arnhem", "pace": UNHURRIED, "targets": aims}  # fmt: skip
        done = await self.system.actions.importer.source_entries([entry | fields], "test")
        assert not done.problems, done.problems
        return (await self.system.actions.sources.find(name)).id

    async def enqueue(self, source_id: int) -> int:
        """A run over all targets of a source; answers its number of jobs."""
        done, _ = await self.system.dispatcher.enqueue(
            await self.system.store.agenda.of_source(source_id), Trigger.MANUAL
        )
        return done.jobs

    async def rows(self, table: Table, **equal: Any) -> list[Any]:
        """Rows of a table in key order."""
        query = select(table).order_by(*table.primary_key.columns)
        for name, value in equal.items():
            query = query.where(table.c[name] == value)
        async with self.system.store.database.read() as connection:
            return list((await connection.execute(query)).mappings())

    async def count(self, table: Table, **equal: Any) -> int:
        """How many rows."""
        return len(await self.rows(table, **equal))

    async def say(self, sql: str) -> None:
        """Change something behind everybody's back."""
        async with self.system.store.database.write() as connection:
            await connection.execute(text(sql))

    async def make_due(self) -> None:
        """Let every target be due now."""
        now = self.system.clock.now()
        async with self.system.store.database.write() as connection:
            await connection.execute(update(targets).values(next_due_at=now))

    async def stages(self) -> dict[str, str]:
        """The stage of every job, by its path."""
        return {urlsplit(row["url"]).path: row["current_stage"] for row in await self.rows(jobs)}


@asynccontextmanager
async def the_works(url: str, clock: Clock | None = None, **settings: Any) -> AsyncIterator[Works]:
    """Open the test's view of a database."""
    options = load_settings(**{"database": url, "allow_networks": ["127.0.0.0/8"], "reader_processes": 0, **settings})
    system = bootstrap.build(options, clock=clock)
    try:
        yield Works(system, url)
    finally:
        await system.close()


def stages_done(*tales: Iterable[dict[str, Any]]) -> Counter[tuple[int, str]]:
    """How often each job finished each stage, over what several processes said."""
    return Counter(
        (said["job_id"], said["stage"]) for tale in tales for said in tale if said["kind"] == "StageDone"
    )  # fmt: skip
