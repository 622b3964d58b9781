"""Build the fetchers that cost money, and the fallback that uses one."""

from dataclasses import dataclass
from typing import cast

from tidemill.bootstrap.store import Store
from tidemill.core.services.budget import Budget
from tidemill.core.services.degradation import Service
from tidemill.core.source import FetcherKind
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.apify import ApifyFetcher
from tidemill.fetching.apify_protocol import MILLIONTHS
from tidemill.fetching.budget import Account
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.http import HttpFetcher
from tidemill.fetching.scrapingbee import ScrapingBeeFetcher
from tidemill.pipeline.fallback import Fallback, paid_sources
from tidemill.pipeline.ports import Clock, Fetcher, Transport
from tidemill.settings import Settings
from tidemill.store.pages.stored_pages import StoredPageRepository
from tidemill.store.services.actor_runs import ActorRunRepository
from tidemill.store.services.spending import SpendingRepository
from tidemill.store.services.status import Services


@dataclass(frozen=True, slots=True)
class PaidFetchers:
    """ScrapingBee and Apify, and the fallback that uses the first."""

    scrapingbee: ScrapingBeeFetcher
    apify: ApifyFetcher
    fallback: Fallback

    @property
    def fetchers(self) -> dict[FetcherKind, Fetcher]:
        """Both by kind."""
        return {FetcherKind.SCRAPINGBEE: self.scrapingbee, FetcherKind.APIFY: self.apify}


def build_paid_fetchers(
    settings: Settings, store: Store, clock: Clock, services: Services, http: Fetcher, transport: Transport | None
) -> PaidFetchers:
    """Build both paid fetchers, on budgets that all processes share; without keys they exist and say so."""
    gated = cast("HttpFetcher", http)  # the composition root knows what it has built
    bee = _scrapingbee(settings, store, clock, services, gated, transport)
    apify = _apify(settings, store, clock, services, transport)
    services.register_probe(Service.SCRAPINGBEE, bee.probe)
    services.register_probe(Service.APIFY, apify.probe)
    fallback = Fallback(bee, paid_sources(settings.paid_fallback), StoredPageRepository(store.database), clock)
    return PaidFetchers(bee, apify, fallback)


def _scrapingbee(
    settings: Settings, store: Store, clock: Clock, services: Services, http: HttpFetcher, transport: Transport | None
) -> ScrapingBeeFetcher:
    budget = Budget(**settings.scrapingbee_credits)
    return ScrapingBeeFetcher(
        http,
        transport or _own_transport(settings),
        settings.scrapingbee_url,
        settings.scrapingbee_key.get_secret_value() if settings.scrapingbee_key else "",
        Account(SpendingRepository(store.database), Service.SCRAPINGBEE, budget, clock),
        services,
        clock,
    )


def _apify(
    settings: Settings, store: Store, clock: Clock, services: Services, transport: Transport | None
) -> ApifyFetcher:  # fmt: skip
    budget = Budget(**{period: round(dollars * MILLIONTHS) for period, dollars in settings.apify_dollars.items()})
    return ApifyFetcher(
        transport or _own_transport(settings),
        settings.apify_url,
        settings.apify_token.get_secret_value() if settings.apify_token else "",
        Account(SpendingRepository(store.database), Service.APIFY, budget, clock),
        ActorRunRepository(store.database),
        services,
        clock,
    )


def _own_transport(settings: Settings) -> Transport:
    """Return a transport of its own under the same guard; it connects when it is first used."""
    return AiohttpTransport(AddressGuard(settings.allow_networks), resolve=settings.host_addresses, max_connections=16)
