"""The values of the metrics of live polling, from the board and the browser pools."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from tidemill.core.services.recycling import RecycleReason
from tidemill.core.views.browsers import PoolView
from tidemill.operations.live_health import LiveHealthBoard
from tidemill.telemetry.live_families import InstanceGauges, LiveGauges

REASONS = {
    RecycleReason.AGE.value: "uptime",
    RecycleReason.TASKS.value: "task_count",
    RecycleReason.REQUESTED.value: "manual",
}
"""Reasons for replacing a browser, where the metric has a word of its own."""


def live_gauges(board: LiveHealthBoard, pools: Sequence[PoolView], now: datetime) -> LiveGauges:
    """Return the values of the gauges at one moment."""
    contexts = {each.process: len(each.lane.contexts) for each in board.reports()}
    by_pool = {pool.process: pool for pool in pools}
    recycles: Counter[str] = Counter()
    for pool in pools:
        for reason, count in pool.state.recycled.items():
            recycles[REASONS.get(reason, reason)] += count
    return LiveGauges(
        instances={
            process: _instance(contexts.get(process, 0), by_pool.get(process), now)
            for process in contexts.keys() | by_pool.keys()
        },
        queue_depth=board.queue_depth(),
        ages=board.freshness().stats.samples,
        recycles=recycles,
    )


def _instance(contexts: int, pool: PoolView | None, now: datetime) -> InstanceGauges:
    if pool is None:
        return InstanceGauges(contexts=contexts)
    browsers = pool.state.browsers
    oldest = min((each.vitals.started_at for each in browsers), default=now)
    return InstanceGauges(
        pids=sum(each.vitals.pids for each in browsers),
        contexts=contexts,
        pages=sum(pool.state.in_use.values()),
        browser_uptime_seconds=(now - oldest).total_seconds(),
    )
