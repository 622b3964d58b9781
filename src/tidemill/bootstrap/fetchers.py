"""Every way to get a page, made from the settings."""

from tidemill.core.source import FetcherKind
from tidemill.fetching.http import http_fetcher
from tidemill.pipeline.ports import Clock, Fetcher, Transport
from tidemill.settings import Settings

LANES = (FetcherKind.HTTP.value,)


def build_fetchers(settings: Settings, clock: Clock, transport: Transport | None) -> dict[FetcherKind, Fetcher]:
    """Every way to get a page, by kind."""
    http = http_fetcher(
        clock,
        transport=transport,
        user_agent=settings.user_agent,
        allow=settings.allow_networks,
        resolve=settings.host_addresses,
        max_connections=settings.max_connections,
    )
    return {FetcherKind.HTTP: http}
