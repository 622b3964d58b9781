"""Copies what the database has of live things into Redis, for other machines and programs; nothing waits for it.

What was committed is copied from the database a moment later, never from memory: what Redis has was committed. After a
flush everything that is watched is there again within seconds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Row, select

from tidemill.core.health.contexts import ScraperContext, age_of
from tidemill.core.live.change import ThingKey
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.live.polling import urgency_of
from tidemill.core.live.rules import Outlook, Phase
from tidemill.core.snapshots.changes import LoggedChange
from tidemill.core.snapshots.shared_keys import (
    AUDIT_LOG,
    AUDITS_KEPT,
    FRESHNESS_INDEX,
    HEALTH_SUMMARY,
    LIVE_KEPT,
    ROSTER_KEPT,
    SUMMARY_KEPT,
    SharedNames,
    roster,
    source_config,
)
from tidemill.pipeline.health_ports import LaneReport
from tidemill.store.database.database import Database
from tidemill.store.schema import cached_values, sources
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.store.snapshots.redis_connection import RedisConnection
from tidemill.store.snapshots.redis_snapshots import RedisSnapshots
from tidemill.store.upkeep.live_health import LiveHealthRepository

SECOND = timedelta(seconds=1)
RARELY = timedelta(seconds=15)
"""How often what rarely changes is copied: recoveries, rosters and how sources are set up."""
COPIED_AT_ONCE = 200
ROSTERS = "roster:"


class SharedMirror:
    """Keeps the ten keys of `core/snapshots/shared_keys` in Redis. One per process that watches things."""

    def __init__(
        self,
        redis: RedisConnection,
        shared: RedisSnapshots,
        reads: SnapshotReads,
        health: LiveHealthRepository,
        database: Database,
        names: Mapping[str, SharedNames],
        summary: Callable[[], Any],
    ) -> None:
        """`summary` tells how live polling fares."""
        self._redis = redis
        self._shared = shared
        self._reads = reads
        self._health = health
        self._database = database
        self._names = names
        self._summary = summary
        self._changed: dict[ThingKey, None] = {}
        self._monitored: frozenset[ThingKey] = frozenset()
        self._copied_at: datetime | None = None
        self._rosters_until: datetime | None = None

    def changed(self, changes: Sequence[LoggedChange]) -> None:
        """Note what this process has committed."""
        self._note(change.thing for change in changes)

    async def copy_changed(self) -> None:
        """Copy the snapshots of what has changed since the last time."""
        if self._redis.is_away:
            return
        while self._changed:
            things = list(self._changed)[:COPIED_AT_ONCE]
            if not await self._copy(things):
                return
            for thing in things:
                self._changed.pop(thing, None)

    async def publish(self, report: LaneReport, now: datetime) -> None:
        """Copy how this process's things are watched, keep what is live, and put back what Redis has lost."""
        if self._redis.is_away:
            return
        freshest = _freshest(each for each in report.contexts if each.vertical in self._names and each.thing_key)
        if await self._redis.ask(lambda client: self._write_monitors(client, freshest, now)) is None:
            return
        live = [thing for thing, each in freshest.items() if each.is_live and age_of(each, now) <= LIVE_KEPT]
        over = [thing for thing in freshest if thing not in self._monitored]
        self._note(await self._shared.keep_alive(live) or ())
        self._note(over)
        self._monitored = frozenset(freshest)
        if self._copied_at is None or now - self._copied_at >= RARELY:
            self._copied_at = now
            await self._copy_rest(now)

    def _note(self, things: Iterable[ThingKey]) -> None:
        self._changed.update(dict.fromkeys(thing for thing in things if thing.vertical in self._names))

    async def _copy(self, things: Sequence[ThingKey]) -> bool:
        found = []
        for vertical in {thing.vertical for thing in things}:
            keys = [thing.key for thing in things if thing.vertical == vertical]
            found += await self._reads.latest_of(vertical, keys)
        histories = {each.thing: await self._reads.history(*each.thing) for each in found}
        return await self._shared.put(found, histories)

    async def _write_monitors(
        self, client: Any, freshest: Mapping[ThingKey, ScraperContext], now: datetime
    ) -> Sequence[Any]:
        pipeline = client.pipeline(transaction=False)
        for thing, context in freshest.items():
            names = self._names[thing.vertical]
            pipeline.set(names.monitor(thing.key), msgspec.json.encode(monitor_of(thing, context, now)))
            if context.last_update_time is not None:
                at = context.last_update_time.timestamp()
                pipeline.zadd(FRESHNESS_INDEX, {names.member(thing.key): at})
            (pipeline.sadd if context.is_paused else pipeline.srem)(names.paused, thing.key)
        for thing in self._monitored - freshest.keys():
            names = self._names[thing.vertical]
            pipeline.zrem(FRESHNESS_INDEX, names.member(thing.key))
            pipeline.srem(names.paused, thing.key)
        pipeline.set(HEALTH_SUMMARY, msgspec.json.encode(self._summary()), ex=SUMMARY_KEPT // SECOND)
        answers: Sequence[Any] = await pipeline.execute()
        return answers

    async def _copy_rest(self, now: datetime) -> None:
        audits = [msgspec.json.encode(each) for each in await self._health.recoveries(AUDITS_KEPT)]
        configs = await self._source_configs()
        rosters, until = await self._new_rosters(now)

        async def write(client: Any) -> bool:
            pipeline = client.pipeline(transaction=True)
            pipeline.delete(AUDIT_LOG)
            if audits:
                pipeline.rpush(AUDIT_LOG, *audits)
            for name, config in configs.items():
                pipeline.set(source_config(name), config)
            for team, players in rosters.items():
                pipeline.set(roster(team), players, ex=ROSTER_KEPT // SECOND)
            await pipeline.execute()
            return True

        if await self._redis.ask(write):
            self._rosters_until = until

    async def _source_configs(self) -> dict[str, bytes]:
        query = select(sources).where(sources.c.vertical.in_(list(self._names)))
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return {row.name: msgspec.json.encode(_config(row)) for row in rows}

    async def _new_rosters(self, now: datetime) -> tuple[dict[str, bytes], datetime]:
        """Return the rosters that were written since the last time, and when the last of them is forgotten."""
        since = self._rosters_until or now
        query = select(cached_values).where(
            cached_values.c.name.like(f"{ROSTERS}%"), cached_values.c.expires_at > since
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        found = {row.name.removeprefix(ROSTERS): msgspec.json.encode(row.value.splitlines()) for row in rows}
        return found, max([since, *(row.expires_at for row in rows)])


def monitor_of(thing: ThingKey, context: ScraperContext, now: datetime) -> dict[str, Any]:
    """Return how a thing is watched, by the page that told of it last."""
    is_over = context.lifecycle in {Lifecycle.COMPLETED, Lifecycle.ARCHIVED}
    urgency = urgency_of(Outlook(Phase.COMPLETED if is_over else context.phase), now)
    return {
        "id": thing.key,
        "domain_id": context.source,
        "last_update_time": context.last_update_time,
        "freshness_age_seconds": round(age_of(context, now).total_seconds(), 1),
        "priority_state": urgency.name,
        "consecutive_failure_count": context.error_count,
        "paused": context.is_paused,
        "pause_until": context.paused_until,
        "total_scrapes": context.total_updates + context.total_errors,
        "total_failures": context.total_errors,
        "created_at": context.start_time,
        "metadata": {"url": context.url, "scraper_id": context.scraper_id, "lifecycle": context.lifecycle.value},
    }


def _config(row: Row[Any]) -> dict[str, Any]:
    interval = row.pace_interval_ms
    return {
        "domain_id": row.name,
        "enabled": row.enabled and not row.auto_disabled,
        "precedence_weight": row.precedence,
        "rate_limits": {
            "max_concurrent_contexts": row.pace_parallel,
            "min_interval_seconds": None if interval is None else interval / 1000,
            "burst_allowance": row.pace_burst,
        },
        "adapter_class": row.adapter_id,
        "metadata": {"base_url": row.base_url, "fetcher": row.fetcher},
    }


def _freshest(contexts: Iterable[ScraperContext]) -> dict[ThingKey, ScraperContext]:
    """Return for each thing the context that checked it last."""
    found: dict[ThingKey, ScraperContext] = {}
    for each in contexts:
        thing = ThingKey(each.vertical, each.thing_key)
        held = found.get(thing)
        if held is None or (each.last_update_time or each.start_time) > (held.last_update_time or held.start_time):
            found[thing] = each
    return found
