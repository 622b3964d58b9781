"""Runs at their end: counted, certified, and only then allowed to make the unseen fade."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.quality.completeness import Certificate, RunEvidence, certify, far_short
from tidemill.core.run import Counts, DriftNotice, RunStatus, RunSummary, final_status
from tidemill.core.vertical import Vertical
from tidemill.store.database.batches import write_each
from tidemill.store.database.database import Database
from tidemill.store.database.keys import Ids
from tidemill.store.quality.drift import KEYS_PER_RUN, Watched, watch_runs
from tidemill.store.quality.earlier_runs import of_each_run
from tidemill.store.records.repository import MOST_MISSED, CompleteRun, RecordRepository
from tidemill.store.schema import runs, sources, targets

REMEMBERED = 8
"""Complete runs that the usual count is taken from."""
TRUST_STEP = 0.1
"""How far one run moves a source's reliability."""


class RunRepository:
    """Closes runs whose jobs have all ended, each exactly once."""

    def __init__(
        self,
        database: Database,
        ids: Ids,
        repositories: Mapping[str, RecordRepository],
        verticals: Mapping[str, Vertical],
    ) -> None:
        """`repositories` and `verticals` by the vertical's name."""
        self._database = database
        self._ids = ids
        self._repositories = repositories
        self._verticals = verticals
        self._alarms = {name: alarm for name, each in verticals.items() if (alarm := alarm_of(each))}

    async def finished(self) -> list[int]:
        """Runs that are over but not closed: what a crash between the two leaves behind."""
        running = text("scrape_runs.status = 'RUNNING'")
        async with self._database.glance() as connection:
            return list((await connection.execute(select(runs.c.id).where(running, runs.c.open_jobs <= 0))).scalars())

    async def close(self, run_id: int, now: datetime) -> RunSummary | None:
        """Close a run; None if it is closed already."""
        return next(iter(await self.close_all([run_id], now)), None)

    async def close_all(self, run_ids: Sequence[int], now: datetime) -> list[RunSummary]:
        """Close runs, all or none: conclude, certify, fade what a complete run did not see, judge its adapter.

        Answers those that were not closed already. Whoever closes several takes their sources in the same order. A run
        whose vertical is not installed stays open: only its repository knows what the run's end means for its records.
        """
        await self._ids.reserve(len(run_ids) * (MOST_MISSED + KEYS_PER_RUN))
        async with self._database.write() as connection:
            ended = (await connection.execute(_OVER, {"b_ids": sorted(run_ids)})).mappings().all()
            over = [run for run in ended if run["vertical"] in self._repositories]
            closed: list[RunSummary] = []
            for some in each_source_once(sorted(over, key=itemgetter("source_id"))):
                closed += await self._close(connection, some, now)
            return closed

    async def _close(self, connection: AsyncConnection, over: Sequence[Any], now: datetime) -> list[RunSummary]:
        """Close runs of as many sources: each question is asked once for all of them."""
        histories = await self._histories(connection, over)
        ended = [end_of(run, histories[run["id"]]) for run in over]
        removed = await self._fade(connection, ended, now)
        await write_each(connection, _CLOSE, [closing(each, removed[each.run["id"]], now) for each in ended])
        await self._credit(connection, ended)
        for each in ended:
            repository = self._repositories[each.run["vertical"]]
            await repository.close_run(connection, each.run["scope"], final_status(each.counts), now)
        noticed = await watch_runs(connection, self._ids, [watched(each) for each in ended], now, self._alarms)
        return [summary(each, removed[each.run["id"]], noticed[each.run["id"]], now) for each in ended]

    async def _histories(self, connection: AsyncConnection, over: Sequence[Any]) -> dict[int, tuple[int, ...]]:
        """By run, what earlier complete ones saw; those of the same weekday if there are enough of them."""
        before: dict[int, list[tuple[int, int]]] = {run["id"]: [] for run in over}
        statement = _EARLIER[self._database.is_sqlite]
        for row in (await connection.execute(statement, {"b_ids": list(before)})).mappings():
            saw = row["records_accepted"] - row["records_repeated"] + row["records_seen_again"]
            before[row["run_id"]].append((row["started_at"].weekday(), saw))
        return {run["id"]: usual(before[run["id"]], run["started_at"].weekday()) for run in over}

    async def _fade(self, connection: AsyncConnection, ended: Sequence["ClosingRun"], now: datetime) -> Counter[int]:
        """Let what complete runs did not see fade; by run, how many are gone for good."""
        removed: Counter[int] = Counter()
        for vertical, repository in self._repositories.items():
            mine = [each.run for each in ended if each.certificate.complete and each.run["vertical"] == vertical]
            if mine:
                over = [CompleteRun(run["id"], run["source_id"], run["started_at"]) for run in mine]
                removed.update(
                    await repository.miss(connection, over, now, self._verticals[vertical].policy.missing_runs)
                )
        return removed

    async def _credit(self, connection: AsyncConnection, ended: Sequence["ClosingRun"]) -> None:
        """Move the sources' standing with how their runs went."""
        earned = [
            {
                "b_id": each.run["source_id"],
                "b_share": TRUST_STEP * (1.0 - each.counts.failure_rate),
                "b_inserted": each.counts.records_inserted,
            }
            for each in ended
            if each.counts.urls_succeeded + each.counts.urls_failed
        ]
        await write_each(connection, _CREDIT, earned)


def alarm_of(vertical: Vertical) -> str:
    """How what the vertical finds alarming is told; '' if it finds nothing so."""
    return next((each.alarm for each in vertical.notable.values() if each.alarm), "")


class ClosingRun(msgspec.Struct, frozen=True):
    """A run at its end: its row, what it came to, and whether it was complete."""

    run: Any
    counts: Counts
    evidence: RunEvidence
    certificate: Certificate


def each_source_once(over: Sequence[Any]) -> Iterator[list[Any]]:
    """The runs in lists in which each source occurs once: a source's second run is judged by what its first left."""
    left = list(over)
    while left:
        first = {run["source_id"]: run for run in reversed(left)}
        some = [run for run in left if first[run["source_id"]] is run]
        yield some
        left = [run for run in left if first[run["source_id"]] is not run]


def end_of(run: Any, history: tuple[int, ...]) -> ClosingRun:
    """What a run came to, beside what is usual."""
    counts = counts_of(run)
    evidence = RunEvidence(
        counts=counts,
        targets=run["switched_on"],
        followed=run["pages_followed"],
        truncated_pages=run["truncated_pages"],
        poorer_pages=run["poorer_pages"],
        claimed_total=run["claimed_total"],
        records_seen=seen(counts),
        history=history,
        degraded=tuple(run["degraded"] or ()),
    )
    return ClosingRun(run, counts, evidence, certify(evidence))


def usual(earlier: Sequence[tuple[int, int]], weekday: int) -> tuple[int, ...]:
    """How much earlier runs saw, the last first, each with its weekday; of the same weekday if there are enough."""
    alike = tuple(count for day, count in earlier if day == weekday)[:REMEMBERED]
    return alike if len(alike) >= REMEMBERED // 2 else tuple(count for _, count in earlier[:REMEMBERED])


def watched(ended: ClosingRun) -> Watched:
    """A run as drift detection looks at it."""
    short = shortfall(ended.run, ended.evidence, ended.certificate)
    return Watched(ended.run, ended.counts, short, ended.run["poorer_pages"])


# Statements are built once: a run ends every few pages, and putting them together costs as much as running them.
_OVER = (
    select(
        runs,
        select(sources.c.name).where(sources.c.id == runs.c.source_id).scalar_subquery().label("source_name"),
        select(func.count())
        .select_from(targets)
        .where(targets.c.source_id == runs.c.source_id, targets.c.scope == runs.c.scope, targets.c.enabled)
        .scalar_subquery()
        .label("switched_on"),
    )
    .where(runs.c.id.in_(bindparam("b_ids", expanding=True)))
    .where(runs.c.open_jobs <= 0, runs.c.status == RunStatus.RUNNING)
    .order_by(runs.c.id)
    .with_for_update(of=runs)
)
_earlier = runs.alias("earlier")
_EARLIER = of_each_run(
    _earlier,
    (_earlier.c.started_at, _earlier.c.records_accepted, _earlier.c.records_repeated, _earlier.c.records_seen_again),
    (_earlier.c.started_at < runs.c.started_at, _earlier.c.complete, _earlier.c.scope == runs.c.scope),
    limit=REMEMBERED * 7,
)
_CLOSED = ("status", "completed_at", "duration_ms", "failure_rate", "yield_rate", "drop_rate", "complete", "doubts",
           "records_removed")  # fmt: skip
_CLOSE = update(runs).where(runs.c.id == bindparam("b_id")).values({name: bindparam(f"b_{name}") for name in _CLOSED})
_CREDIT = (
    update(sources)
    .where(sources.c.id == bindparam("b_id"))
    .values(
        reliability=sources.c.reliability * (1 - TRUST_STEP) + bindparam("b_share"),
        historical_count=sources.c.historical_count + bindparam("b_inserted"),
    )
)


def shortfall(run: Any, evidence: RunEvidence, certificate: Certificate) -> str | None:
    """How a scope's list fell far short; '' if it was complete, None if neither, or if the run has no scope."""
    if not run["scope"]:
        return None
    return "" if certificate.complete else far_short(evidence) or None


def seen(counts: Counts) -> int:
    """How many records a run saw, each once."""
    return counts.records_accepted - counts.records_repeated + counts.records_seen_again


def counts_of(run: Any) -> Counts:
    """The counts in a run's row."""
    return Counts(**{name: run[name] for name in Counts.__struct_fields__})


def closing(ended: ClosingRun, removed: int, now: datetime) -> dict[str, Any]:
    """What a run's row says once it is closed."""
    run, counts, certificate = ended.run, ended.counts, ended.certificate
    return {
        "b_id": run["id"],
        "b_status": final_status(counts),
        "b_completed_at": now,
        "b_duration_ms": (now - run["started_at"]) // timedelta(milliseconds=1),
        "b_failure_rate": counts.failure_rate,
        "b_yield_rate": counts.yield_rate,
        "b_drop_rate": counts.drop_rate,
        "b_complete": certificate.complete,
        "b_doubts": [f"{doubt.rule}: {doubt.detail}" for doubt in certificate.doubts],
        "b_records_removed": removed,
    }


def summary(ended: ClosingRun, removed: int, noticed: tuple[DriftNotice, ...], now: datetime) -> RunSummary:
    """The run as it is announced."""
    run, certificate = ended.run, ended.certificate
    return RunSummary(
        run_id=run["id"],
        source_id=run["source_id"],
        source_name=run["source_name"] or "",
        vertical=run["vertical"],
        trigger=run["trigger"],
        status=final_status(ended.counts),
        started_at=run["started_at"],
        completed_at=now,
        counts=ended.counts,
        complete=certificate.complete,
        doubts=tuple(f"{doubt.rule}: {doubt.detail}" for doubt in certificate.doubts),
        removed=removed,
        degraded=tuple(run["degraded"] or ()),
        adapter_id=run["adapter_id"],
        noticed=noticed,
    )
