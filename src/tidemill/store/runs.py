"""Runs at their end: counted, certified, and only then allowed to make the unseen fade (X6)."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.completeness import Certificate, Evidence, certify, far_short
from tidemill.core.policy import Policy
from tidemill.core.run import Counts, RunStatus, RunSummary, conclude
from tidemill.store.bulk import change, read_all
from tidemill.store.checkpoints import Shelf
from tidemill.store.database import Database
from tidemill.store.drift import KEYS_PER_RUN, watch_run
from tidemill.store.events import MOST_GONE
from tidemill.store.ids import Ids
from tidemill.store.market_runs import settle_market
from tidemill.store.schema import runs, sources, targets

REMEMBERED = 8
"""Complete runs that the usual count is taken from."""
TRUST_STEP = 0.1
"""How far one run moves a source's reliability."""


class RunBook:
    """Closes runs whose jobs have all ended, each exactly once."""

    def __init__(
        self, database: Database, ids: Ids, shelves: Mapping[str, Shelf], policies: Mapping[str, Policy]
    ) -> None:
        """`shelves` and `policies` by vertical."""
        self._database = database
        self._ids = ids
        self._shelves = shelves
        self._policies = policies

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

        Answers those that were not closed already. Whoever closes several takes their sources in the same order.
        """
        await self._ids.reserve(len(run_ids) * (MOST_GONE + KEYS_PER_RUN))
        async with self._database.write() as connection:
            over = [run for key in sorted(run_ids) for run in await read_all(connection, _OVER, {"b_id": key})]
            over.sort(key=itemgetter("source_id"))
            return [await self._close(connection, run, now) for run in over]

    async def _close(self, connection: AsyncConnection, run: Any, now: datetime) -> RunSummary:
        counts = counts_of(run)
        evidence = await self._evidence(connection, run, counts)
        certificate = certify(evidence)
        removed = await self._fade(connection, run, certificate, now)
        closed = closing(run, counts, certificate, removed, now)
        await change(connection, _CLOSE, {"b_id": run["id"], **{f"b_{name}": closed[name] for name in closed}})
        await self._credit(connection, run, counts)
        await settle_market(connection, run["scope"], closed["status"], now)
        noticed = await watch_run(connection, self._ids, run, counts, now, shortfall(run, evidence, certificate))
        closed_run = summary(run, run["source_name"] or "", counts, certificate, removed, now)
        return msgspec.structs.replace(closed_run, adapter_id=run["adapter_id"], noticed=noticed)

    async def _evidence(self, connection: AsyncConnection, run: Any, counts: Counts) -> Evidence:
        return Evidence(
            counts=counts,
            targets=run["switched_on"],
            followed=run["pages_followed"],
            truncated_pages=run["truncated_pages"],
            claimed_total=run["claimed_total"],
            records_seen=seen(counts),
            history=await self._history(connection, run),
            degraded=tuple(run["degraded"] or ()),
        )

    async def _history(self, connection: AsyncConnection, run: Any) -> tuple[int, ...]:
        """What earlier complete runs saw; those of the same weekday if there are enough of them."""
        before = {"b_source": run["source_id"], "b_scope": run["scope"], "b_started": run["started_at"]}
        rows = [tuple(row.values()) for row in await read_all(connection, _EARLIER, before)]
        counted = [(row[0], row[1] - row[2] + row[3]) for row in rows]
        weekday = run["started_at"].weekday()
        alike = tuple(count for started, count in counted if started.weekday() == weekday)[:REMEMBERED]
        return alike if len(alike) >= REMEMBERED // 2 else tuple(count for _, count in counted[:REMEMBERED])

    async def _fade(self, connection: AsyncConnection, run: Any, certificate: Certificate, now: datetime) -> int:
        if not certificate.complete:
            return 0
        shelf, policy = self._shelves[run["vertical"]], self._policies[run["vertical"]]
        return await shelf.miss(connection, run["source_id"], run["id"], run["started_at"], now, policy.missing_runs)

    async def _credit(self, connection: AsyncConnection, run: Any, counts: Counts) -> None:
        """Move the source's standing with how the run went."""
        if counts.urls_succeeded + counts.urls_failed:
            earned = {"b_share": TRUST_STEP * (1.0 - counts.failure_rate), "b_inserted": counts.records_inserted}
            await change(connection, _CREDIT, {"b_id": run["source_id"], **earned})


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
    .where(runs.c.id == bindparam("b_id"), runs.c.open_jobs <= 0, runs.c.status == RunStatus.RUNNING)
    .with_for_update(of=runs)
)
_EARLIER = (
    select(runs.c.started_at, runs.c.records_accepted, runs.c.records_repeated, runs.c.records_seen_again)
    .where(runs.c.source_id == bindparam("b_source"), runs.c.started_at < bindparam("b_started"), runs.c.complete)
    .where(runs.c.scope == bindparam("b_scope"))
    .order_by(runs.c.started_at.desc())
    .limit(REMEMBERED * 7)
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


def shortfall(run: Any, evidence: Evidence, certificate: Certificate) -> str | None:
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


def closing(run: Any, counts: Counts, certificate: Certificate, removed: int, now: datetime) -> dict[str, Any]:
    """What a run's row says once it is closed."""
    return {
        "status": conclude(counts),
        "completed_at": now,
        "duration_ms": (now - run["started_at"]) // timedelta(milliseconds=1),
        "failure_rate": counts.failure_rate,
        "yield_rate": counts.yield_rate,
        "drop_rate": counts.drop_rate,
        "complete": certificate.complete,
        "doubts": [f"{doubt.rule}: {doubt.detail}" for doubt in certificate.doubts],
        "records_removed": removed,
    }


def summary(run: Any, name: str, counts: Counts, certificate: Certificate, removed: int, now: datetime) -> RunSummary:
    """The run as it is announced."""
    return RunSummary(
        run_id=run["id"],
        source_id=run["source_id"],
        source_name=name,
        vertical=run["vertical"],
        trigger=run["trigger"],
        status=conclude(counts),
        started_at=run["started_at"],
        completed_at=now,
        counts=counts,
        complete=certificate.complete,
        doubts=tuple(f"{doubt.rule}: {doubt.detail}" for doubt in certificate.doubts),
        removed=removed,
        degraded=tuple(run["degraded"] or ()),
    )
