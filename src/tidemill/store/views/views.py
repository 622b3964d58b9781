"""How things stand, read from the database: what the command line, the API and the portal show.

Every method is a few statements whatever the number of rows; lists go on from a key, never from an offset.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from tidemill.core.health.system import Waiting
from tidemill.core.record import Found
from tidemill.core.views import (
    AdapterView,
    BreakerView,
    DeadLetterDetail,
    DeadLetterFilter,
    DeadLetterView,
    HostView,
    JobDetail,
    JobFilter,
    JobView,
    PageDetail,
    PageView,
    RejectedFilter,
    RejectedView,
    RunDetail,
    RunView,
    SourceDetail,
    SourceView,
    TargetDetail,
    TargetFilter,
    TargetView,
    TickView,
    Totals,
    WorkerView,
)
from tidemill.core.views.source_list import SourceListFilter, SourcePage
from tidemill.store.database.database import Database
from tidemill.store.pages.output_files import Outputs
from tidemill.store.views import records as views_records
from tidemill.store.views import source_list as views_source_list
from tidemill.store.views import sources as views_sources
from tidemill.store.views import waiting as views_waiting
from tidemill.store.views import work as views_work
from tidemill.store.views.totals import RecordCounter, TotalsReader


class Views:
    """Reads; changes nothing."""

    def __init__(
        self,
        database: Database,
        outputs: Outputs,
        counters: Sequence[RecordCounter] = (),
        approvals: views_sources.Approvals | None = None,
    ) -> None:
        """Read from one database and from where outputs of stages are kept; `counters` count verticals' records.

        `approvals` names the installed verticals, and whether their sources need approved terms; None if any will do.
        """
        self._approvals = approvals
        self._database = database
        self._outputs = outputs
        self.totals = TotalsReader(counters)

    async def source_keys(self) -> dict[str, int]:
        """Return the key of every source by its name."""
        async with self._database.read() as connection:
            return await views_sources.source_keys(connection)

    async def sources(self, now: datetime, *, vertical: str | None = None) -> list[SourceView]:
        """All sources by name, with whether they may be asked at `now` and if not why."""
        async with self._database.read() as connection:
            return await views_sources.list_sources(connection, now, vertical, approvals=self._approvals)

    async def source_page(
        self, which: SourceListFilter, now: datetime, *, after: int | None = None, limit: int = 50
    ) -> SourcePage:
        """A page of the list of sources, filtered and ordered; `after` is the key of the last one already seen."""
        async with self._database.read() as connection:
            return await views_source_list.source_page(connection, which, now, after, limit, self._approvals)

    async def matching_sources(self, which: SourceListFilter) -> list[int]:
        """The keys of all sources that a filter means."""
        async with self._database.read() as connection:
            return await views_source_list.matching_sources(connection, which)

    async def records_by_day(self, source_id: int, now: datetime, days: int) -> list[int]:
        """What a source's runs yielded on each of the last days, today last."""
        async with self._database.read() as connection:
            return (await views_source_list.records_by_day(connection, [source_id], now, days))[source_id]

    async def source(self, which: int | str, now: datetime) -> SourceDetail | None:
        """A source by key or by name, with everything around it."""
        async with self._database.read() as connection:
            return await views_sources.one_source(connection, which, now, self._approvals)

    async def targets(
        self, which: TargetFilter | None = None, *, after: int = 0, limit: int = 100
    ) -> list[TargetView]:  # fmt: skip
        """A page of targets in order of key; `after` is the last key already seen."""
        async with self._database.read() as connection:
            return await views_sources.list_targets(connection, which or TargetFilter(), after, limit)

    async def count_targets(self, which: TargetFilter, most: int) -> int:
        """How many targets a filter means; at most one more than `most` is counted."""
        async with self._database.read() as connection:
            return await views_sources.count_targets(connection, which, most)

    async def target(self, target_id: int, now: datetime) -> TargetDetail | None:
        """A target by key, with its source, its host and its latest jobs."""
        async with self._database.read() as connection:
            return await views_sources.one_target(connection, target_id, now, self._approvals)

    async def runs(
        self, source_id: int | None = None, status: str | None = None, *, before: int | None = None, limit: int = 50
    ) -> list[RunView]:
        """The newest runs first; `before` is the key of the last one already seen."""
        async with self._database.read() as connection:
            return await views_work.list_runs(connection, source_id, status, before, limit)

    async def run(self, run_id: int) -> RunDetail | None:
        """A run with its jobs, stage by stage."""
        async with self._database.read() as connection:
            return await views_work.one_run(connection, run_id)

    async def jobs(
        self, which: JobFilter | None = None, *, before: int | None = None, limit: int = 100
    ) -> list[JobView]:  # fmt: skip
        """The newest jobs first; `before` is the key of the last one already seen."""
        async with self._database.read() as connection:
            return await views_work.list_jobs(connection, which or JobFilter(), before, limit)

    async def job(self, job_id: int) -> JobDetail | None:
        """A job with what its stages left behind."""
        async with self._database.read() as connection:
            return await views_work.one_job(connection, job_id)

    async def dead_letters(
        self, which: DeadLetterFilter | None = None, *, before: int | None = None, limit: int = 100
    ) -> list[DeadLetterView]:
        """The newest dead letters first; `before` is the key of the last one already seen."""
        async with self._database.read() as connection:
            return await views_work.list_letters(connection, which or DeadLetterFilter(), before, limit)

    async def count_dead_letters(self, which: DeadLetterFilter, most: int) -> int:
        """How many dead letters a filter means; at most one more than `most` is counted."""
        async with self._database.read() as connection:
            return await views_work.count_letters(connection, which, most)

    async def dead_letter(self, dead_letter_id: int) -> DeadLetterDetail | None:
        """A dead letter with its stack and the payload to retry from."""
        async with self._database.read() as connection:
            return await views_work.one_letter(connection, dead_letter_id)

    async def breakers(self) -> list[BreakerView]:
        """Every breaker that has ever been asked, the open ones first."""
        async with self._database.read() as connection:
            return await views_sources.list_breakers(connection)

    async def adapters(self) -> list[AdapterView]:
        """Adapters that somebody or drift detection has dealt with."""
        async with self._database.read() as connection:
            return await views_sources.list_adapters(connection, None)

    async def rejected(
        self, which: RejectedFilter | None = None, *, before: int | None = None, limit: int = 100
    ) -> list[RejectedView]:
        """The newest dropped and quarantined records first."""
        async with self._database.read() as connection:
            return await views_records.list_rejected(connection, which or RejectedFilter(), before, limit)

    async def pages(
        self,
        *,
        target_id: int | None = None,
        source_id: int | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[PageView]:
        """The newest stored pages first, of a target, a source or all."""
        async with self._database.read() as connection:
            return await views_records.list_pages(connection, target_id, source_id, before, limit)

    async def page(self, page_id: int) -> PageDetail | None:
        """A stored page with what was made of it."""
        async with self._database.read() as connection:
            return await views_records.one_page(connection, page_id)

    async def found(self, page_id: int) -> Found | None:
        """The raw records that were read from a page, with where on it each field stood."""
        async with self._database.read() as connection:
            return await views_records.found_on(connection, self._outputs, page_id)

    async def hosts(self, names: Collection[str] | None = None, *, limit: int = 1_000) -> list[HostView]:
        """Hosts by name with their pace."""
        async with self._database.read() as connection:
            return await views_sources.list_hosts(connection, names, limit)

    async def ticks(self) -> list[TickView]:
        """Periodic work: last slot, how it went, last success."""
        async with self._database.read() as connection:
            return await views_work.list_ticks(connection)

    async def workers(self, *, limit: int = 100) -> list[WorkerView]:
        """Workers, those at work first."""
        async with self._database.read() as connection:
            return await views_work.list_workers(connection, limit)

    async def waiting(self) -> Waiting:
        """What waits for a person."""
        async with self._database.read() as connection:
            return await views_waiting.waiting_for_a_person(connection)

    async def counts(self) -> Totals:
        """Everything in numbers."""
        async with self._database.read() as connection:
            return await self.totals.read(connection)
