"""Build what the engine's periodic work needs."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from tidemill.bootstrap.store import Store
from tidemill.core.checks.retention import DEFAULT_RULES
from tidemill.engine.chores import ChoreDependencies
from tidemill.engine.ports import Waker
from tidemill.fetching.apify import ApifyFetcher
from tidemill.pipeline.dispatch import Dispatcher
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.ports import Clock
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.settings import Settings
from tidemill.store.pages.compaction import compact
from tidemill.store.services.status import Services
from tidemill.store.upkeep.retention import prune

COMPACTED_AT_ONCE = 500_000
"""Pages an hour; more than a worker fetches. It works in batches, in a task of its own, and stops when none is left."""


def build_chore_dependencies(
    settings: Settings,
    store: Store,
    clock: Clock,
    announce: Announce,
    dispatcher: Dispatcher,
    waker: Waker,
    services: Services,
    actors: ApifyFetcher,
    *,
    readers: FunctionReaders,
    may_rescue: Callable[[], bool],
) -> ChoreDependencies:
    """Build what the engine's periodic work needs."""
    return ChoreDependencies(
        clock=clock,
        announce=announce,
        dispatcher=dispatcher,
        may_rescue=may_rescue,
        rescue=store.workers.rescue,
        runs=store.ledger.runs,
        dead_letters=store.dead_letters,
        sweeps=store.sweeps,
        readers=readers,
        compact=compact_chore(store),
        prune=prune_chore(settings, store),
        overbooked=store.overbooked_hosts.overbooked,
        probe_degraded=services.look_again,
        stop_orphans=actors.abort_orphans,
        waker=waker,
        stale_after=timedelta(hours=settings.stale_after_hours),
    )


def compact_chore(store: Store) -> Callable[[datetime], Awaitable[str]]:
    """Return the chore that compresses old pages."""

    async def compact_pages(now: datetime) -> str:
        done = await compact(store.database, store.bodies, now, COMPACTED_AT_ONCE)
        return f"{done.pages} pages, {done.before_bytes} to {done.after_bytes} bytes"

    return compact_pages


def prune_chore(settings: Settings, store: Store) -> Callable[[datetime], Awaitable[str]]:
    """Return the chore that deletes what is older than its retention."""
    rules = {**DEFAULT_RULES, **{table: timedelta(days=days) for table, days in settings.retention_days.items()}}

    async def prune_tables(now: datetime) -> str:
        gone = await prune(store.database, store.bodies, rules, now)
        return ", ".join(f"{count} {table}" for table, count in gone.items() if count) or "nothing to prune"

    return prune_tables
