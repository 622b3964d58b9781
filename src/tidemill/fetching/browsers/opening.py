"""Build a browser pool: the browser, its gateways behind the guard, and the user agent."""

from collections.abc import Iterable, Mapping

from aiohttp.abc import AbstractResolver

from tidemill.core.services.recycling import PoolLimits, RecycleRules
from tidemill.fetching.browsers.chromium import Chromium, start_chromium
from tidemill.fetching.browsers.gateway import Gateway
from tidemill.fetching.browsers.pool import Audit, BrowserPool
from tidemill.fetching.browsers.repository import PoolRepository
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.resolver import GuardedResolver
from tidemill.pipeline.ports import Clock


def open_pool(
    program: str,
    clock: Clock,
    audit: Audit,
    *,
    repository: PoolRepository | None = None,
    user_agent: str = "Tidemill/0.1",
    allow: Iterable[str] = (),
    resolve: Mapping[str, str] | None = None,
    rules: RecycleRules | None = None,
    limits: PoolLimits | None = None,
    guard: AddressGuard | None = None,
    dns: AbstractResolver | None = None,
) -> BrowserPool:
    """Return a pool that starts `program` for its first context; `guard` and `dns` replace the usual ones."""
    guard = guard or AddressGuard(allow)
    resolver = GuardedResolver(guard, resolve or {}, dns)

    async def start() -> Chromium:
        return await start_chromium(program, clock)

    return BrowserPool(
        start,
        lambda: Gateway(guard, resolver),
        clock,
        audit,
        repository=repository,
        user_agent=user_agent,
        rules=rules,
        limits=limits,
    )
