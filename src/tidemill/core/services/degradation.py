"""Outside services: the fallback for each, and its current status."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

LONGEST_REASON = 300
"""Characters of a reason that are kept."""


class Service(StrEnum):
    """Everything that we use and do not own; any of it may be missing, down or out of quota at any time."""

    LLM = "llm"
    SEARCH = "search"
    GEOCODER = "geocoder"
    SCRAPINGBEE = "scrapingbee"
    APIFY = "apify"
    SLACK = "slack"
    MAIL = "mail"
    ALERT_WEBHOOK = "alert_webhook"
    APPRISE = "apprise"
    DEADMAN = "deadman"
    REDIS = "redis"
    BROKER = "broker"
    BEAT = "beat"
    BROWSER = "browser"
    CURL = "curl"
    DATABASE = "database"


class ServiceState(StrEnum):
    """How a service stands: it answers, it does not, or nobody has set it up."""

    WORKS = "works"
    DEGRADED = "degraded"
    OFF = "off"


class ServiceFallback(msgspec.Struct, frozen=True):
    """What happens without a service, and how a person sets it up."""

    fallback: str
    setup: str


FALLBACKS: dict[Service, ServiceFallback] = {
    Service.LLM:         ServiceFallback("rules alone decide; records they are unsure of are looked at again later",
                                 "set `llm_key` to a Gemini API key"),
    Service.SEARCH:      ServiceFallback("earlier search results are used again; towns never searched wait",
                                 "set `search_key` to a Serper.dev key"),
    Service.GEOCODER:    ServiceFallback("the source's own coordinates are used, flagged to be tried again",
                                 "set `geocoder_url` to a Nominatim server"),
    Service.SCRAPINGBEE: ServiceFallback("a stored page under 24 h old serves, marked so;"
                                         " else the site's own answer stands",
                                         "set `scrapingbee_key`"),
    Service.APIFY:       ServiceFallback("jobs of its sources wait until it answers; what is known is served and ages",
                                 "set `apify_token`"),
    Service.SLACK:       ServiceFallback("messages wait in the outbox for 30 days and go out in order",
                                 "set `slack_webhook` to the address of an incoming webhook"),
    Service.MAIL:        ServiceFallback("mails wait in the outbox for 30 days and go out in order",
                                 "set `mail_server`, `mail_from` and `mail_to`"),
    Service.ALERT_WEBHOOK: ServiceFallback("messages wait in the outbox for 30 days and go out in order",
                                 "set `alert_webhook_url` and `alert_webhook_secret`"),
    Service.APPRISE:     ServiceFallback("messages wait in the outbox for 30 days and go out in order",
                                 "install the extra `apprise` and set `apprise_urls`"),
    Service.DEADMAN:     ServiceFallback("nobody outside hears that we are alive, and their alarm goes off",
                                 "set `deadman_url` to the address of a service that expects a call a minute"),
    Service.REDIS:       ServiceFallback("requests are spaced by the ledger in the database alone;"
                                         " snapshots of what is live come from the database",
                                 "set `redis` to its address"),
    Service.BROKER:      ServiceFallback("workers look for work and do what is due by themselves, a little later",
                                 "set `broker` to the address of Redis or RabbitMQ"),
    Service.BEAT:        ServiceFallback("workers do what is due by themselves, a little later",
                                 "start `tidemill beat`, twice"),
    Service.BROWSER:     ServiceFallback("jobs that need a browser wait until there is one; all others go on",
                                 "install the extra `browser` and Chromium"),
    Service.CURL:        ServiceFallback("servers that break HTTP are asked by the usual client alone",
                                 "install the extra `curl`"),
    Service.DATABASE:    ServiceFallback("work in hand is kept and written when it answers again; nothing new is begun",
                                 "see the setting `database`"),
}  # fmt: skip
"""The fallback of each service; a test demands an entry, and a test that turns it off, for each."""

NEEDED_BY_ALL = frozenset({Service.REDIS, Service.DATABASE})
"""While one of these is degraded, every run is marked as degraded."""


MAY_SERVE_STORED = frozenset({Service.SCRAPINGBEE})
"""Without one of these a stored page may have been used, so that a run did not see everything itself."""


class ServiceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How one service stands, since when, why, and what happens instead."""

    service: Service
    state: ServiceState
    since: datetime | None
    reason: str = ""
    fallback: str = ""

    @property
    def is_working(self) -> bool:
        """Whether the service works."""
        return self.state is ServiceState.WORKS


def degraded(service: Service, since: datetime, reason: str) -> ServiceStatus:
    """Return the status of a service that fails."""
    fallback = FALLBACKS[service].fallback
    return ServiceStatus(
        service=service, state=ServiceState.DEGRADED, since=since, reason=reason[:LONGEST_REASON], fallback=fallback
    )


def off(service: Service, reason: str = "") -> ServiceStatus:
    """Return the status of a service that is not set up; the reason says how to."""
    row = FALLBACKS[service]
    words = reason or f"not set up: {row.setup}"
    return ServiceStatus(service=service, state=ServiceState.OFF, since=None, reason=words, fallback=row.fallback)


def working(service: Service, since: datetime | None = None) -> ServiceStatus:
    """Return the status of a service that works."""
    return ServiceStatus(service=service, state=ServiceState.WORKS, since=since, fallback=FALLBACKS[service].fallback)


def merged_services(before: Iterable[str], more: Iterable[str]) -> list[str]:
    """Return both lists of services as one, sorted and without duplicates."""
    return sorted({*before, *more})


def is_outdated(seen_at: datetime, now: datetime, max_age: timedelta) -> bool:
    """Return whether the last report about a degraded service is too old to count."""
    return now - seen_at > max_age
