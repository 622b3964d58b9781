"""Build the fetchers that are free from the settings."""

from tidemill.core.services.degradation import Service
from tidemill.core.source import FetcherKind
from tidemill.fetching.fallback_transport import Report
from tidemill.fetching.http import http_fetcher
from tidemill.fetching.redis_rate_limiter import open_redis_rate_limiter
from tidemill.fetching.robots import RobotsMemory
from tidemill.pipeline.ports import Clock, Fetcher, HostRateLimits, ServiceRegistry, SharedRateLimiter, Transport
from tidemill.settings import Settings

PAID_LANES = (FetcherKind.SCRAPINGBEE.value, FetcherKind.APIFY.value)
LANES = (FetcherKind.HTTP.value, FetcherKind.BROWSER.value, *PAID_LANES)


def build_fetchers(
    settings: Settings,
    clock: Clock,
    transport: Transport | None,
    *,
    rate_limits: HostRateLimits | None = None,
    services: ServiceRegistry | None = None,
    robots_memory: RobotsMemory | None = None,
) -> dict[FetcherKind, Fetcher]:
    """Build the free fetchers by kind; without `rate_limits` only this process's requests are counted."""
    report = service_reporter(services)
    http = http_fetcher(
        clock,
        transport=transport,
        rate_limits=rate_limits,
        own_paces=settings.own_paces,
        shared_limiter=build_shared_limiter(settings, clock, services, report),
        report=report,
        user_agent=settings.user_agent,
        allow=settings.allow_networks,
        resolve=settings.host_addresses,
        max_connections=settings.max_connections,
        robots_memory=robots_memory,
    )
    return {FetcherKind.HTTP: http}


def service_reporter(services: ServiceRegistry | None) -> Report:
    """Return the function with which fetchers report that a service works or does not."""

    async def report(service: Service, trouble: str) -> None:
        if services is not None and trouble:
            await services.degraded(service, trouble)
        elif services is not None:
            await services.works(service)

    return report


def build_shared_limiter(
    settings: Settings, clock: Clock, services: ServiceRegistry | None, report: Report
) -> SharedRateLimiter | None:
    """Build the rate limiter that many machines share, where Redis is set up."""
    if settings.redis is None:
        return None
    shared_limiter = open_redis_rate_limiter(settings.redis.get_secret_value(), clock, report)
    if services is not None:
        services.register_probe(Service.REDIS, shared_limiter.probe)
    return shared_limiter
