"""A source: a site, feed or API that we read, and on what terms."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from tidemill.core.pacing import Pace
from tidemill.core.urls import BadUrl, registrable_domain

PACE_PER = "pace_per"
"""The setting `pace_per: host` gives every host name of a source a pace of its own."""


def counts_by_host(settings: Mapping[str, Any]) -> bool:
    """Return whether a source's settings count each of its host names apart from its domain."""
    return settings.get(PACE_PER) == "host"


class FetcherKind(StrEnum):
    """How a source's pages are got."""

    HTTP = "http"
    BROWSER = "browser"
    SCRAPINGBEE = "scrapingbee"
    APIFY = "apify"


class Visibility(StrEnum):
    """Whether readers may see what the source yields; new price sources start ineligible."""

    ELIGIBLE = "ELIGIBLE"
    INELIGIBLE = "INELIGIBLE"


class Coordinates(msgspec.Struct, frozen=True):
    """A place on earth, WGS 84 degrees."""

    latitude: float
    longitude: float


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A site with its adapter, fetcher, compliance, trust, pace and defaults."""

    id: int
    name: str
    vertical: str
    base_url: str
    adapter_id: str
    fetcher: FetcherKind = FetcherKind.HTTP
    enabled: bool = True
    auto_disabled: bool = False
    tier: str = "standard"
    time_zone: str = "Europe/Amsterdam"
    language: str = "nl"
    city: str = ""
    coordinates: Coordinates | None = None
    reliability: float = 1.0
    historical_count: int = 0
    consecutive_failures: int = 0
    last_success_at: datetime | None = None
    last_scraped_at: datetime | None = None
    precedence: int = 50
    pace: Pace | None = None
    timeout: timedelta | None = None
    max_pages: int | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    tos_reviewed_at: datetime | None = None
    tos_approved_by: str | None = None
    robots_compliant: bool = True
    visibility: Visibility = Visibility.INELIGIBLE
    trust: Mapping[str, Any] = msgspec.field(default_factory=dict)
    adapter_settings: Mapping[str, Any] = msgspec.field(default_factory=dict)
    tags: tuple[str, ...] = ()


def days_since_scrape(source: Source, now: datetime) -> float:
    """Return the days since the last scrape; 30 for a source that was never scraped."""
    if source.last_scraped_at is None:
        return 30.0
    return max(0.0, (now - source.last_scraped_at).total_seconds() / 86_400)


def priority_score(source: Source, now: datetime) -> float:
    """Return a source's priority: higher the longer it waited, the more it yields and the more reliable it is."""
    return (
        days_since_scrape(source, now) * 10
        + source.historical_count / 10
        + source.reliability * 5
        - source.consecutive_failures * 20
    )


DOMAINS = "domains"
"""The setting that names further registrable domains on which a source's targets may lie."""


def foreign_target(url: str, source: Source) -> str | None:
    """Return why a page is none of the source's, in words that say what to do; None if it is."""
    return foreign_address(url, source.base_url, source.adapter_settings)


def foreign_address(url: str, base_url: str, settings: Mapping[str, Any]) -> str | None:
    """Return why an address lies on another site than the source's own and those it lists; None if it does not.

    A source's terms are approved for its own site, so nothing else is asked under that approval.
    """
    try:
        domain, own = registrable_domain(url), registrable_domain(base_url)
    except BadUrl:
        return None  # what is no address at all is told as such
    listed = settings.get(DOMAINS)
    others = {str(each).strip().lower() for each in listed} if isinstance(listed, list | tuple) else set()
    if domain == own or domain in others:
        return None
    also = f"settings: {{domains: [{domain}]}}"
    return f"{domain} is not the source's site {own}; make a source for it, or list it with `{also}`"
