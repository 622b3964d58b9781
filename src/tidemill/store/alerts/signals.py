"""What the database says about each alert's condition: one query for all sources, never one for each."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, or_, select, text

from tidemill.core.alerts.incidents import Trouble, adapter_cause
from tidemill.core.alerts.table import ALERTS, AlertName, CauseKind
from tidemill.core.failure import MEANING
from tidemill.core.services.degradation import Service, ServiceState
from tidemill.core.urls import BadUrl, host_of
from tidemill.pipeline.ports import Clock
from tidemill.store.database.database import Database
from tidemill.store.quality.drift import DRIFT_DETECTED
from tidemill.store.schema import (
    adapter_status,
    breakers,
    dead_letters,
    incidents,
    jobs,
    runs,
    service_status,
    sources,
    workers,
)
from tidemill.store.schema import targets as scrape_targets

DAY = timedelta(hours=24)
MOST_ROWS = 1_000
OURSELVES = CauseKind.OURSELVES.value

_ADAPTERS_OFF = select(adapter_status.c.adapter_id, adapter_status.c.disabled_reason).where(
    ~adapter_status.c.enabled, adapter_status.c.disabled_reason.like(f"{DRIFT_DETECTED}%")
)
_SOURCES_OFF = select(sources.c.name, sources.c.adapter_id, sources.c.vertical).where(
    sources.c.auto_disabled, sources.c.enabled
)
_STALE = (
    select(func.count())
    .select_from(jobs)
    .where(text("pipeline_jobs.status = 'stale'"), jobs.c.completed_at > bindparam("b_since"))
)
_ON = (sources.c.enabled, ~sources.c.auto_disabled)
_TRIPPED = (
    select(sources.c.name, sources.c.vertical, sources.c.base_url, breakers.c.failure_count)
    .join(breakers, breakers.c.source_id == sources.c.id)
    .where(breakers.c.state != "CLOSED", *_ON)
    .order_by(sources.c.id)
)
_SOURCES_ON = select(sources.c.vertical, func.count()).where(*_ON).group_by(sources.c.vertical)
_LETTERS = select(func.count()).select_from(dead_letters).where(text("dead_letter_queue.status = 'pending'"))
_CALLS = tuple(failure.value for failure, meaning in MEANING.items() if meaning.alerts)
_UNREACHABLE = (
    select(scrape_targets.c.host, sources.c.name, sources.c.vertical, func.max(dead_letters.c.error_message))
    .select_from(dead_letters)
    .join(scrape_targets, scrape_targets.c.id == dead_letters.c.target_id)
    .join(sources, sources.c.id == dead_letters.c.source_id)
    .where(text("dead_letter_queue.status = 'pending'"), dead_letters.c.error_type.in_(_CALLS))
    .group_by(scrape_targets.c.host, sources.c.name, sources.c.vertical)
    .limit(MOST_ROWS)
)
_SEEN = runs.c.records_accepted + runs.c.records_seen_again + runs.c.records_quarantined
_drifted = exists().where(
    incidents.c.source_id == sources.c.id, incidents.c.rule == "no_records", incidents.c.closed_at.is_(None)
)
_EMPTY = (
    select(sources.c.name, sources.c.vertical, sources.c.base_url, func.count().label("runs"))
    .join(runs, runs.c.source_id == sources.c.id)
    .where(runs.c.started_at > bindparam("b_since"), runs.c.completed_at.is_not(None), runs.c.urls_succeeded > 0)
    .where(sources.c.historical_count > 0, sources.c.created_at < bindparam("b_since"), *_ON, ~_drifted)
    .group_by(sources.c.id, sources.c.name, sources.c.vertical, sources.c.base_url)
    .having(func.sum(_SEEN) == 0)
    .order_by(sources.c.id)
    .limit(MOST_ROWS)
)
_BUDGETS = {Service.LLM: AlertName.LLM_BUDGET, Service.SCRAPINGBEE: AlertName.SCRAPINGBEE_BUDGET}
_DEGRADED = select(service_status.c.service, service_status.c.reason).where(
    service_status.c.state == ServiceState.DEGRADED, service_status.c.service.in_(list(_BUDGETS))
)
_SPENT_WORDS = ("budget", "credit", "quota", "used up", "is spent")
"""How services and our own limits say that there is no money left; a test gives each of these words."""
_SKEWED = select(workers.c.name, workers.c.clock_skew_ms, workers.c.seen_at).where(
    workers.c.ended_at.is_(None),
    or_(
        and_(workers.c.seen_at > bindparam("b_recent"), func.abs(workers.c.clock_skew_ms) > bindparam("b_most_ms")),
        workers.c.seen_at > bindparam("b_ahead"),
    ),
)


def host_cause(address: str) -> str:
    """Return the cause of what a site's repair would mend."""
    try:
        return f"{CauseKind.HOST} {host_of(address)}"
    except BadUrl:
        return f"{CauseKind.HOST} {address[:100]}"


class SignalReader:
    """Reads the troubles that stand in the database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Read from this database; `clock` says what is in the future when an answer has come."""
        self._database = database
        self._clock = clock

    async def _rows(self, query: Any, values: Mapping[str, Any] | None = None) -> list[Any]:
        async with self._database.glance() as connection:
            return list(await connection.execute(query, dict(values or {})))

    async def disabled(self, _now: datetime) -> list[Trouble]:
        """Return adapters and sources that drift detection switched off."""
        alert = AlertName.ADAPTER_DISABLED
        off = await self._rows(_ADAPTERS_OFF)
        found = [Trouble(alert=alert, cause=adapter_cause(row[0]), subject=row[0], detail=row[1]) for row in off]
        for row in await self._rows(_SOURCES_OFF):
            words = f"source {row.name} is switched off: its adapter no longer fits it"
            found.append(
                Trouble(
                    alert=alert, cause=adapter_cause(row.adapter_id), subject=row.name, detail=words,
                    vertical=row.vertical,
                )
            )  # fmt: skip
        return found

    async def stale(self, now: datetime) -> list[Trouble]:
        """Return that many jobs were given up, if they were."""
        ((count,),) = await self._rows(_STALE, {"b_since": now - DAY})
        return _above(AlertName.TARGETS_STALE, count, "jobs waited for over a day and were given up")

    async def breakers(self, _now: datetime) -> list[Trouble]:
        """Return sources whose breaker is not closed, and verticals of which it is half."""
        tripped = await self._rows(_TRIPPED)
        if not tripped:
            return []
        found = [
            Trouble(
                alert=AlertName.BREAKER_OPEN, cause=host_cause(row.base_url), subject=row.name,
                detail=f"the breaker of {row.name} is open after {row.failure_count} failures", vertical=row.vertical,
            )
            for row in tripped
        ]  # fmt: skip
        share = ALERTS[AlertName.BREAKERS_OPEN].limit or 1
        for vertical, count in await self._rows(_SOURCES_ON):
            open_here = [host_cause(row.base_url) for row in tripped if row.vertical == vertical]
            if len(open_here) >= 2 and len(open_here) >= share * count:  # noqa: PLR2004 - one source is no pattern
                where = f", all of {open_here[0]}" if len(set(open_here)) == 1 else ""
                words = f"the breakers of {len(open_here)} of {count} sources are open{where}"
                found.append(
                    Trouble(
                        alert=AlertName.BREAKERS_OPEN, cause=f"{CauseKind.VERTICAL} {vertical}", detail=words,
                        vertical=vertical,
                    )
                )  # fmt: skip
        return found

    async def letters(self, _now: datetime) -> list[Trouble]:
        """Return that many dead letters wait, if they do."""
        ((count,),) = await self._rows(_LETTERS)
        return _above(AlertName.DEAD_LETTERS, count, "dead letters are pending")

    async def unreachable(self, _now: datetime) -> list[Trouble]:
        """Return hosts whose name or certificate failed."""
        return [
            Trouble(
                alert=AlertName.DNS_OR_TLS, cause=f"{CauseKind.HOST} {host}", subject=name, detail=error,
                vertical=vertical,
            )
            for host, name, vertical, error in await self._rows(_UNREACHABLE)
        ]  # fmt: skip

    async def empty(self, now: datetime) -> list[Trouble]:
        """Return sources that were scraped in the last day and brought nothing, though they did before."""
        return [
            Trouble(
                alert=AlertName.NO_RECORDS, cause=host_cause(row.base_url), subject=row.name,
                detail=f"{row.name} brought no record in the {row.runs} runs of the last 24 hours",
                vertical=row.vertical,
            )
            for row in await self._rows(_EMPTY, {"b_since": now - DAY})
        ]  # fmt: skip

    async def budgets(self, _now: datetime) -> list[Trouble]:
        """Return services whose budget or quota is used up."""
        return [
            Trouble(alert=_BUDGETS[Service(row.service)], cause=f"{CauseKind.SERVICE} {row.service}", detail=row.reason)
            for row in await self._rows(_DEGRADED)
            if any(word in row.reason.lower() for word in _SPENT_WORDS)
        ]

    async def skewed_clocks(self, now: datetime) -> list[Trouble]:
        """Return processes whose clock is off the database's, or that were seen in the future.

        Heartbeats go on while the checks run, so the future begins when the answer has come, not at `now`.
        """
        most = timedelta(seconds=ALERTS[AlertName.CLOCK_SKEW].limit or 1)
        most_ms = most / timedelta(milliseconds=1)
        values = {"b_recent": now - timedelta(minutes=5), "b_most_ms": most_ms, "b_ahead": now + most}
        rows = await self._rows(_SKEWED, values)
        answered_at = self._clock.now()
        found = []
        for row in rows:
            measured, ahead = timedelta(milliseconds=row.clock_skew_ms or 0), row.seen_at - answered_at
            off = measured if abs(measured) > most else ahead
            if abs(measured) <= most and ahead <= most:
                continue
            side = "ahead" if off > timedelta(0) else "behind"
            words = f"the clock of {row.name} is {abs(off.total_seconds()):.1f} s {side}"
            found.append(Trouble(alert=AlertName.CLOCK_SKEW, cause=OURSELVES, subject=row.name, detail=words))
        return found


def _above(alert: AlertName, count: int, words: str) -> list[Trouble]:
    limit = ALERTS[alert].limit or 0
    return [Trouble(alert=alert, cause=OURSELVES, detail=f"{count} {words}")] if count > limit else []
