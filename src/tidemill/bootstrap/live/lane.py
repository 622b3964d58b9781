"""Build the live lane from the settings, where a vertical is watched live."""

import os
import socket
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import msgspec

from tidemill.bootstrap.store import Store
from tidemill.core.breaker import BreakerPolicy
from tidemill.core.health.contexts import NO_USAGE, ContextLimits, ContextUsage
from tidemill.core.live.lifecycle import LifecyclePolicy
from tidemill.core.live.polling import PollPolicy
from tidemill.core.live.timeouts import TimeoutPolicy
from tidemill.core.source import FetcherKind
from tidemill.core.vertical import Vertical
from tidemill.engine.live.dependencies import HostSlots, LaneDependencies, LaneMirror
from tidemill.engine.live.lane import LiveLane
from tidemill.engine.live.lease import LaneLease
from tidemill.engine.live.options import MEGABYTE, LaneOptions
from tidemill.engine.live.states import PolledStates
from tidemill.engine.supervisor import Worker
from tidemill.fetching.browsers.fetcher import BrowserFetcher
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.happenings import Announce
from tidemill.pipeline.health_ports import HealthSink, NoHealthSink
from tidemill.pipeline.ports import Dice, Fetcher
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.settings import Settings
from tidemill.store.database.database import Database

_MEMORY = Path("/proc/meminfo")


class NoKeys:
    """Keys for pages that are not stored: a poll needs none, and a change gets its page's key when it is written."""

    def take(self) -> int:
        """Return no key."""
        return 0


def build_live_lane(
    settings: Settings,
    store: Store,
    tools: StageDependencies,
    dice: Dice,
    announce: Announce,
    worker: Worker,
    *,
    slots: HostSlots,
    readers: FunctionReaders,
    health: HealthSink | None = None,
    mirror: LaneMirror | None = None,
) -> LiveLane | None:
    """Build the live lane; None where no vertical is watched live."""
    if not has_live(tools.verticals):
        return None
    lease = LaneLease(store.live, tools.clock, worker.key, announce)
    states = PolledStates(store.current_state)
    stages = replace(
        tools,
        keys=NoKeys(),
        source_states=states,
        is_current_worker=lambda _worker: lease.is_held(),
        fallback=None,
        enrichment=None,
    )
    deps = LaneDependencies(
        ledger=store.live,
        stages=stages,
        states=states,
        dice=dice,
        announce=announce,
        health=health or NoHealthSink(),
        slots=slots,
        runs=store.ledger,
        lease=lease,
        readers=readers,
        options=lane_options(settings, store.database),
        mirror=mirror,
        free_memory=free_memory,
        browser_usage=lambda: browser_usage(tools.fetchers.get(FetcherKind.BROWSER)),
    )
    return LiveLane(deps, f"{socket.gethostname()}-{os.getpid()}")


def browser_usage(fetcher: Fetcher | None) -> ContextUsage:
    """Return what the browser of this process takes; nothing without one."""
    return fetcher.usage if isinstance(fetcher, BrowserFetcher) else NO_USAGE


def has_live(verticals: Mapping[str, Vertical]) -> bool:
    """Return whether any vertical is watched live."""
    return any(vertical.live is not None for vertical in verticals.values())


def lane_options(settings: Settings, database: Database | None = None) -> LaneOptions:
    """Return how the lane runs, by the settings."""
    return LaneOptions(
        polling=PollPolicy(
            in_play=timedelta(seconds=settings.live_interval_seconds),
            busy=timedelta(seconds=min(settings.live_interval_seconds, settings.live_busy_seconds)),
            on_break=timedelta(seconds=settings.live_break_seconds),
            imminent=timedelta(seconds=settings.live_imminent_seconds),
            completed=timedelta(seconds=settings.live_completed_seconds),
            lists=timedelta(seconds=settings.live_list_seconds),
            is_adaptive=settings.live_adaptive_polling,
        ),
        timeouts=TimeoutPolicy(
            usual=timedelta(seconds=settings.live_timeout_seconds),
            longest=timedelta(seconds=settings.live_scrape_seconds),
            scrape=timedelta(seconds=settings.live_scrape_seconds),
            is_adaptive=settings.live_adaptive_timeouts,
        ),
        lives=live_policy(settings),
        contexts=ContextLimits(
            max_lifetime=timedelta(hours=settings.browser_max_hours),
            stale_after=timedelta(seconds=settings.live_stale_seconds),
        ),
        most_watches=settings.live_watches,
        most_browser_watches=settings.live_browser_watches,
        least_free_bytes=settings.live_free_megabytes * MEGABYTE,
        most_waiting=settings.live_buffer_changes,
        most_waiting_bytes=settings.live_buffer_megabytes * MEGABYTE,
        buffer_folder=settings.live_buffer_folder or _beside(database),
    )


def with_live_breakers(verticals: Mapping[str, Vertical], settings: Settings) -> dict[str, Vertical]:
    """Return the verticals, those that are watched live with the breaker that the settings give them."""
    breaker = BreakerPolicy(
        threshold=settings.live_breaker_failures,
        cooldown=timedelta(seconds=settings.live_breaker_seconds),
        longest_cooldown=timedelta(seconds=settings.live_breaker_longest_seconds),
        successes_to_close=settings.live_breaker_successes,
        probe_timeout=timedelta(seconds=max(60, settings.live_scrape_seconds)),
    )
    return {
        name: replace(each, policy=msgspec.structs.replace(each.policy, breaker=breaker)) if each.live else each
        for name, each in verticals.items()
    }


def live_policy(settings: Settings) -> LifecyclePolicy:
    """Return when things are paused, completed and archived, by the settings."""
    return LifecyclePolicy(
        failures_to_pause=settings.live_pause_failures,
        pause=timedelta(seconds=settings.live_pause_seconds),
        archive_after=timedelta(hours=settings.live_archive_hours),
    )


def _beside(database: Database | None) -> Path | None:
    """Return the folder of an SQLite database; the working folder with any other."""
    if database is None:
        return None
    file = database.engine.url.database if database.is_sqlite else None
    return Path(file).absolute().parent if file else Path.cwd()


def free_memory() -> int | None:
    """Return the bytes of memory that are free, as Linux reckons it; None where it does not say."""
    try:
        lines = _MEMORY.read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None
