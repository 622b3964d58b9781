"""Build the browser fetcher and its pool from the settings."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from tidemill.bootstrap.store import Store
from tidemill.core.audit import AuditEntry
from tidemill.core.services.recycling import PoolLimits, RecycleRules
from tidemill.fetching.browsers.fetcher import BrowserFetcher
from tidemill.fetching.browsers.find_browser import find_browser
from tidemill.fetching.http import HttpFetcher
from tidemill.pipeline.ports import Clock, Fetcher, ServiceRegistry
from tidemill.settings import Settings

if TYPE_CHECKING:  # without the extra `browser` it cannot be imported
    from tidemill.fetching.browsers.pool import BrowserPool

MEGABYTE = 1_000_000


def build_browser(
    settings: Settings, store: Store, clock: Clock, services: ServiceRegistry, http: Fetcher
) -> BrowserFetcher:
    """Build the browser fetcher; its pool is opened with the first page that needs it."""

    def open_pool() -> "BrowserPool":
        program = find_browser(settings.browser_program)
        from tidemill.fetching.browsers.opening import open_pool as open_browser_pool  # noqa: PLC0415 - an extra

        return open_browser_pool(
            program,
            clock,
            audit_writer(store, clock),
            repository=store.browsers,
            user_agent=settings.user_agent,
            allow=settings.allow_networks,
            resolve=settings.host_addresses,
            rules=recycle_rules(settings),
            limits=PoolLimits(contexts=settings.browser_contexts, per_host=settings.browser_contexts_per_host),
        )

    plain = cast("HttpFetcher", http)  # the composition root knows what it has built
    wait_limit = timedelta(seconds=settings.browser_patience_seconds)
    return BrowserFetcher(plain, open_pool, services, clock, wait_limit=wait_limit)


def audit_writer(store: Store, clock: Clock) -> Callable[[AuditEntry], Awaitable[None]]:
    """Return the function with which the pool writes audit entries."""

    async def write(entry: AuditEntry) -> None:
        await store.audit.note([entry], clock.now())

    return write


def recycle_rules(settings: Settings) -> RecycleRules:
    """Return from the settings when a browser is replaced."""
    return RecycleRules(
        max_age=timedelta(hours=settings.browser_max_hours),
        max_tasks=settings.browser_max_pages,
        soft_bytes=settings.browser_soft_megabytes * MEGABYTE,
        hard_bytes=settings.browser_hard_megabytes * MEGABYTE,
        max_pids=settings.browser_max_processes,
        idle_after=timedelta(minutes=settings.browser_idle_minutes),
    )
