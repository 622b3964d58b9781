"""The degradation matrix: every service outside of us, what stands in for it, and how each stands now."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

LONGEST_REASON = 300
"""Characters of a reason that are kept: enough for a person, too few for a page."""


class Service(StrEnum):
    """Everything that we use and do not own; any of it may be missing, down or out of quota at any time."""

    LLM = "llm"
    SEARCH = "search"
    GEOCODER = "geocoder"
    SCRAPINGBEE = "scrapingbee"
    APIFY = "apify"
    SLACK = "slack"
    REDIS = "redis"
    BROWSER = "browser"
    CURL = "curl"
    DATABASE = "database"


class ServiceState(StrEnum):
    """How a service stands: it answers, it does not, or nobody has set it up."""

    WORKS = "works"
    DEGRADED = "degraded"
    OFF = "off"


class Instead(msgspec.Struct, frozen=True):
    """What happens instead, and what a person sets or installs to have the service at all."""

    instead: str
    setup: str


MATRIX: dict[Service, Instead] = {
    Service.LLM:         Instead("rules alone decide; records they are unsure of are looked at again later",
                                 "set `llm_key` to a Gemini API key"),
    Service.SEARCH:      Instead("earlier search results are used again; towns never searched wait",
                                 "set `search_key` to a Serper.dev key"),
    Service.GEOCODER:    Instead("the source's own coordinates are used, flagged to be tried again",
                                 "set `geocoder_url` to a Nominatim server"),
    Service.SCRAPINGBEE: Instead("a stored page under 24 h old serves, marked so; else the site's own answer stands",
                                 "set `scrapingbee_key`"),
    Service.APIFY:       Instead("jobs of its sources wait until it answers; what is known is served and ages",
                                 "set `apify_token`"),
    Service.SLACK:       Instead("alerts are logged", "alerts go to the log and to `/status` only, for now"),
    Service.REDIS:       Instead("requests are spaced by the ledger in the database alone",
                                 "set `redis` to its address"),
    Service.BROWSER:     Instead("jobs that need a browser wait until there is one; all others go on",
                                 "install the extra `browser` and Chromium"),
    Service.CURL:        Instead("servers that break HTTP are asked by the usual client alone",
                                 "install the extra `curl`"),
    Service.DATABASE:    Instead("work in hand is kept and written when it answers again; nothing new is begun",
                                 "see the setting `database`"),
}  # fmt: skip
"""Each service with its named fallback; a test demands a row, and a test that turns it off, for each."""

NEEDED_BY_ALL = frozenset({Service.REDIS, Service.DATABASE})
"""While one of these is degraded, every run that goes on meanwhile is marked."""


MAY_SERVE_STORED = frozenset({Service.SCRAPINGBEE})
"""Without one of these a stored page may have stood in for a new one, so that a run did not see everything itself."""


class ServiceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How one service stands, since when, why, and what happens instead."""

    service: Service
    state: ServiceState
    since: datetime | None
    reason: str = ""
    fallback: str = ""

    @property
    def is_well(self) -> bool:
        """Whether there is nothing to say about it."""
        return self.state is ServiceState.WORKS


def degraded(service: Service, since: datetime, reason: str) -> ServiceStatus:
    """A service that does not answer as it should."""
    instead = MATRIX[service].instead
    return ServiceStatus(
        service=service, state=ServiceState.DEGRADED, since=since, reason=reason[:LONGEST_REASON], fallback=instead
    )


def off(service: Service, reason: str = "") -> ServiceStatus:
    """A service that nobody has set up; the reason says how to."""
    row = MATRIX[service]
    words = reason or f"not set up: {row.setup}"
    return ServiceStatus(service=service, state=ServiceState.OFF, since=None, reason=words, fallback=row.instead)


def well(service: Service, since: datetime | None = None) -> ServiceStatus:
    """A service about which there is nothing to say."""
    return ServiceStatus(service=service, state=ServiceState.WORKS, since=since, fallback=MATRIX[service].instead)


def merged(before: Iterable[str], more: Iterable[str]) -> list[str]:
    """The services that a run had to do without, each once and in order."""
    return sorted({*before, *more})


def is_forgotten(seen_at: datetime, now: datetime, patience: timedelta) -> bool:
    """Whether the last word about a degraded service is so old that it no longer tells anything."""
    return now - seen_at > patience
