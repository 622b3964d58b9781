"""Build what watches over live polling (the board, the lane's sink, the tick `health`) and what streams its changes."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from tidemill.bootstrap.store import Store
from tidemill.core.health.grades import EVALUATED_EVERY
from tidemill.core.schedules import Every
from tidemill.engine.health_tick import HealthTick
from tidemill.engine.periodic import Chore
from tidemill.operations.live_health import LiveHealthBoard
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.ports import Clock
from tidemill.store.snapshots.epochs import Epochs
from tidemill.store.snapshots.notifications import commit_notifications
from tidemill.store.snapshots.redis_snapshots import RedisSnapshots
from tidemill.store.snapshots.shared_reads import SharedReads
from tidemill.store.upkeep.health_sink import LiveHealthSink
from tidemill.web.auth.callers import AccessDeps, still_known
from tidemill.web.stream.access import StreamAccess
from tidemill.web.stream.checks import BoardChecks
from tidemill.web.stream.hub import StreamHub


@dataclass(frozen=True, slots=True)
class LiveHealthParts:
    """The board that answers from memory, the sink that the live lane publishes to, and the tick that evaluates."""

    board: LiveHealthBoard
    sink: LiveHealthSink
    tick: HealthTick

    @property
    def chore(self) -> Chore:
        """The tick as periodic work."""
        return Chore("health", Every(EVALUATED_EVERY), self.tick.run)


def build_live_health(store: Store, clock: Clock, announce: Announce) -> LiveHealthParts:
    """Build it; nothing is read or written yet."""
    board = LiveHealthBoard(store.live_health, clock)
    sink = LiveHealthSink(
        store.live_health, store.audit, clock.now(), board.published, failed_at_host=board.navigation_failed
    )

    async def vitals() -> dict[str, Any]:
        return await browser_vitals(store, clock.now())

    tick = HealthTick(
        clock=clock,
        announce=announce,
        store=store.live_health,
        contexts=board.fresh_contexts,
        recycle_browsers=store.browsers.ask_to_recycle,
        vitals=vitals,
    )
    return LiveHealthParts(board, sink, tick)


async def browser_vitals(store: Store, now: datetime) -> dict[str, Any]:
    """Return what all browsers take together, for the audit of a recovery."""
    browsers = [each for pool in await store.browsers.pools(now) for each in pool.state.browsers]
    oldest = min((each.vitals.started_at for each in browsers), default=now)
    return {
        "pids": sum(each.vitals.pids for each in browsers),
        "browser_uptime_hours": round((now - oldest).total_seconds() / 3600, 2),
        "task_count": sum(each.vitals.tasks for each in browsers),
        "memory_bytes": sum(each.vitals.memory_bytes for each in browsers),
    }


def build_streams(
    store: Store,
    clock: Clock,
    board: LiveHealthBoard,
    access: AccessDeps,
    shared: RedisSnapshots | None = None,
) -> StreamAccess:
    """Return the access to streams of this process; nothing is asked before the first reader comes."""
    hub = StreamHub(
        store.change_log,
        store.snapshots if shared is None else SharedReads(store.snapshots, shared),
        Epochs(store.database, clock),
        clock,
        checks=BoardChecks(board),
        notifications=partial(commit_notifications, store.database),
    )
    return StreamAccess(hub, store.snapshots.changes, is_still_known=still_known(access))
