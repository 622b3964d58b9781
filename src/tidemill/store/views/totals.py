"""Everything in numbers, in a handful of statements."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.views import Totals
from tidemill.core.views.totals import RecordTotal, totals_type
from tidemill.store.schema import breakers, dead_letters, jobs, pages, runs, sources, targets
from tidemill.store.views.work import counted

VERDICTS = ("read", "accepted", "dropped", "quarantined", "inserted", "updated", "unchanged", "repeated",
            "seen_again", "removed")  # fmt: skip


class RecordCounter(msgspec.Struct, frozen=True):
    """Counts a vertical's records; the statement answers how many are there, and how many are gone."""

    total: RecordTotal
    statement: Select[int, int]


class TotalsReader:
    """Counts what every vertical shares, and each vertical's own records."""

    def __init__(self, counters: Sequence[RecordCounter]) -> None:
        """One counter for each vertical that keeps records."""
        self._counters = counters
        self.records = tuple(sorted((counter.total for counter in counters), key=lambda total: total.noun))
        self.type = totals_type(self.records)

    async def read(self, connection: AsyncConnection) -> Totals:
        """Count everything."""
        sums = [func.coalesce(func.sum(runs.c[f"records_{name}"]), 0) for name in VERDICTS]
        unchanged, *records = (
            await connection.execute(select(func.coalesce(func.sum(runs.c.pages_unchanged), 0), *sums))
        ).one()  # fmt: skip
        on = func.count().filter(sources.c.enabled, ~sources.c.auto_disabled)
        sources_all, sources_on = (await connection.execute(select(func.count(), on).select_from(sources))).one()
        return self.type(
            sources=sources_all,
            sources_on=sources_on,
            targets=(await connection.execute(select(func.count()).select_from(targets))).scalar_one(),
            pages=(await connection.execute(select(func.count()).select_from(pages))).scalar_one(),
            pages_unchanged=int(unchanged),
            records={name: int(count) for name, count in zip(VERDICTS, records, strict=True)},
            jobs=await counted(connection, jobs.c.status),
            runs=await counted(connection, runs.c.status),
            dead_letters=await counted(connection, dead_letters.c.status),
            breakers=await counted(connection, breakers.c.state),
            **await self._of_verticals(connection),
        )

    async def _of_verticals(self, connection: AsyncConnection) -> dict[str, int]:
        figures: dict[str, int] = {}
        for counter in self._counters:
            there, gone = (await connection.execute(counter.statement)).one()
            figures |= {counter.total.there: there, counter.total.gone: gone}
        return figures
